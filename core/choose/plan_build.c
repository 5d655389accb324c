// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_build.h"

#include "base/arena.h"
#include "choose/plan_units.h"
#include "exec/space.h"
#include "plugin/policy.h"

#include <math.h>
#include <string.h>

enum { QUARTERS = 4, ONES_MOST = 6 };

// What a builder of the host is asked, and its answer so far.
struct plan_building {
    const tapml_policy_ops *question;
    const struct plan_units *units;
    uint8_t *places; // Of each plan, one behind the other.
    uint32_t count;
};

double plan_build_time_ns(const tapml_policy_op *op, uint32_t place)
{
    return op->time_ns[place] >= 0 ? op->time_ns[place] : op->time_ns[0] >= 0 ? op->time_ns[0] : 1;
}

// A new plan, with all on the source; NULL: there is no room.
static uint8_t *begin_plan(struct plan_building *building)
{
    if (building->count == PLAN_BUILD_MOST) {
        return NULL;
    }
    uint8_t *plan = building->places + (size_t)building->count++ * building->question->n_ops;
    memset(plan, 0, building->question->n_ops);
    return plan;
}

static void build_source(struct plan_building *building)
{
    (void)begin_plan(building);
}

static void build_all(struct plan_building *building)
{
    const tapml_policy_ops *question = building->question;
    for (uint8_t place = 1; place < question->n_places; place++) {
        uint8_t *plan = begin_plan(building);
        for (uint32_t i = 0; plan && i < question->n_ops; i++) {
            plan[i] = question->ops[i]->may_run[place] ? place : 0;
        }
    }
}

// Of a unit at a place, with those operators at the source that may not run there.
static double time_of(const tapml_policy_ops *question, const struct plan_unit *unit, uint8_t place)
{
    double time_ns = 0;
    for (uint32_t i = 0; i < unit->count; i++) {
        const tapml_policy_op *op = question->ops[unit->ops[i]];
        time_ns += plan_build_time_ns(op, op->may_run[place] ? place : 0);
    }
    return time_ns;
}

static uint8_t find_fastest(const tapml_policy_ops *question, const struct plan_unit *unit)
{
    uint8_t fastest = 0;
    for (uint8_t place = 1; place < question->n_places; place++) {
        if (time_of(question, unit, place) < time_of(question, unit, fastest)) {
            fastest = place;
        }
    }
    return fastest;
}

static void build_kind(struct plan_building *building)
{
    uint8_t *plan = begin_plan(building);
    for (size_t i = 0; plan && i < building->units->count; i++) {
        const struct plan_unit *unit = &building->units->items[i];
        if (unit->is_kind) {
            (void)plan_units_move(building->question, unit, find_fastest(building->question, unit),
                                  plan);
        }
    }
}

// The larger units come first, so that smaller ones are put where they are faster still.
static void build_part(struct plan_building *building)
{
    uint8_t *plan = begin_plan(building);
    for (size_t i = 0; plan && i < building->units->count; i++) {
        const struct plan_unit *unit = &building->units->items[i];
        if (!unit->is_kind && unit->count > 1) {
            (void)plan_units_move(building->question, unit, find_fastest(building->question, unit),
                                  plan);
        }
    }
}

// Operators in the order in which they run stand for layers.
static void build_quarters(struct plan_building *building, int is_front)
{
    const tapml_policy_ops *question = building->question;
    for (uint8_t place = 1; place < question->n_places; place++) {
        for (uint32_t quarter = 1; quarter < QUARTERS; quarter++) {
            const uint32_t edge = (uint32_t)((uint64_t)question->n_ops * quarter / QUARTERS);
            uint8_t *plan = begin_plan(building);
            for (uint32_t i = 0; plan && i < question->n_ops; i++) {
                const int is_in = is_front ? i < edge : i >= edge;
                plan[i] = is_in && question->ops[i]->may_run[place] ? place : 0;
            }
        }
    }
}

static void build_front(struct plan_building *building)
{
    build_quarters(building, 1);
}

static void build_back(struct plan_building *building)
{
    build_quarters(building, 0);
}

