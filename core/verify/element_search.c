// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/element_search.h"

#include "base/arena.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACE_TEXT = 160 };

// One output on its way to a list.
struct element_search {
    const struct replay_output *output;
    const struct case_argument *argument;
    const struct compare_limit *limit;
    double tensor_rms;
    struct arena *arena;
    struct element_list *list;
    double differences[ELEMENTS_SHOWN]; // Of the list, where the largest are looked for.
};

const char *
element_search_place(const struct case_argument *argument, size_t index, struct arena *arena)
{
    int64_t shape[TAPML_MAX_RANK];
    int64_t place[TAPML_MAX_RANK] = {0};
    char text[PLACE_TEXT] = "";
    size_t length = 0;
    case_content_shape(argument, shape);
    for (uint32_t i = argument->rank; i > 0; i--) {
        place[i - 1] = (int64_t)(index % (size_t)shape[i - 1]);
        index /= (size_t)shape[i - 1];
    }
    if (case_is_state(argument) && argument->rank > 0) {
        place[0] += argument->kept_begin;
    }
    for (uint32_t i = 0; i < argument->rank; i++) {
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%" PRId64,
                                   i > 0 ? ", " : "", place[i]);
    }
    return arena_text(arena, text);
}

// An element without its place: `place` is NULL.
static struct element element_at(const struct element_search *search, size_t index, double row_rms)
{
    const struct replay_output *output = search->output;
    const size_t at = index * dtype_bytes(output->dtype);
    struct element element = {.param = search->argument->name};
    convert_to_f64(output->dtype, (const char *)output->expected + at, 1, &element.expected);
    convert_to_f64(output->dtype, (const char *)output->computed + at, 1, &element.computed);
    element.allowed = compare_allowed(search->limit, element.expected, row_rms, search->tensor_rms);
    return element;
}

// |a - b|; infinite where NaN or an infinity stands on one side only.
static double difference_of(const struct element *element)
{
    const double difference = fabs(element->expected - element->computed);
    const int is_same = element->expected == element->computed ||
                        (isnan(element->expected) && isnan(element->computed));
    return is_same ? 0 : isnan(difference) ? INFINITY : difference;
}

static int
is_beyond(const struct element_search *search, size_t index, const struct element *element)
{
    const size_t bytes = dtype_bytes(search->output->dtype);
    if (search->limit->class_ == COMPARE_EXACT) {
        return memcmp((const char *)search->output->expected + index * bytes,
                      (const char *)search->output->computed + index * bytes, bytes) != 0;
    }
    return difference_of(element) > element->allowed;
}

static tapml_status
put(struct element_search *search, size_t at, size_t index, struct element element)
{
    element.param = arena_text(search->arena, element.param);
    element.place = element_search_place(search->argument, index, search->arena);
    search->list->items[at] = element;
    return element.param && element.place ? TAPML_OK : status_no_memory();
}

static tapml_status add_beyond(struct element_search *search, size_t index, struct element element)
{
    struct element_list *list = search->list;
    if (!is_beyond(search, index, &element) || list->beyond++ >= ELEMENTS_SHOWN) {
        return TAPML_OK;
    }
    return put(search, list->count++, index, element);
}

// Keeps the list sorted, the largest difference first.
static tapml_status add_largest(struct element_search *search, size_t index, struct element element)
{
    struct element_list *list = search->list;
    const double difference = difference_of(&element);
    size_t at = list->count;
    while (at > 0 && difference > search->differences[at - 1]) {
        at--;
    }
    if (!(difference > 0) || at == ELEMENTS_SHOWN) {
        return TAPML_OK;
    }
    list->count += list->count < ELEMENTS_SHOWN;
    for (size_t i = list->count - 1; i > at; i--) {
        list->items[i] = list->items[i - 1];
        search->differences[i] = search->differences[i - 1];
    }
    search->differences[at] = difference;
    return put(search, at, index, element);
}

typedef tapml_status (*add_fn)(struct element_search *search, size_t index, struct element element);

static tapml_status visit(struct element_search *search, add_fn add)
{
    const struct replay_output *output = search->output;
    const size_t row_bytes = output->width * dtype_bytes(output->dtype);
    for (size_t row = 0; row < output->rows; row++) {
        const double row_rms = compare_scale(
            output->dtype, (const char *)output->expected + row * row_bytes, output->width);
        for (size_t i = row * output->width; i < (row + 1) * output->width; i++) {
            TAPML_TRY(add(search, i, element_at(search, i, row_rms)));
        }
    }
    return TAPML_OK;
}

tapml_status element_search_run(const struct replay_output *output,
                                const struct case_argument *argument,
                                const struct compare_limit *limit,
                                struct arena *arena,
                                struct element_list *out_list)
{
    struct element_list list = {.total = (size_t)replay_output_count(output)};
    struct element_search search = {.output = output,
                                    .argument = argument,
                                    .limit = limit,
                                    .tensor_rms =
                                        compare_scale(output->dtype, output->expected, list.total),
                                    .arena = arena,
                                    .list = &list};
    list.items = arena_array(arena, ELEMENTS_SHOWN, sizeof(*list.items));
    if (!list.items) {
        return status_no_memory();
    }
    TAPML_TRY(visit(&search, add_beyond));
    if (list.count == 0) {
        TAPML_TRY(visit(&search, add_largest));
    }
    *out_list = list;
    return TAPML_OK;
}
