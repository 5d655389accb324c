// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/reduce.h"

#include "base/arena.h"
#include "exec/expanded.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "verify/cut.h"
#include "verify/oracle.h"
#include "verify/replay.h"
#include "verify/verdicts.h"

#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 256 };

struct reducer {
    const struct reduce_options *options;
    const struct compiled_op *schema;
    struct backend *exact;     // Computes what is expected,
    struct expanded *expanded; // also of ops that have a plain form there.
    struct replay *replay;     // On it.
    struct reduce_result *result;
    unsigned trials_max;
    unsigned repeats;
};

// -- What a cut case should give ---------------------------------------------------------------

// The first device that calibrates the op. Where there is none, `exact` stays NULL.
static tapml_status open_exact(struct reducer *reducer)
{
    struct registry *registry = reducer->options->registry;
    TAPML_TRY(oracle_open_exact(registry, reducer->schema->op, &reducer->exact));
    if (!reducer->exact) {
        return TAPML_OK;
    }
    TAPML_TRY(expanded_create(reducer->exact, registry_catalogue(registry), &reducer->expanded));
    return replay_create(expanded_backend(reducer->expanded), NULL, &reducer->replay);
}

// Fills in the outputs of a cut case, which lie in the case's arena.
static tapml_status expect(struct reducer *reducer, struct carved_case *item, int *out_is_known)
{
    struct replay_result result;
    const tapml_status status = replay_run(reducer->replay, item, reducer->schema, 0, &result);
    uint32_t output = 0;
    *out_is_known = status == TAPML_OK && result.outcome == REPLAY_RAN;
    if (status != TAPML_OK) {
        return status_ends_all(status) ? status : TAPML_OK; // Such a case cannot be.
    }
    for (uint32_t i = 0; *out_is_known && i < item->argument_count; i++) {
        struct case_argument *argument = &item->arguments[i];
        if (case_is_output(argument)) {
            // Zeros until here: `cut_case` made them to be filled in.
            memcpy((void *)(uintptr_t)argument->after, result.outputs[output++].computed,
                   argument->content_bytes);
        }
    }
    return TAPML_OK;
}

// -- Whether it still fails --------------------------------------------------------------------

static tapml_status judge(const struct reducer *reducer, struct store *store, int *out_fails)
{
    struct verdict_list list;
    TAPML_TRY(verdicts_make(&(struct verdict_options){.registry = reducer->options->registry,
                                                      .store = store,
                                                      .target = "target",
                                                      .backend = reducer->options->backend,
                                                      .fresh = 1},
                            &list));
    *out_fails = list.count == 1 && list.items[0].kind == VERDICT_FAIL;
    verdict_list_release(&list);
    return TAPML_OK;
}

// Judges a case as a replay of its bundle would: in a store of its own, here in memory.
static tapml_status
still_fails(struct reducer *reducer, const struct carved_case *item, int *out_fails)
{
    const struct reduce_options *options = reducer->options;
    struct store *store = NULL;
    TAPML_TRY(store_open(":memory:", 1, &store));
    tapml_status status = stored_case_add(store, item);
    *out_fails = 0;
    for (unsigned i = 0; status == TAPML_OK && !*out_fails && i < reducer->repeats; i++) {
        status = judge(reducer, store, out_fails);
    }
    store_close(store);
    TAPML_TRY(status);
    reducer->result->trials++;
    return options->progress
               ? options->progress(options->user, reducer->result->trials, reducer->trials_max)
               : TAPML_OK;
}

// -- The search --------------------------------------------------------------------------------

// What to keep of an axis.
struct span {
    uint32_t axis;
    int64_t begin, end;
};

static tapml_status try_span(struct reducer *reducer,
                             const struct span *span,
                             struct arena *arena,
                             struct carved_case *item,
                             int *out_fails)
{
    struct cut cut;
    int is_known = 0;
    *out_fails = 0;
    TAPML_TRY(cut_open(&reducer->result->item, reducer->schema, &cut));
    const tapml_status status = cut_case(&cut, span->axis, span->begin, span->end, arena, item);
    if (status != TAPML_OK) {
        return status_ends_all(status) ? status : TAPML_OK; // Such a case cannot be.
    }
    TAPML_TRY(expect(reducer, item, &is_known));
    return is_known ? still_fails(reducer, item, out_fails) : TAPML_OK;
}

