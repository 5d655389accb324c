// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/prompt_inputs.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "exec/part_rows.h"
#include "exec/plan.h"
#include "model/safetensors.h"

#include <string.h>

// Without a file no token may stand for a row.
static tapml_status refuse_tokens(const struct graph *graph, const struct prompt *prompt)
{
    for (uint32_t i = 0; i < graph->part_count; i++) {
        const struct graph_part *part = &graph->parts[i];

        if (part_rows_wanted(part, prompt->ids, (int64_t)prompt->count) > 0) {
            return status_fail(TAPML_INVALID,
                               "token %lld stands for a row of '%s' of '%s': expected 'inputs: "
                               "FILE' before the prompt, with what that reads",
                               (long long)part->token, part->output, part->component);
        }
    }
    return TAPML_OK;
}

// Of a part that is run alone: one thing.
static tapml_status read_part(const struct prompt_inputs_options *options,
                              const struct model_inputs *inputs,
                              struct arena *arena,
                              struct prompt *prompt)
{
    int64_t things = 0;

    TAPML_TRY(
        model_parts_read(model_graph(options->model), inputs, 0, arena, &prompt->given, &things));
    return things == 1 ? TAPML_OK
                       : status_fail(TAPML_INVALID,
                                     "%s: expected inputs for one call of the model, found %lld",
                                     inputs->name, (long long)things);
}

static tapml_status keep_ids(const struct prompt_inputs_options *options,
                             const int32_t *ids,
                             int64_t count,
                             struct arena *arena,
                             struct prompt *prompt)
{
    if (options->length_max > 0 && (uint64_t)count > options->length_max) {
        return status_fail(TAPML_INVALID,
                           "expected a prompt of at most %zu tokens, found %lld with its rows",
                           options->length_max, (long long)count);
    }
    prompt->ids = arena_array(arena, (size_t)count, sizeof(*ids));
    if (prompt->ids == NULL) {
        return status_no_memory();
    }
    memcpy(prompt->ids, ids, (size_t)count * sizeof(*ids));
    prompt->count = (size_t)count;
    return TAPML_OK;
}

// A copy of what the parts give, which live shorter than the prompt.
static tapml_status
keep_rows(const struct model_parts *parts, struct arena *arena, struct prompt *prompt)
{
    const struct prompt_givens givens = model_parts_givens(parts);
    struct prompt_given *items = arena_array(arena, givens.count, sizeof(*items));

    if (items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < givens.count; i++) {
        void *rows = arena_new(arena, givens.items[i].bytes + 1);

        if (rows == NULL) {
            return status_no_memory();
        }
        memcpy(rows, givens.items[i].data, givens.items[i].bytes);
        items[i] = givens.items[i];
        items[i].name = parts->items[i].part->output; // The text's, which stays.
        items[i].data = rows;
    }
    prompt->given = (struct prompt_givens){.items = items, .count = givens.count};
    return TAPML_OK;
}

// On the source alone.
static tapml_status compute(const struct prompt_inputs_options *options,
                            const struct model_inputs *inputs,
                            struct model_parts *parts)
{
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    const tapml_status status = model_parts_compute(
        parts, inputs,
        &(struct session_options){.places = &options->source, .place_count = 1, .plan = plan});

    plan_destroy(plan);
    return status;
}

// `ids` are the prompt's, and may be replaced.
static tapml_status read_rows(const struct prompt_inputs_options *options,
                              const struct model_inputs *inputs,
                              struct model_parts *parts,
                              int32_t **ids,
                              struct arena *arena,
                              struct prompt *prompt)
{
    int64_t count = (int64_t)prompt->count;

    if (parts->count == 0) {
        return status_fail(TAPML_INVALID,
                           "%s is given, and no token of the prompt stands for what "
                           "another part of the model reads",
                           inputs->name);
    }
    TAPML_TRY(model_parts_expand(parts, inputs, ids, &count));
    TAPML_TRY(keep_ids(options, *ids, count, arena, prompt));
    if (options->source == NULL) {
        return model_parts_check(parts, inputs);
    }
    TAPML_TRY(compute(options, inputs, parts));
    return keep_rows(parts, arena, prompt);
}

static tapml_status read_text(const struct prompt_inputs_options *options,
                              const struct model_inputs *inputs,
                              struct arena *arena,
                              struct prompt *prompt)
{
    struct model_parts parts = {0};
    int32_t *ids = alloc_array(prompt->count, sizeof(*ids));

    if (ids == NULL) {
        return status_no_memory();
    }
    memcpy(ids, prompt->ids, prompt->count * sizeof(*ids));
    tapml_status status = model_parts_open(options->registry, options->model, options->opening, ids,
                                           (int64_t)prompt->count, &parts);

    if (status == TAPML_OK) {
        status = read_rows(options, inputs, &parts, &ids, arena, prompt);
    }
    model_parts_close(&parts);
    alloc_free(ids);
    return status;
}

static tapml_status
read_one(const struct prompt_inputs_options *options, struct arena *arena, struct prompt *prompt)
{
    const struct graph *graph = model_graph(options->model);
    const int is_text = graph_find_value(graph, GRAPH_INPUT, "input_ids") != GRAPH_NONE;
    struct checkpoint *file = NULL;

    if (prompt->inputs == NULL) {
        return refuse_tokens(graph, prompt);
    }
    TAPML_TRY(safetensors_open_file(prompt->inputs, &file));
    const struct model_inputs inputs = {.file = file, .name = prompt->inputs};
    const tapml_status status = is_text ? read_text(options, &inputs, arena, prompt)
                                        : read_part(options, &inputs, arena, prompt);

    checkpoint_close(file);
    return status;
}

tapml_status prompt_inputs_read(const struct prompt_inputs_options *options,
                                struct prompts *prompts)
{
    for (size_t i = 0; i < prompts->count; i++) {
        const tapml_status status = read_one(options, prompts->arena, &prompts->items[i]);

        if (status != TAPML_OK) {
            return status_explain(status, "%s:%u", options->path, prompts->items[i].line);
        }
    }
    return TAPML_OK;
}
