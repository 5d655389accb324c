// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/invariance_rows.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/case.h"
#include "verify/row_axis.h"

#include <string.h>

static const int64_t together[] = {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 0};
const int64_t invariance_rows_chunks[] = {1, 5, 64, 0};

enum { ROWS_MAX = 65 };

// A case along its rows.
struct lines {
    struct invariance_trial *trial;
    struct cut cut;
    struct row_axis axis;
    struct arena *arena; // Of what is compared with.
};

// `*out_reason` is why an axis means nothing for the case, or NULL.
static tapml_status open_lines(struct lines *lines,
                               struct invariance_trial *trial,
                               const struct carved_case *item,
                               const char **out_reason)
{
    int has = 0;
    *lines = (struct lines){.trial = trial};
    *out_reason = "no axis of it has rows that are computed by themselves";
    tapml_status status = cut_open(item, trial->schema, &lines->cut);
    if (status == TAPML_OK) {
        status = row_axis_find(&lines->cut, &lines->axis, &has);
    }
    if (status != TAPML_OK || !has || lines->axis.extent < 1) {
        return status == TAPML_INVALID ? TAPML_OK : status;
    }
    lines->arena = arena_create();
    *out_reason = NULL;
    return lines->arena ? TAPML_OK : status_no_memory();
}

static int has_run(const struct invariance_run *run)
{
    return run->output_count > 0;
}

// -- Rows beside a row ---------------------------------------------------------------------------

static tapml_status run_picked(const struct lines *lines,
                               const int64_t *rows,
                               int64_t count,
                               struct arena *arena,
                               struct invariance_run *out_run)
{
    struct carved_case *picked = arena_new(arena, sizeof(*picked));
    if (!picked) {
        return status_no_memory();
    }
    TAPML_TRY(row_axis_pick(&lines->cut, &lines->axis, rows, count, arena, picked));
    return invariance_trial_run(lines->trial, picked, 1, arena, out_run);
}

// Several rows together. `*out_agrees` is 0 if the reference itself gives one of them something
// else than alone.
static tapml_status try_together(const struct lines *lines,
                                 const struct invariance_run *alone,
                                 int64_t distinct,
                                 int64_t count,
                                 int *out_agrees)
{
    int64_t rows[ROWS_MAX] = {0};
    struct arena *arena = arena_create();
    struct invariance_run run;
    int is_equal = 1;
    ASSERT(distinct > 0);
    if (!arena) {
        return status_no_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        rows[i] = i % distinct;
    }
    tapml_status status = run_picked(lines, rows, count, arena, &run);
    for (int64_t i = 0; status == TAPML_OK && has_run(&run) && i < count; i++) {
        const struct invariance_rows here = {.run = &run, .begin = i, .count = 1};
        const struct invariance_rows there = {.run = &alone[rows[i]], .count = 1};
        *out_agrees = *out_agrees && invariance_trial_agrees(here, there);
        is_equal = is_equal && invariance_trial_is_equal(here, there);
    }
    if (status == TAPML_OK && *out_agrees) {
        status = invariance_trial_note(lines->trial, &run, is_equal, (uint64_t)count);
    }
    arena_destroy(arena);
    return status;
}

static tapml_status try_rows(const struct lines *lines)
{
    struct invariance_run alone[INVARIANCE_DISTINCT];
    int64_t distinct = 0;
    int agrees = 1;
    for (int64_t i = 0; i < lines->axis.extent && i < INVARIANCE_DISTINCT; i++) {
        TAPML_TRY(run_picked(lines, &i, 1, lines->arena, &alone[i]));
        if (alone[i].kind != VERDICT_PASS ||
            !has_run(&alone[i])) { // It fails there, or is refused.
            return invariance_trial_note(lines->trial, &alone[i], 0, 1);
        }
        distinct++;
    }
    for (size_t i = 0; agrees && together[i] > 0; i++) {
        TAPML_TRY(try_together(lines, alone, distinct, together[i], &agrees));
    }
    return agrees ? TAPML_OK
                  : invariance_trial_skip(lines->trial,
                                          "the reference itself computes its rows together");
}

tapml_status invariance_rows_try(struct invariance_trial *trial, const struct carved_case *item)
{
    struct lines lines;
    const char *reason = NULL;
    TAPML_TRY(open_lines(&lines, trial, item, &reason));
    if (!reason && lines.axis.has_states) {
        reason = "it has states: 'chunk' and 'verify' are its axes";
    }
    const tapml_status status = reason ? invariance_trial_skip(trial, reason) : try_rows(&lines);
    arena_destroy(lines.arena);
    return status;
}

