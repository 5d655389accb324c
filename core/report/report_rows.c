// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_rows.h"

#include "base/arena.h"
#include "exec/plan.h"
#include "run/run_metadata.h"
#include "store/carved.h"
#include "store/metadata.h"
#include "verify/invariance_trial.h"
#include "verify/neighbours.h"

#include <string.h>

// Whether a plan gives an instance to a target, in some phase.
static int is_given(const struct plan *plan, const struct instance_row *row)
{
    for (int phase = 0; phase < PLAN_PHASES; phase++) {
        if (strcmp(plan_place(plan, row->op, row->instance, (enum plan_phase)phase), "source") !=
            0) {
            return 1;
        }
    }
    return 0;
}

static enum report_place
place_of(const struct report_rows *rows, const struct plan *plan, const struct instance_row *row)
{
    const struct blame_row *blame = report_rows_blame(rows, row->instance);

    if (blame != NULL) {
        return blame_is_failure(blame) ? REPORT_BLAMED : REPORT_UNSUPPORTED;
    }
    return is_given(plan, row) ? REPORT_ON_TARGET : REPORT_UNWANTED;
}

static void place_all(struct report_rows *rows, const struct plan *goal, const struct plan *plan)
{
    for (size_t i = 0; i < rows->instance_count; i++) {
        const struct instance_row *row = &rows->instances[i];
        const int is_wanted = is_given(goal, row);
        const enum report_place place =
            is_wanted && rows->driver != NULL ? REPORT_NOT_JUDGED : place_of(rows, plan, row);

        rows->places[i] = place;
        rows->wanted += is_wanted;
        rows->moved += place == REPORT_ON_TARGET;
        rows->blamed += place == REPORT_BLAMED;
        rows->unsupported += place == REPORT_UNSUPPORTED;
    }
}

static void find_driver(struct report_rows *rows)
{
    for (size_t i = 0; i < rows->blame_count; i++) {
        if (blame_is_driver(&rows->blames[i])) {
            rows->driver = &rows->blames[i];
        }
    }
}

static tapml_status find_places(struct report_rows *rows)
{
    struct plan *goal = NULL, *plan = NULL;

    rows->places = arena_array(rows->arena, rows->instance_count + 1, sizeof(*rows->places));
    if (rows->places == NULL) {
        return status_no_memory();
    }
    tapml_status status = plan_parse(rows->target.goal, "the goal of a target", &goal);

    if (status == TAPML_OK) {
        status = plan_parse(rows->offload.plan, "the plan of an offload", &plan);
    }
    if (status == TAPML_OK) {
        place_all(rows, goal, plan);
    }
    plan_destroy(goal);
    plan_destroy(plan);
    return status;
}

static tapml_status count_not_run(struct report_rows *rows)
{
    struct carved_counts counts;

    TAPML_TRY(carved_count(rows->store, &counts));
    rows->not_run = counts.cases > rows->verdicts.count ? counts.cases - rows->verdicts.count : 0;
    return TAPML_OK;
}

static tapml_status read_all(struct report_rows *rows, const char *target)
{
    struct store *store = rows->store;
    struct arena *arena = rows->arena;

    rows->has_model = metadata_get(store, RUN_METADATA_STORE) == NULL;
    TAPML_TRY(target_find(store, target, arena, &rows->target));
    TAPML_TRY(offloaded_find(store, target, arena, &rows->offload));
    if (rows->offload.finished_s == 0) {
        return status_fail(TAPML_NOT_FOUND, "the offload to '%s' has not ended", target);
    }
    TAPML_TRY(instance_list(store, arena, &rows->instances, &rows->instance_count));
    TAPML_TRY(blame_list(store, target, arena, &rows->blames, &rows->blame_count));
    find_driver(rows);
    TAPML_TRY(timing_list(store, target, arena, &rows->times, &rows->time_count));
    TAPML_TRY(bundled_list(store, target, arena, &rows->bundles, &rows->bundle_count));
    TAPML_TRY(step_list(store, target, arena, &rows->steps, &rows->step_count));
    TAPML_TRY(invariant_list(store, target, arena, &rows->invariants, &rows->invariant_count));
    TAPML_TRY(verdict_read(store, target, &rows->verdicts));
    TAPML_TRY(neighbours_read(store, target, &rows->verdicts));
    TAPML_TRY(count_not_run(rows));
    return find_places(rows);
}

tapml_status report_rows_read(struct store *store, const char *target, struct report_rows *out_rows)
{
    struct report_rows rows = {.store = store, .arena = arena_create()};
    const tapml_status status = rows.arena != NULL ? read_all(&rows, target) : status_no_memory();

    if (status != TAPML_OK) {
        report_rows_release(&rows);
        return status;
    }
    *out_rows = rows;
    return TAPML_OK;
}

void report_rows_release(struct report_rows *rows)
{
    verdict_list_release(&rows->verdicts);
    arena_destroy(rows->arena);
    *rows = (struct report_rows){.store = NULL};
}

static int is_variant(const struct report_rows *rows)
{
    for (size_t i = 0; i < rows->invariant_count; i++) {
        if (strcmp(rows->invariants[i].verdict, invariance_trial_kind_name(INVARIANCE_WRONG)) ==
            0) {
            return 1;
        }
    }
    return 0;
}

int report_rows_is_wrong(const struct report_rows *rows)
{
    const struct verdict_list *list = &rows->verdicts;

    return rows->driver != NULL || rows->blamed > 0 || !rows->offload.agrees ||
           *rows->offload.unexplained != '\0' ||
           verdict_count_failed(list->derived, list->derived_count) > 0 || is_variant(rows) ||
           (rows->target.needs_all && rows->unsupported > 0);
}

static int has_stale(const struct verdict_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind == VERDICT_STALE) {
            return 1;
        }
    }
    return 0;
}

const char *report_rows_verdict(const struct report_rows *rows)
{
    return report_rows_is_wrong(rows)   ? "wrong"
           : has_stale(&rows->verdicts) ? "incomplete"
                                        : "right";
}

const struct blame_row *report_rows_blame(const struct report_rows *rows, const char *instance)
{
    for (size_t i = 0; i < rows->blame_count; i++) {
        if (strcmp(rows->blames[i].instance, instance) == 0) {
            return &rows->blames[i];
        }
    }
    return NULL;
}

const struct bundled_row *report_rows_bundle(const struct report_rows *rows, const char *instance)
{
    for (size_t i = 0; i < rows->bundle_count; i++) {
        if (strcmp(rows->bundles[i].instance, instance) == 0) {
            return &rows->bundles[i];
        }
    }
    return NULL;
}

const struct timing_row *report_rows_time(const struct report_rows *rows, const char *op)
{
    for (size_t i = 0; i < rows->time_count; i++) {
        if (strcmp(rows->times[i].op, op) == 0) {
            return &rows->times[i];
        }
    }
    return NULL;
}