static double gain_of(const struct plan_building *building, size_t unit, uint8_t place)
{
    const struct plan_unit *item = &building->units->items[unit];
    return item->is_kind
               ? time_of(building->question, item, 0) - time_of(building->question, item, place)
               : -INFINITY;
}

// Those with gains below the last one, the largest first.
static void build_one(struct plan_building *building)
{
    double last = INFINITY;
    for (int n = 0; n < ONES_MOST; n++) {
        double most = 0;
        size_t best = 0;
        uint8_t at = 0;
        for (size_t i = 0; i < building->units->count; i++) {
            for (uint8_t place = 1; place < building->question->n_places; place++) {
                const double gain = gain_of(building, i, place);
                if (gain > most && gain < last) {
                    most = gain;
                    best = i;
                    at = place;
                }
            }
        }
        uint8_t *plan = most > 0 ? begin_plan(building) : NULL;
        if (!plan) {
            return;
        }
        (void)plan_units_move(building->question, &building->units->items[best], at, plan);
        last = most;
    }
}

static const struct {
    const char *name;
    void (*build)(struct plan_building *building);
} builders[] = {{"source", build_source}, {"all", build_all},     {"kind", build_kind},
                {"part", build_part},     {"front", build_front}, {"back", build_back},
                {"one", build_one}};

const char *plan_build_name(size_t index)
{
    return index < sizeof(builders) / sizeof(*builders) ? builders[index].name : NULL;
}

// -- All of them -------------------------------------------------------------------------------

static int is_known(const struct plan_builds *builds, const uint8_t *places, uint32_t count)
{
    for (size_t i = 0; i < builds->count; i++) {
        if (memcmp(builds->items[i].places, places, count) == 0) {
            return 1;
        }
    }
    return 0;
}

// Takes the plans of a builder, which stay where they are.
static void take(const tapml_policy_ops *question,
                 const char *builder,
                 const uint8_t *places,
                 uint32_t count,
                 struct plan_builds *builds)
{
    for (uint32_t i = 0; i < count; i++, places += question->n_ops) {
        if (!is_known(builds, places, question->n_ops)) {
            builds->items[builds->count++] = (struct plan_built){builder, places};
        }
    }
}

static tapml_status ask(const tapml_policy_ops *question,
                        struct policy *policy,
                        struct arena *arena,
                        struct plan_builds *builds)
{
    tapml_policy_ops asked = *question;
    uint8_t *places = arena_array(arena, (size_t)PLAN_BUILD_MOST * question->n_ops + 1, 1);
    uint32_t count = 0;
    struct text name;
    asked.count_max = PLAN_BUILD_MOST;
    if (!places) {
        return status_no_memory();
    }
    TAPML_TRY(policy_build(policy, &asked, places, &count));
    text_init(&name);
    policy_print_name(policy, &name);
    const char *builder = text_status(&name) == TAPML_OK ? arena_text(arena, name.data) : NULL;
    text_release(&name);
    if (!builder) {
        return status_no_memory();
    }
    take(question, builder, places, count, builds);
    return TAPML_OK;
}

tapml_status plan_build_all(const tapml_policy_ops *question,
                            struct policy *const *policies,
                            size_t policy_count,
                            struct arena *arena,
                            struct plan_builds *out_builds)
{
    const size_t own = sizeof(builders) / sizeof(*builders);
    struct plan_units units;
    struct plan_builds builds = {
        .items = arena_array(arena, (own + policy_count) * PLAN_BUILD_MOST, sizeof(*builds.items))};
    TAPML_TRY(plan_units_find(question, arena, &units));
    for (size_t i = 0; i < own; i++) {
        struct plan_building building = {
            .question = question,
            .units = &units,
            .places = arena_array(arena, (size_t)PLAN_BUILD_MOST * question->n_ops + 1, 1)};
        if (!builds.items || !building.places) {
            return status_no_memory();
        }
        builders[i].build(&building);
        take(question, builders[i].name, building.places, building.count, &builds);
    }
    for (size_t i = 0; i < policy_count; i++) {
        TAPML_TRY(ask(question, policies[i], arena, &builds));
    }
    *out_builds = builds;
    return TAPML_OK;
}