// Keeps a part of an axis where that still fails.
static tapml_status keep(struct reducer *reducer, const struct span *span, int *out_is_taken)
{
    struct reduce_result *result = reducer->result;
    struct carved_case item;
    *out_is_taken = 0;
    if (result->trials >= reducer->trials_max) {
        return TAPML_OK;
    }
    struct arena *arena = arena_create();
    if (!arena) {
        return status_no_memory();
    }
    const tapml_status status = try_span(reducer, span, arena, &item, out_is_taken);
    if (status != TAPML_OK || !*out_is_taken) {
        arena_destroy(arena);
        return status;
    }
    arena_destroy(result->arena);
    result->arena = arena;
    result->item = item;
    return TAPML_OK;
}

// Leaves out one part of an axis, in front or behind.
static tapml_status
shorten(struct reducer *reducer, uint32_t index, int64_t parts, int *out_is_taken)
{
    struct cut cut;
    *out_is_taken = 0;
    TAPML_TRY(cut_open(&reducer->result->item, reducer->schema, &cut));
    const struct cut_axis *axis = &cut.axes[index];
    const int64_t extent = axis->extent;
    const int64_t chunk = extent / parts;
    if (chunk == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(keep(reducer, &(struct span){index, 0, extent - chunk}, out_is_taken));
    return *out_is_taken || axis->is_number
               ? TAPML_OK
               : keep(reducer, &(struct span){index, chunk, extent}, out_is_taken);
}

// Goes over all axes until no part of that size can be left out.
static tapml_status shorten_all(struct reducer *reducer, uint32_t axis_count, int64_t parts)
{
    int is_any_taken = 1;
    while (is_any_taken) {
        is_any_taken = 0;
        for (uint32_t axis = 0; axis < axis_count; axis++) {
            int is_taken = 0;
            TAPML_TRY(shorten(reducer, axis, parts, &is_taken));
            is_any_taken |= is_taken;
        }
    }
    return TAPML_OK;
}

static tapml_status search(struct reducer *reducer)
{
    struct cut cut;
    int64_t longest = 0;
    TAPML_TRY(cut_open(&reducer->result->item, reducer->schema, &cut));
    for (uint32_t axis = 0; axis < cut.axis_count; axis++) {
        longest = cut.axes[axis].extent > longest ? cut.axes[axis].extent : longest;
    }
    for (int64_t parts = 2; parts <= longest && reducer->result->trials < reducer->trials_max;
         parts *= 2) {
        TAPML_TRY(shorten_all(reducer, cut.axis_count, parts));
    }
    return TAPML_OK;
}

tapml_status reduce_case(const struct reduce_options *options,
                         const struct carved_case *item,
                         const struct compiled_op *schema,
                         struct reduce_result *out_result)
{
    struct reduce_result result = {.item = *item};
    struct reducer reducer = {.options = options,
                              .schema = schema,
                              .result = &result,
                              .repeats = options->repeats > 0 ? options->repeats : 1,
                              .trials_max = options->trials_max > 0 ? options->trials_max
                                                                    : REDUCE_TRIALS_MAX};
    tapml_status status = open_exact(&reducer);
    if (status == TAPML_OK && reducer.exact) {
        status = search(&reducer);
    }
    replay_destroy(reducer.replay);
    expanded_destroy(reducer.expanded);
    backend_release(reducer.exact);
    if (status != TAPML_OK) {
        reduce_result_release(&result);
        return status_explain(status, "while reducing a case of '%s'", item->instance);
    }
    *out_result = result;
    return TAPML_OK;
}

void reduce_result_release(struct reduce_result *result)
{
    if (result) {
        arena_destroy(result->arena);
        *result = (struct reduce_result){.arena = NULL};
    }
}
