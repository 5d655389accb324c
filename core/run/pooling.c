// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/pooling.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Below this length a vector is not made longer, as torch's normalize.
static const double length_least = 1e-12;

tapml_status pooling_read(const struct options *options, struct pooling *out_pooling)
{
    static const char *const words[] = {"", "cls", "mean", "last"};
    const char *word = options_get(options, "--pool");
    struct pooling pooling = {.is_normalised = options_get(options, "--normalise") != NULL};

    for (size_t i = 1; word != NULL && i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(word, words[i]) == 0) {
            pooling.kind = (enum pooling_kind)i;
        }
    }
    if (word != NULL && pooling.kind == POOLING_NONE) {
        return status_fail(TAPML_INVALID, "--pool is '%s', expected 'cls', 'mean' or 'last'", word);
    }
    if (word == NULL && pooling.is_normalised) {
        return status_fail(TAPML_INVALID, "--normalise needs --pool");
    }
    *out_pooling = pooling;
    return TAPML_OK;
}

void pooling_release(struct pooling *pooling)
{
    alloc_free(pooling->values);
    pooling->values = NULL;
}

tapml_status pooling_find(const struct graph *graph, const char **out_output)
{
    const char *found = NULL;
    long last = -1;

    for (uint32_t i = 0; i < graph->output_count; i++) {
        const char *name = graph->outputs[i].name;

        if (strcmp(name, "last_hidden_state") == 0) {
            *out_output = name;
            return TAPML_OK;
        }
        if (strncmp(name, "hidden.", 7) == 0 && strtol(name + 7, NULL, 10) > last) {
            last = strtol(name + 7, NULL, 10);
            found = name;
        }
    }
    if (found == NULL) {
        return status_fail(TAPML_INVALID, "the model gives no hidden states to pool");
    }
    *out_output = found;
    return TAPML_OK;
}

void pooling_begin(struct pooling *pooling)
{
    pooling_release(pooling);
    pooling->width = 0;
    pooling->rows = 0;
}

static void add_row(struct pooling *pooling, const float *row)
{
    const int is_first = pooling->rows == 0;

    pooling->rows++;
    if (pooling->kind == POOLING_CLS && !is_first) {
        return;
    }
    for (int64_t i = 0; i < pooling->width; i++) {
        pooling->values[i] =
            (double)row[i] + (pooling->kind == POOLING_MEAN ? pooling->values[i] : 0);
    }
}

tapml_status pooling_add(
    struct pooling *pooling, const float *values, int64_t rows, int64_t width, const int32_t *mask)
{
    if (pooling->values == NULL) {
        pooling->values = alloc_array((size_t)width + 1, sizeof(*pooling->values));
        pooling->width = width;
    }
    if (pooling->values == NULL) {
        return status_no_memory();
    }
    if (width != pooling->width) {
        return status_fail(TAPML_INVALID, "expected rows of %lld values, found %lld",
                           (long long)pooling->width, (long long)width);
    }
    for (int64_t row = 0; row < rows; row++) {
        if (mask == NULL || mask[row] != 0) {
            add_row(pooling, values + row * width);
        }
    }
    return TAPML_OK;
}

tapml_status pooling_end(struct pooling *pooling)
{
    double squares = 0;

    if (pooling->rows == 0) {
        return status_fail(TAPML_INVALID, "there is no row to pool");
    }
    for (int64_t i = 0; i < pooling->width; i++) {
        pooling->values[i] /= pooling->kind == POOLING_MEAN ? (double)pooling->rows : 1;
        squares += pooling->values[i] * pooling->values[i];
    }
    const double length = sqrt(squares);

    for (int64_t i = 0; pooling->is_normalised && i < pooling->width; i++) {
        pooling->values[i] /= length > length_least ? length : length_least;
    }
    return TAPML_OK;
}
