// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance.h"

#include "base/arena.h"
#include "base/text.h"
#include "store/invariant.h"
#include "store/representative.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "verify/basis.h"
#include "verify/invariance_load.h"
#include "verify/invariance_parts.h"
#include "verify/invariance_rows.h"

#include <math.h>
#include <string.h>

static const char NO_SECOND[] = "a second queue cannot be opened";

enum { RULES = 1 }; // Another number makes every row anew: what is tried has changed.

struct invariance_work {
    const struct invariance_options *options;
    struct examiner *examiner;
    struct arena *arena; // Of the rows.
    struct invariant_row *known;
    size_t known_count;
    int *is_kept; // One for each of `known`: it is of use.
    struct backend *second;
    const char *no_second; // Why there is none; NULL: nobody has asked, or there is one.
    size_t stress_every;   // Of the cases that pass, one of so many.
    int run_changes;       // The op at hand does where it is repeated.
    struct invariance_counts counts;
    size_t done, all;
};

// -- Repeating a case ----------------------------------------------------------------------------

// A case that passes, on its way through an axis.
struct repeating {
    struct invariance_work *work;
    struct invariance_trial *trial;
    struct carved_case *item;
    struct invariance_run first;
    struct invariance_load *load; // Beside it; or NULL.
};

// Runs the case once more, and compares with the first run.
static tapml_status repeat_once(struct repeating *repeating, uint64_t size)
{
    struct arena *arena = arena_create();
    struct invariance_run run;
    if (!arena) {
        return status_no_memory();
    }
    if (repeating->load) {
        invariance_load_meet(repeating->load);
    }
    tapml_status status = invariance_trial_run(repeating->trial, repeating->item, 0, arena, &run);
    if (status == TAPML_OK) {
        const struct invariance_rows one = {.run = &repeating->first, .has_states = 1};
        const struct invariance_rows other = {.run = &run, .has_states = 1};
        const int is_equal = run.output_count == repeating->first.output_count &&
                             invariance_trial_is_equal(one, other);
        status = invariance_trial_note(repeating->trial, &run, is_equal, size);
    }
    arena_destroy(arena);
    return status;
}

static tapml_status try_run(struct repeating *repeating)
{
    for (uint64_t i = 2; i <= INVARIANCE_REPEATS; i++) {
        TAPML_TRY(repeat_once(repeating, i));
    }
    return TAPML_OK;
}

// Opens the other queue, once.
static tapml_status open_second(struct invariance_work *work)
{
    const struct invariance_options *options = work->options;
    if (work->second || work->no_second) {
        return TAPML_OK;
    }
    const tapml_status status = options->open_second(options->user, &work->second);
    if (status == TAPML_OK || status == TAPML_CANCELLED) {
        return status;
    }
    work->second = NULL; // The target itself is there, and has its memory.
    work->no_second = arena_format(work->arena, "%s: %s", NO_SECOND, status_message());
    return work->no_second ? TAPML_OK : status_no_memory();
}

// What the other queue came to: that it worked, and then did not, is the device's failure.
static tapml_status take_load(struct repeating *repeating, uint64_t size)
{
    struct invariance_load_result result;
    invariance_load_end(repeating->load, &result);
    repeating->load = NULL;
    if (*result.failure == '\0') {
        return TAPML_OK;
    }
    const char *reason =
        arena_format(repeating->trial->texts, "on the second queue, after %llu calls: %s",
                     (unsigned long long)result.calls, result.failure);
    const struct invariance_run run = {
        .item = repeating->item, .kind = VERDICT_ERROR, .margin = NAN, .reason = reason};
    if (!reason) {
        return status_no_memory();
    }
    return result.calls > 0 ? invariance_trial_note(repeating->trial, &run, 0, size)
                            : invariance_trial_skip(repeating->trial, reason);
}

static tapml_status try_loaded(struct repeating *repeating, int is_stress)
{
    struct invariance_work *work = repeating->work;
    const uint64_t repeats = is_stress ? INVARIANCE_STRESS_REPEATS : INVARIANCE_LOADED;
    tapml_status status = TAPML_OK;
    TAPML_TRY(open_second(work));
    if (!work->second) {
        return invariance_trial_skip(repeating->trial, work->no_second);
    }
    TAPML_TRY(invariance_load_begin(work->second, work->options->verdicts->checkpoint,
                                    repeating->item, repeating->trial->schema, &repeating->load));
    for (uint64_t i = 1; status == TAPML_OK && i <= repeats; i++) {
        status = repeat_once(repeating, is_stress ? i : 2);
    }
    const tapml_status loaded = take_load(repeating, is_stress ? repeats : 2);
    return status == TAPML_OK ? loaded : status;
}

