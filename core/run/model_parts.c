// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/model_parts.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "exec/part_rows.h"
#include "exec/plan.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <string.h>

// -- The graphs ----------------------------------------------------------------------------------

// The shape of a value whose extents are all numbers, as every value of a part's ends is.
static int read_shape(const struct graph_value *value, int64_t shape[TAPML_MAX_RANK])
{
    for (uint32_t i = 0; i < value->rank; i++) {
        if (!affine_is_constant(&value->shape[i])) {
            return 0;
        }
        shape[i] = value->shape[i].constant;
    }
    return 1;
}

static tapml_status check_output(const struct graph *graph, struct model_part *item)
{
    const struct graph_part *part = item->part;
    const uint32_t index = graph_find_output(graph, part->output);
    int64_t shape[TAPML_MAX_RANK];

    if (index == GRAPH_NONE || graph->values[index].rank != 2 ||
        graph->values[index].dtype != TAPML_F32 || !read_shape(&graph->values[index], shape) ||
        shape[0] < 1 || shape[1] != part->width) {
        return status_fail(TAPML_INVALID,
                           "the graph of '%s' gives no output '%s' of rows of %lld values in f32",
                           part->component, part->output, (long long)part->width);
    }
    item->rows_each = shape[0];
    return TAPML_OK;
}

static tapml_status check_graph(struct model_part *item)
{
    const struct graph *graph = model_graph(item->model);
    int64_t shape[TAPML_MAX_RANK];

    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];

        if (value->kind == GRAPH_INPUT &&
            (value->from == TAPML_FROM_HOST || value->from == TAPML_FROM_PART ||
             (value->from == TAPML_FROM_USER && !read_shape(value, shape)))) {
            return status_fail(TAPML_INVALID,
                               "the graph of '%s', a part, has the input '%s', which is made for "
                               "the tokens of a text",
                               item->part->component, value->name);
        }
    }
    return check_output(graph, item);
}

static tapml_status
open_part(struct registry *registry, const struct model_options *options, struct model_part *item)
{
    struct model_options of_part = *options;

    of_part.architecture = item->part->component;
    of_part.adapter = NULL; // It is of the text's graph, which has checked that it reads all of it.
    TAPML_TRY(model_open(registry, &of_part, &item->model));
    return check_graph(item);
}

tapml_status model_parts_open(struct registry *registry,
                              const struct model *text,
                              const struct model_options *options,
                              const int32_t *ids,
                              int64_t count,
                              struct model_parts *out_parts)
{
    const struct graph *graph = model_graph(text);
    struct model_parts parts = {
        .items = alloc_array((size_t)graph->part_count + 1, sizeof(*parts.items)),
        .givens = alloc_array((size_t)graph->part_count + 1, sizeof(*parts.givens)),
    };
    tapml_status status =
        parts.items != NULL && parts.givens != NULL ? TAPML_OK : status_no_memory();

    for (uint32_t i = 0; i < graph->part_count && status == TAPML_OK; i++) {
        const struct graph_part *part = &graph->parts[i];
        const int64_t wanted = part_rows_wanted(part, ids, count);

        if (wanted > 0) {
            struct model_part *item = &parts.items[parts.count++];

            *item = (struct model_part){.part = part, .wanted = wanted};
            status = open_part(registry, options, item);
        }
    }
    if (status != TAPML_OK) {
        model_parts_close(&parts);
        return status;
    }
    *out_parts = parts;
    return TAPML_OK;
}

void model_parts_close(struct model_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        model_close(parts->items[i].model);
        alloc_free(parts->items[i].rows);
    }
    alloc_free(parts->items);
    alloc_free(parts->givens);
    *parts = (struct model_parts){0};
}

static int is_read(const struct graph *graph, const char *name)
{
    const uint32_t index = graph_find_value(graph, GRAPH_INPUT, name);

    return index != GRAPH_NONE && graph->values[index].from == TAPML_FROM_USER;
}

int model_parts_have(const struct model_parts *parts, const char *name)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct graph *graph = model_graph(parts->items[i].model);

        if (is_read(graph, name) || graph_find_output(graph, name) != GRAPH_NONE) {
            return 1;
        }
    }
    return 0;
}

// -- The inputs ----------------------------------------------------------------------------------

static void print_shape(struct text *text, const int64_t *shape, uint32_t rank)
{
    text_append(text, "[");
    for (uint32_t i = 0; i < rank; i++) {
        text_format(text, "%s%lld", i > 0 ? ", " : "", (long long)shape[i]);
    }
    text_append(text, "]");
}

static tapml_status fail_shape(const char *file_name,
                               const struct checkpoint_tensor *tensor,
                               const struct graph_value *value,
                               const int64_t *shape)
{
    struct text found, expected;

    text_init(&found);
    text_init(&expected);
    print_shape(&found, tensor->tensor.shape, tensor->tensor.rank);
    print_shape(&expected, shape, value->rank);
    const tapml_status status = status_fail(
        TAPML_INVALID, "%s: tensor '%s' is %s %s, expected %s %s, or several of them", file_name,
        tensor->name, dtype_name(tensor->tensor.dtype), found.data != NULL ? found.data : "",
        dtype_name(value->dtype), expected.data != NULL ? expected.data : "");

    text_release(&found);
    text_release(&expected);
    return status;
}