// -- Calls behind each other ---------------------------------------------------------------------

// Gives the states of a call that go on as a whole what the call before has left in them.
static tapml_status
hand_on(const struct invariance_run *before, struct arena *arena, struct carved_case *io_item)
{
    for (uint32_t i = 0; i < before->output_count; i++) {
        const struct replay_output *output = &before->outputs[i];
        for (uint32_t k = 0; k < io_item->argument_count; k++) {
            struct case_argument *argument = &io_item->arguments[k];
            if (!case_is_state(argument) || before->schema->params[k].region ||
                strcmp(argument->name, output->param) != 0) {
                continue;
            }
            void *state = arena_array(arena, (size_t)argument->content_bytes + 1, 1);
            if (!state) {
                return status_no_memory();
            }
            memcpy(state, output->computed, (size_t)argument->content_bytes);
            argument->before = state;
        }
    }
    return TAPML_OK;
}

// Runs the tokens begin .. end - 1 as a call; `before`: what ran in front of it, or NULL. A call
// that cannot be made is skipped.
static tapml_status run_tokens(const struct lines *lines,
                               int64_t begin,
                               int64_t end,
                               const struct invariance_run *before,
                               struct arena *arena,
                               struct invariance_run *out_run)
{
    struct carved_case *item = arena_new(arena, sizeof(*item));
    *out_run = (struct invariance_run){.kind = VERDICT_SKIPPED, .reason = ""};
    if (!item) {
        return status_no_memory();
    }
    const tapml_status status = cut_case(&lines->cut, lines->axis.index, begin, end, arena, item);
    if (status == TAPML_INVALID) {
        out_run->reason = arena_text(arena, status_message());
        return out_run->reason ? TAPML_OK : status_no_memory();
    }
    TAPML_TRY(status);
    item->is_derived = 1;
    if (before && lines->axis.is_chained) {
        TAPML_TRY(hand_on(before, arena, item));
    }
    return invariance_trial_run(lines->trial, item, 1, arena, out_run);
}

// Whether a run is one to go on from; else it is noted.
static tapml_status
take_base(const struct lines *lines, const struct invariance_run *run, uint64_t size, int *out_is)
{
    *out_is = run->kind == VERDICT_PASS && has_run(run);
    return *out_is ? TAPML_OK : invariance_trial_note(lines->trial, run, 0, size);
}

// One call of several that make up `whole`, which begins with token `first`.
static tapml_status note_part(const struct lines *lines,
                              const struct invariance_run *whole,
                              const struct invariance_run *part,
                              struct invariance_rows there,
                              uint64_t size,
                              int *out_goes_on)
{
    const struct invariance_rows here = {
        .run = part, .count = there.count, .has_states = there.has_states};
    *out_goes_on = 0;
    if (has_run(part) && !invariance_trial_agrees(here, there)) {
        return invariance_trial_skip(lines->trial,
                                     "the reference itself computes something else in parts");
    }
    ASSERT(there.run == whole);
    const int is_equal = has_run(part) && invariance_trial_is_equal(here, there);
    *out_goes_on = part->kind == VERDICT_PASS;
    return invariance_trial_note(lines->trial, part, is_equal, size);
}

static tapml_status
try_chunks(const struct lines *lines, const struct invariance_run *whole, int64_t all, int64_t size)
{
    struct arena *arenas[2] = {NULL, NULL}; // Of a call and the one before it.
    struct invariance_run runs[2];
    tapml_status status = TAPML_OK;
    int goes_on = 1;
    for (int64_t i = 0; status == TAPML_OK && goes_on && i * size < all; i++) {
        const int64_t begin = i * size, end = begin + size < all ? begin + size : all;
        struct arena **arena = &arenas[i % 2];
        const struct invariance_rows there = {
            .run = whole, .begin = begin, .count = end - begin, .has_states = end == all};
        arena_destroy(*arena);
        *arena = arena_create();
        status = *arena ? run_tokens(lines, begin, end, i > 0 ? &runs[(i + 1) % 2] : NULL, *arena,
                                     &runs[i % 2])
                        : status_no_memory();
        if (status == TAPML_OK) {
            status = note_part(lines, whole, &runs[i % 2], there, (uint64_t)size, &goes_on);
        }
    }
    arena_destroy(arenas[0]);
    arena_destroy(arenas[1]);
    return status;
}