static tapml_status try_repeating(struct invariance_work *work,
                                  struct invariance_trial *trial,
                                  struct carved_case *item,
                                  enum invariance_axis axis)
{
    struct repeating repeating = {.work = work, .trial = trial, .item = item};
    struct arena *arena = arena_create();
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = invariance_trial_run(trial, item, 0, arena, &repeating.first);
    if (status == TAPML_OK &&
        repeating.first.kind != VERDICT_PASS) { // It did when it was replayed.
        status = invariance_trial_note(trial, &repeating.first, 0, 1);
    } else if (status == TAPML_OK) {
        status = axis == INVARIANCE_RUN ? try_run(&repeating)
                                        : try_loaded(&repeating, axis == INVARIANCE_STRESS);
    }
    arena_destroy(arena);
    return status;
}

// -- An axis of an op ----------------------------------------------------------------------------

static tapml_status try_item(struct invariance_work *work,
                             struct invariance_trial *trial,
                             struct carved_case *item,
                             enum invariance_axis axis)
{
    switch (axis) {
    case INVARIANCE_ROWS:
        return invariance_rows_try(trial, item);
    case INVARIANCE_CHUNK:
        return invariance_rows_try_chunk(trial, item);
    case INVARIANCE_VERIFY:
        return invariance_rows_try_verify(trial, item);
    case INVARIANCE_PARTS:
        return invariance_parts_try(trial, item);
    case INVARIANCE_RUN:
    case INVARIANCE_ORDER:
    case INVARIANCE_STRESS:
    case INVARIANCE_AXES:
        break;
    }
    return try_repeating(work, trial, item, axis);
}

static tapml_status try_case(struct invariance_work *work,
                             struct invariance_trial *trial,
                             int64_t id,
                             enum invariance_axis axis)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = stored_case_load(work->options->verdicts->store, id, arena, &item);
    if (status == TAPML_OK) {
        trial->schema = examiner_schema(work->examiner, &item);
        status = trial->schema
                     ? try_item(work, trial, &item, axis)
                     : invariance_trial_skip(trial, "no plugin that was opened knows its op");
    }
    arena_destroy(arena);
    return status;
}

static const struct verdict *find_verdict(const struct verdict_list *list, int64_t id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].case_id == id) {
            return &list->items[i];
        }
    }
    return NULL;
}

static tapml_status try_representatives(struct invariance_work *work,
                                        struct invariance_trial *trial,
                                        const struct representative_group *group,
                                        enum invariance_axis axis)
{
    size_t passed = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct verdict *verdict = find_verdict(work->options->list, group->ids[i]);
        if (verdict && verdict->kind == VERDICT_PASS) {
            passed++;
            TAPML_TRY(try_case(work, trial, group->ids[i], axis));
        }
    }
    return passed > 0 ? TAPML_OK : invariance_trial_skip(trial, "none of its cases has passed");
}

// Every n-th of all that pass, so that a small share of many ops has cases of some of them.
static tapml_status try_chosen(struct invariance_work *work,
                               struct invariance_trial *trial,
                               const struct representative_group *group)
{
    const struct verdict_list *list = work->options->list;
    size_t passed = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];
        if (verdict->kind != VERDICT_PASS || passed++ % work->stress_every != 0) {
            continue;
        }
        if (strcmp(verdict->op_name, group->op) == 0 && verdict->op_version == group->version) {
            TAPML_TRY(try_case(work, trial, verdict->case_id, INVARIANCE_STRESS));
        }
    }
    return invariance_trial_skip(trial, "the share has none of its cases");
}

// -- Rows ----------------------------------------------------------------------------------------

static int is_asked(const struct invariance_work *work, int axis)
{
    return (work->options->settings.axes & 1U << axis) != 0;
}

// What changes by itself says nothing of what another queue does to it.
static int depends_on_run(enum invariance_axis axis)
{
    return axis == INVARIANCE_ORDER || axis == INVARIANCE_STRESS;
}