// The tensor for an input, and how many times it has its shape; NULL, 0 if it may be left out.
static tapml_status find_tensor(const struct graph_value *value,
                                const struct model_inputs *inputs,
                                const struct checkpoint_tensor **out_tensor,
                                int64_t *out_things)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(inputs->file, value->name);
    int64_t shape[TAPML_MAX_RANK];

    *out_tensor = tensor;
    *out_things = 0;
    if (tensor == NULL) {
        return value->has_fallback
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "%s: expected a tensor '%s', found none",
                                 inputs->name, value->name);
    }
    const tapml_tensor *form = &tensor->tensor;
    const uint32_t before = form->rank > value->rank ? 1 : 0;

    if (!read_shape(value, shape) || form->rank != value->rank + before ||
        dtype_is_float(form->dtype) != dtype_is_float(value->dtype) ||
        (value->rank > 0 &&
         memcmp(form->shape + before, shape, value->rank * sizeof(*shape)) != 0)) {
        return fail_shape(inputs->name, tensor, value, shape);
    }
    *out_things = before > 0 ? form->shape[0] : 1;
    return TAPML_OK;
}

// How many things the file has: all inputs that are there agree.
static tapml_status
count_things(const struct graph *graph, const struct model_inputs *inputs, int64_t *out_things)
{
    const struct checkpoint_tensor *tensor = NULL;
    int64_t things = -1, here = 0;

    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];

        if (value->kind != GRAPH_INPUT || value->from != TAPML_FROM_USER) {
            continue;
        }
        TAPML_TRY(find_tensor(value, inputs, &tensor, &here));
        if (tensor != NULL && things >= 0 && things != here) {
            return status_fail(TAPML_INVALID,
                               "%s: tensor '%s' has values for %lld, the inputs before it for %lld",
                               inputs->name, value->name, (long long)here, (long long)things);
        }
        things = tensor != NULL ? here : things;
    }
    *out_things = things < 0 ? 1 : things;
    return TAPML_OK;
}

// One thing of a tensor, as the input has it.
static tapml_status convert_thing(const struct graph_value *value,
                                  const struct checkpoint_tensor *tensor,
                                  int64_t thing,
                                  struct arena *arena,
                                  struct prompt_given *out_given)
{
    const struct affine_point nowhere = {{0}};
    const uint64_t bytes = graph_value_bytes(value, &nowhere);
    const size_t count = (size_t)(bytes / dtype_bytes(value->dtype));
    const size_t stored = count * dtype_bytes(tensor->tensor.dtype);
    double *numbers = alloc_array(count + 1, sizeof(*numbers));
    void *converted = arena_new(arena, bytes + 1);

    if (numbers == NULL || converted == NULL) {
        alloc_free(numbers);
        return status_no_memory();
    }
    convert_to_f64(tensor->tensor.dtype,
                   (const unsigned char *)tensor->data + (size_t)thing * stored, count, numbers);
    convert_from_f64(value->dtype, numbers, count, converted);
    alloc_free(numbers);
    *out_given = (struct prompt_given){.name = value->name, .data = converted, .bytes = bytes};
    return TAPML_OK;
}

tapml_status model_parts_read(const struct graph *graph,
                              const struct model_inputs *inputs,
                              int64_t thing,
                              struct arena *arena,
                              struct prompt_givens *out_givens,
                              int64_t *out_things)
{
    struct prompt_given *givens = arena_array(arena, graph->value_count, sizeof(*givens));
    const struct checkpoint_tensor *tensor = NULL;
    int64_t things = 0, here = 0;
    size_t count = 0;

    if (givens == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(count_things(graph, inputs, &things));
    for (uint32_t v = 0; v < graph->value_count && thing < things; v++) {
        const struct graph_value *value = &graph->values[v];

        if (value->kind != GRAPH_INPUT || value->from != TAPML_FROM_USER) {
            continue;
        }
        TAPML_TRY(find_tensor(value, inputs, &tensor, &here));
        if (tensor != NULL) {
            TAPML_TRY(convert_thing(value, tensor, thing, arena, &givens[count++]));
        }
    }
    *out_givens = (struct prompt_givens){.items = givens, .count = count};
    *out_things = things;
    return TAPML_OK;
}

// -- The prompt ----------------------------------------------------------------------------------

static int32_t *
repeat_ids(const int32_t *ids, int64_t count, const struct model_part *item, int64_t *out_count)
{
    const int64_t made = count + item->wanted * (item->rows_each - 1);
    int32_t *repeated = made > 0 ? alloc_array((size_t)made, sizeof(*repeated)) : NULL;
    int64_t at = 0;

    for (int64_t i = 0; i < count && repeated != NULL; i++) {
        const int64_t times = ids[i] == item->part->token ? item->rows_each : 1;

        for (int64_t k = 0; k < times; k++) {
            repeated[at++] = ids[i];
        }
    }
    *out_count = made;
    return repeated;
}

tapml_status model_parts_expand(struct model_parts *parts,
                                const struct model_inputs *inputs,
                                int32_t **ids,
                                int64_t *count)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct model_part *item = &parts->items[i];
        int64_t things = 0;

        TAPML_TRY(count_things(model_graph(item->model), inputs, &things));
        if (item->wanted != things || item->rows_each <= 1) {
            continue;
        }
        int64_t made = 0;
        int32_t *repeated = repeat_ids(*ids, *count, item, &made);

        if (repeated == NULL) {
            return status_no_memory();
        }
        alloc_free(*ids);
        *ids = repeated;
        *count = made;
        item->wanted *= item->rows_each;
    }
    return TAPML_OK;
}