static tapml_status try_chunk(const struct lines *lines)
{
    const int64_t all =
        lines->axis.extent < INVARIANCE_CHUNK_ROWS ? lines->axis.extent : INVARIANCE_CHUNK_ROWS;
    struct invariance_run whole;
    int is_base = 0;
    TAPML_TRY(run_tokens(lines, 0, all, NULL, lines->arena, &whole));
    TAPML_TRY(take_base(lines, &whole, (uint64_t)all, &is_base));
    for (size_t i = 0; is_base && invariance_rows_chunks[i] > 0 && invariance_rows_chunks[i] < all;
         i++) {
        TAPML_TRY(try_chunks(lines, &whole, all, invariance_rows_chunks[i]));
    }
    return TAPML_OK;
}

static tapml_status try_drafted(const struct lines *lines,
                                const struct invariance_run *singles,
                                int64_t first,
                                int64_t count)
{
    struct arena *arena = arena_create();
    struct invariance_run run;
    int is_equal = 1, agrees = 1;
    if (!arena) {
        return status_no_memory();
    }
    tapml_status status = run_tokens(lines, first, first + count, NULL, arena, &run);
    for (int64_t i = 0; status == TAPML_OK && has_run(&run) && i < count; i++) {
        const int is_last = i + 1 == count;
        const struct invariance_rows here = {
            .run = &run, .begin = i, .count = 1, .has_states = is_last};
        const struct invariance_rows there = {
            .run = &singles[i], .count = 1, .has_states = is_last};
        agrees = agrees && invariance_trial_agrees(here, there);
        is_equal = is_equal && invariance_trial_is_equal(here, there);
    }
    if (status == TAPML_OK && agrees) {
        status = invariance_trial_note(lines->trial, &run, is_equal, (uint64_t)count);
    }
    arena_destroy(arena);
    return status;
}

// The tokens one at a time, in their order, those of the last `count`, or of the first.
static tapml_status run_singles(const struct lines *lines,
                                int64_t first,
                                int64_t count,
                                struct invariance_run *singles,
                                int *out_is_base)
{
    *out_is_base = 1;
    for (int64_t i = 0; *out_is_base && i < count; i++) {
        TAPML_TRY(run_tokens(lines, first + i, first + i + 1, i > 0 ? &singles[i - 1] : NULL,
                             lines->arena, &singles[i]));
        TAPML_TRY(take_base(lines, &singles[i], 1, out_is_base));
    }
    return TAPML_OK;
}

static tapml_status try_verify(const struct lines *lines)
{
    struct invariance_run singles[INVARIANCE_DRAFTED_MOST];
    const int64_t all = lines->axis.extent;
    const int64_t most = all < INVARIANCE_DRAFTED_MOST ? all : INVARIANCE_DRAFTED_MOST;
    const int64_t first = lines->axis.is_chained ? 0 : all - most;
    int is_base = 0;
    TAPML_TRY(run_singles(lines, first, most, singles, &is_base));
    for (int64_t count = INVARIANCE_DRAFTED_LEAST; is_base && count <= most; count++) {
        const int64_t skipped = lines->axis.is_chained ? 0 : most - count;
        TAPML_TRY(try_drafted(lines, singles + skipped, first + skipped, count));
    }
    return TAPML_OK;
}

static tapml_status try_calls(struct invariance_trial *trial,
                              const struct carved_case *item,
                              tapml_status (*try)(const struct lines *lines))
{
    struct lines lines;
    const char *reason = NULL;
    TAPML_TRY(open_lines(&lines, trial, item, &reason));
    if (!reason && !lines.axis.has_states) {
        reason = "it has no states: 'rows' is its axis";
    } else if (!reason && lines.axis.extent < 2) {
        reason = "its cases have one token each";
    }
    const tapml_status status = reason ? invariance_trial_skip(trial, reason) : try(&lines);
    arena_destroy(lines.arena);
    return status;
}

tapml_status invariance_rows_try_chunk(struct invariance_trial *trial,
                                       const struct carved_case *item)
{
    return try_calls(trial, item, try_chunk);
}

tapml_status invariance_rows_try_verify(struct invariance_trial *trial,
                                        const struct carved_case *item)
{
    return try_calls(trial, item, try_verify);
}