static tapml_status find_basis(struct invariance_work *work,
                               const struct representative_group *group,
                               enum invariance_axis axis,
                               const char **out_basis)
{
    const struct result_maker *maker = NULL;
    const struct verdict_list *list = work->options->list;
    struct text how;
    TAPML_TRY(examiner_maker(work->examiner, group->op, group->version, &maker));
    text_init(&how);
    text_format(&how, "%d %s", RULES, invariance_axis_name(axis));
    if (axis == INVARIANCE_STRESS) { // Which cases are chosen depends on all.
        text_format(&how, " %zu of %zu", work->stress_every, list->count);
    }
    if (depends_on_run(axis)) {
        text_format(&how, " run %d", is_asked(work, INVARIANCE_RUN));
    }
    for (size_t i = 0; i < group->count; i++) {
        const struct verdict *verdict = find_verdict(list, group->ids[i]);
        text_format(&how, " %d", verdict && verdict->kind == VERDICT_PASS);
    }
    tapml_status status = text_status(&how);
    if (status == TAPML_OK) {
        status = basis_make(maker, group, how.data, work->arena, out_basis);
    }
    text_release(&how);
    return status;
}

static void count(struct invariance_work *work, const char *axis, const char *verdict)
{
    struct invariance_counts *counts = &work->counts;
    work->run_changes |= strcmp(axis, invariance_axis_name(INVARIANCE_RUN)) == 0 &&
                         strcmp(verdict, invariance_trial_kind_name(INVARIANCE_EQUAL)) != 0;
    counts->all++;
    counts->differ += strcmp(verdict, invariance_trial_kind_name(INVARIANCE_WITHIN)) == 0;
    counts->wrong += strcmp(verdict, invariance_trial_kind_name(INVARIANCE_WRONG)) == 0;
}

// Whether an earlier start has made this row. What lacked a second queue may have one now.
static int is_known(struct invariance_work *work,
                    const struct representative_group *group,
                    enum invariance_axis axis,
                    const char *basis)
{
    for (size_t i = 0; i < work->known_count; i++) {
        const struct invariant_row *row = &work->known[i];
        if (strcmp(row->op, group->op) == 0 && row->version == group->version &&
            strcmp(row->axis, invariance_axis_name(axis)) == 0 && strcmp(row->basis, basis) == 0 &&
            strncmp(row->reason, NO_SECOND, sizeof(NO_SECOND) - 1) != 0) {
            work->is_kept[i] = 1;
            count(work, row->axis, row->verdict);
            return 1;
        }
    }
    return 0;
}