// -- Computing -----------------------------------------------------------------------------------

static tapml_status compute_thing(const struct model_part *item,
                                  const struct model_inputs *inputs,
                                  int64_t thing,
                                  struct session *session,
                                  const float **out_rows)
{
    struct arena *arena = arena_create();
    struct prompt_givens givens;
    int64_t shape[TAPML_MAX_RANK], things = 0;
    uint32_t rank = 0;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status =
        model_parts_read(model_graph(item->model), inputs, thing, arena, &givens, &things);

    if (status == TAPML_OK) {
        status = session_give(session, &givens);
    }
    arena_destroy(arena);
    TAPML_TRY(status);
    TAPML_TRY(session_begin(session, 1));
    TAPML_TRY(session_step(session, NULL, 1, NULL, 0));
    return session_output(session, item->part->output, out_rows, shape, &rank);
}

static tapml_status compute_rows(struct model_part *item,
                                 const struct model_inputs *inputs,
                                 int64_t things,
                                 struct session *session)
{
    const size_t each = (size_t)item->rows_each * (size_t)item->part->width;
    const float *rows = NULL;

    item->rows = alloc_array((size_t)things * each + 1, sizeof(*item->rows));
    if (item->rows == NULL) {
        return status_no_memory();
    }
    for (int64_t thing = 0; thing < things; thing++) {
        TAPML_TRY(compute_thing(item, inputs, thing, session, &rows));
        memcpy(item->rows + (size_t)thing * each, rows, each * sizeof(*rows));
    }
    item->count = things * item->rows_each;
    return TAPML_OK;
}

// The weights of a place are those of the text's checkpoint, so that a part's session has its own.
static tapml_status compute_part(struct model_part *item,
                                 const struct model_inputs *inputs,
                                 int64_t things,
                                 const struct session_options *options)
{
    struct place places[SESSION_PLACES_MAX];
    struct place *pointers[SESSION_PLACES_MAX];
    struct session_options of_part = *options;
    struct session *session = NULL;

    for (uint32_t i = 0; i < options->place_count; i++) {
        places[i] = *options->places[i];
        places[i].weights = NULL;
        pointers[i] = &places[i];
    }
    of_part.model = item->model;
    of_part.places = pointers;
    of_part.capacity = 1;
    of_part.chunk = 1;
    TAPML_TRY(session_create(&of_part, &session));
    const tapml_status status = compute_rows(item, inputs, things, session);

    session_destroy(session);
    return status;
}

static tapml_status
check_count(const struct model_part *item, const struct model_inputs *inputs, int64_t *out_things)
{
    int64_t things = 0;

    TAPML_TRY(count_things(model_graph(item->model), inputs, &things));
    if (item->wanted % item->rows_each != 0 || item->wanted / item->rows_each != things) {
        return status_fail(TAPML_INVALID,
                           "%lld tokens of the prompt are %lld, each of which stands for a row of "
                           "'%s': expected %lld times %lld, as '%s' gives",
                           (long long)item->wanted, (long long)item->part->token,
                           item->part->output, (long long)things, (long long)item->rows_each,
                           item->part->component);
    }
    *out_things = things;
    return TAPML_OK;
}

tapml_status model_parts_compute(struct model_parts *parts,
                                 const struct model_inputs *inputs,
                                 const struct session_options *session)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct model_part *item = &parts->items[i];
        int64_t things = 0;

        TAPML_TRY(check_count(item, inputs, &things));
        const tapml_status status = compute_part(item, inputs, things, session);

        if (status != TAPML_OK) {
            return status_explain(status, "part '%s'", item->part->component);
        }
        parts->givens[i] = (struct prompt_given){
            .name = item->part->output,
            .data = item->rows,
            .bytes = (uint64_t)item->count * (uint64_t)item->part->width * sizeof(*item->rows)};
    }
    return TAPML_OK;
}

tapml_status model_parts_check(const struct model_parts *parts, const struct model_inputs *inputs)
{
    for (size_t i = 0; i < parts->count; i++) {
        TAPML_TRY(check_count(&parts->items[i], inputs, &(int64_t){0}));
    }
    return TAPML_OK;
}

struct prompt_givens model_parts_givens(const struct model_parts *parts)
{
    return (struct prompt_givens){.items = parts->givens, .count = parts->count};
}
