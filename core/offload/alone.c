// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/alone.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/table.h"
#include "base/text.h"
#include "exec/plan.h"
#include "store/blame.h"
#include "store/carved.h"
#include "store/instance.h"
#include "store/offloaded.h"
#include "store/step.h"
#include "store/store.h"
#include "verify/verdict.h"

#include <math.h>
#include <string.h>

// What is known of an instance.
struct standing {
    const struct verdict *failure; // The strongest: a kept case before a derived one, then the
                                   // largest margin; or NULL.
    const struct verdict *refusal; // The first kept case that was not compared, or NULL.
    int has_passed;                // A kept case has.
    int is_wanted;                 // The goal gives it to the target, in some phase.
};

struct alone {
    const struct alone_options *options;
    struct arena *arena;
    struct instance_row *instances; // In the order of the first calls.
    size_t count;
    struct standing *standings; // One for each of them.
    struct table index_of;      // By the name of the instance.
    struct text plan;
    uint64_t begin_ns;
};

static int is_wanted(const struct alone *alone, const struct instance_row *row)
{
    for (int phase = 0; phase < PLAN_PHASES; phase++) {
        if (strcmp(plan_place(alone->options->goal, row->op, row->instance, (enum plan_phase)phase),
                   alone->options->target) == 0) {
            return 1;
        }
    }
    return 0;
}

static tapml_status read_instances(struct alone *alone)
{
    TAPML_TRY(instance_list(alone->options->store, alone->arena, &alone->instances, &alone->count));
    alone->standings = arena_array(alone->arena, alone->count + 1, sizeof(*alone->standings));
    if (alone->standings == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < alone->count; i++) {
        alone->standings[i].is_wanted = is_wanted(alone, &alone->instances[i]);
        TAPML_TRY(table_set(&alone->index_of, alone->instances[i].instance, i));
    }
    return TAPML_OK;
}

static struct standing *find(const struct alone *alone, const char *instance)
{
    size_t index = 0;

    return table_find(&alone->index_of, instance, &index) ? &alone->standings[index] : NULL;
}

static int is_kept(const struct verdict *verdict)
{
    return *verdict->label == '\0';
}

static int is_stronger(const struct verdict *verdict, const struct verdict *known)
{
    if (known == NULL || is_kept(verdict) != is_kept(known)) {
        return known == NULL || is_kept(verdict);
    }
    return verdict->margin > known->margin;
}

static void take(struct alone *alone, const struct verdict *verdicts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct verdict *verdict = &verdicts[i];
        struct standing *standing = find(alone, verdict->instance);
        const int is_failure = verdict_count_failed(verdict, 1) > 0;

        if (standing == NULL) {
            continue;
        }
        if (is_failure && is_stronger(verdict, standing->failure)) {
            standing->failure = verdict;
        }
        if (is_kept(verdict) && !is_failure && verdict->kind != VERDICT_PASS &&
            standing->refusal == NULL) {
            standing->refusal = verdict;
        }
        standing->has_passed |= is_kept(verdict) && verdict->kind == VERDICT_PASS;
    }
}

// What was never compared is no pass: the op is not the target's, or nobody's.
static int is_moved(const struct standing *standing)
{
    return standing->is_wanted && standing->failure == NULL && standing->has_passed;
}

static tapml_status write_blame(const struct alone *alone, size_t index)
{
    const struct standing *standing = &alone->standings[index];
    const struct verdict *failure = standing->failure;
    const int is_derived = failure != NULL && !is_kept(failure);
    struct blame_row row = {.instance = alone->instances[index].instance,
                            .kind = BLAME_UNSUPPORTED,
                            .margin = NAN,
                            .evidence = "",
                            .source = "",
                            .label = ""};

    if (failure != NULL) {
        row.kind = BLAME_ALONE;
        row.margin = failure->margin;
        row.reason = failure->reason;
        row.evidence = is_derived ? BLAME_DERIVED : BLAME_CASE;
        row.case_id = failure->case_id;
        row.source = is_derived ? failure->source : "";
        row.label = is_derived ? failure->label : "";
        row.tried = row.failed = 1;
    } else {
        row.reason =
            standing->refusal != NULL ? standing->refusal->reason : "it has no case that was run";
    }
    return blame_write(alone->options->store, alone->options->target, &row);
}