static tapml_status write_row(struct invariance_work *work, const struct invariant_row *row)
{
    struct store *store = work->options->verdicts->store;
    TAPML_TRY(store_begin(store));
    tapml_status status = invariant_write(store, work->options->verdicts->target, row);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status try_axis(struct invariance_work *work,
                             struct invariance_trial *trial,
                             const struct representative_group *group,
                             enum invariance_axis axis)
{
    if (work->run_changes && depends_on_run(axis)) {
        return invariance_trial_skip(trial, "it changes where it is repeated alone");
    }
    return axis == INVARIANCE_STRESS ? try_chosen(work, trial, group)
                                     : try_representatives(work, trial, group, axis);
}

static tapml_status judge_axis(struct invariance_work *work,
                               const struct representative_group *group,
                               enum invariance_axis axis)
{
    struct invariance_trial trial = {.examiner = work->examiner,
                                     .checkpoint = work->options->verdicts->checkpoint,
                                     .texts = work->arena,
                                     .finding = invariance_trial_none()};
    const char *basis = NULL;
    TAPML_TRY(find_basis(work, group, axis, &basis));
    if (is_known(work, group, axis, basis)) {
        return TAPML_OK;
    }
    TAPML_TRY(try_axis(work, &trial, group, axis));
    const struct invariant_row row = {.op = group->op,
                                      .version = group->version,
                                      .axis = invariance_axis_name(axis),
                                      .verdict = invariance_trial_kind_name(trial.finding.kind),
                                      .size = trial.finding.size,
                                      .tried = trial.finding.tried,
                                      .instance = trial.finding.instance,
                                      .shape = trial.finding.shape,
                                      .margin = trial.finding.margin,
                                      .reason = trial.finding.reason,
                                      .basis = basis};
    work->counts.tried++;
    count(work, row.axis, row.verdict);
    return write_row(work, &row);
}

static tapml_status judge_group(struct invariance_work *work,
                                const struct representative_group *group)
{
    const struct invariance_options *options = work->options;
    work->run_changes = 0;
    for (int axis = 0; axis < INVARIANCE_AXES; axis++) {
        if (!is_asked(work, axis)) {
            continue;
        }
        TAPML_TRY(judge_axis(work, group, (enum invariance_axis)axis));
        work->done++;
        if (options->progress) {
            TAPML_TRY(options->progress(options->user, work->done, work->all));
        }
    }
    return TAPML_OK;
}

// Rows of the whole model are somebody else's to judge, as long as they are asked for.
static int is_of_model(const struct invariance_work *work, const struct invariant_row *row)
{
    for (int axis = 0; axis < INVARIANCE_AXES; axis++) {
        if (is_asked(work, axis) &&
            strcmp(row->axis, invariance_axis_name((enum invariance_axis)axis)) == 0) {
            return row->version == INVARIANT_MODEL;
        }
    }
    return 0;
}

// Writes those that are of use anew, in the place of all.
static tapml_status forget_others(struct invariance_work *work)
{
    struct store *store = work->options->verdicts->store;
    const char *target = work->options->verdicts->target;
    TAPML_TRY(invariant_forget(store, target));
    for (size_t i = 0; i < work->known_count; i++) {
        if (work->is_kept[i]) {
            TAPML_TRY(invariant_write(store, target, &work->known[i]));
        }
    }
    return TAPML_OK;
}

static int has_others(struct invariance_work *work)
{
    size_t kept = 0;
    for (size_t i = 0; i < work->known_count; i++) {
        work->is_kept[i] |= is_of_model(work, &work->known[i]);
        kept += work->is_kept[i] != 0;
    }
    return kept < work->known_count;
}

// Marks what is of use, and deletes all else, before anything is tried: nothing that reads the
// store from now on sees what is stale.
static tapml_status settle_known(struct invariance_work *work,
                                 const struct representative_group *groups,
                                 size_t group_count)
{
    struct store *store = work->options->verdicts->store;
    for (size_t i = 0; i < group_count; i++) {
        for (int axis = 0; axis < INVARIANCE_AXES; axis++) {
            const char *basis = NULL;
            if (is_asked(work, axis)) {
                TAPML_TRY(find_basis(work, &groups[i], (enum invariance_axis)axis, &basis));
                (void)is_known(work, &groups[i], (enum invariance_axis)axis, basis);
                work->all++;
            }
        }
    }
    work->counts = (struct invariance_counts){.all = 0};
    if (!has_others(work)) {
        return TAPML_OK;
    }
    TAPML_TRY(store_begin(store));
    tapml_status status = forget_others(work);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static size_t count_passed(const struct verdict_list *list)
{
    size_t passed = 0;
    for (size_t i = 0; i < list->count; i++) {
        passed += list->items[i].kind == VERDICT_PASS;
    }
    return passed;
}

static tapml_status judge_all(struct invariance_work *work)
{
    const struct invariance_options *options = work->options;
    struct representative_group *groups = NULL;
    size_t group_count = 0;
    const double share = options->settings.stress;
    const double passed = (double)count_passed(options->list);
    work->stress_every =
        share > 0 && passed > 0 ? (size_t)fmax(1, fmin(floor(1 / share), passed)) : 1;
    TAPML_TRY(representative_list(options->verdicts->store, work->arena, &groups, &group_count));
    TAPML_TRY(settle_known(work, groups, group_count));
    for (size_t i = 0; i < group_count; i++) {
        TAPML_TRY(judge_group(work, &groups[i]));
    }
    work->counts.calls = examiner_executions(work->examiner);
    work->counts.calibrating = examiner_calibrations(work->examiner);
    return TAPML_OK;
}

// Where nothing is asked, nothing is opened.
static tapml_status judge_or_forget(struct invariance_work *work)
{
    const struct invariance_options *options = work->options;
    TAPML_TRY(invariant_list(options->verdicts->store, options->verdicts->target, work->arena,
                             &work->known, &work->known_count));
    work->is_kept = arena_array(work->arena, work->known_count + 1, sizeof(*work->is_kept));
    if (!work->is_kept) {
        return status_no_memory();
    }
    if (options->settings.axes == 0) {
        return settle_known(work, NULL, 0);
    }
    TAPML_TRY(examiner_create(options->verdicts, &work->examiner));
    return judge_all(work);
}

tapml_status invariance_judge(const struct invariance_options *options,
                              struct invariance_counts *out_counts)
{
    struct invariance_work work = {.options = options, .arena = arena_create()};
    const tapml_status status = work.arena ? judge_or_forget(&work) : status_no_memory();
    examiner_destroy(work.examiner);
    arena_destroy(work.arena);
    if (status == TAPML_OK) {
        *out_counts = work.counts;
    }
    return status;
}