// The goal, without what is not right.
static tapml_status print_plan(struct alone *alone)
{
    plan_print(alone->options->goal, &alone->plan);
    for (size_t i = 0; i < alone->count; i++) {
        if (alone->standings[i].is_wanted && !is_moved(&alone->standings[i])) {
            text_format(&alone->plan, "instance=%s -> source\n", alone->instances[i].instance);
        }
    }
    return text_status(&alone->plan);
}

static tapml_status write_all(const struct alone *alone, const struct alone_counts *counts)
{
    const struct alone_options *options = alone->options;
    const struct verdict_list *verdicts = options->verdicts;
    struct carved_counts carved;
    struct text reason;

    TAPML_TRY(blame_forget(options->store, options->target));
    for (size_t i = 0; i < alone->count; i++) {
        if (alone->standings[i].is_wanted && !is_moved(&alone->standings[i])) {
            TAPML_TRY(write_blame(alone, i));
        }
    }
    text_init(&reason);
    text_format(&reason, "%zu of %zu instances right, by their cases alone", counts->moved,
                counts->wanted);
    tapml_status status = text_status(&reason);

    if (status == TAPML_OK) {
        status = step_add(options->store,
                          &(struct step_row){.target = options->target,
                                             .step = "cases",
                                             .verdict = STEP_JUDGED,
                                             .reason = reason.data,
                                             .plan = alone->plan.data,
                                             .margin = NAN,
                                             .time_ns = clock_now_ns() - alone->begin_ns});
    }
    text_release(&reason);
    TAPML_TRY(status);
    TAPML_TRY(carved_count(options->store, &carved));
    TAPML_TRY(offloaded_write(
        options->store,
        &(struct offloaded_row){.target = options->target,
                                .agrees = 1, // With what was judged: no model was run.
                                .margin = NAN,
                                .sentence = "not judged: there are cases, and no model to run",
                                .unexplained = "",
                                .plan = alone->plan.data,
                                .proof_miss = NAN,
                                .cost = {.carving = carved.calls,
                                         .replays = verdicts->executions_since_failure,
                                         .calibrating = verdicts->executions_calibrating}}));
    return offloaded_finish(options->store, options->target);
}

static void count(const struct alone *alone, struct alone_counts *out_counts)
{
    for (size_t i = 0; i < alone->count; i++) {
        out_counts->wanted += alone->standings[i].is_wanted != 0;
        out_counts->moved += is_moved(&alone->standings[i]) != 0;
    }
}

static tapml_status settle(struct alone *alone, struct alone_counts *out_counts)
{
    const struct verdict_list *verdicts = alone->options->verdicts;
    struct store *store = alone->options->store;

    TAPML_TRY(read_instances(alone));
    take(alone, verdicts->items, verdicts->count);
    take(alone, verdicts->derived, verdicts->derived_count);
    count(alone, out_counts);
    TAPML_TRY(print_plan(alone));
    TAPML_TRY(store_begin(store));
    tapml_status status = write_all(alone, out_counts);

    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status alone_settle(const struct alone_options *options, struct alone_counts *out_counts)
{
    struct alone alone = {.options = options, .arena = arena_create(), .begin_ns = clock_now_ns()};
    struct alone_counts counts = {0};

    table_init(&alone.index_of);
    text_init(&alone.plan);
    const tapml_status status = alone.arena != NULL ? settle(&alone, &counts) : status_no_memory();

    text_release(&alone.plan);
    table_release(&alone.index_of);
    arena_destroy(alone.arena);
    TAPML_TRY(status);
    *out_counts = counts;
    return TAPML_OK;
}
