// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The embedding of a text: one vector of the rows of the last hidden state.
//
// Rows may come in several calls. Any thread; failures are those that a function names.
#pragma once

#include "config/options.h"
#include "graph/graph.h"

enum pooling_kind {
    POOLING_NONE,
    POOLING_CLS,  // The first row.
    POOLING_MEAN, // Of all rows.
    POOLING_LAST  // The last row.
};

#define POOLING_OPTIONS                                                                            \
    {"--pool", "cls|mean|last", "gives the embedding of the text, of its rows by this"},           \
    {                                                                                              \
        "--normalise", NULL, "divides the embedding by its length"                                 \
    }

struct pooling {
    enum pooling_kind kind;
    int is_normalised;
    double *values; // Of `width`; the caller frees them by `pooling_release`.
    int64_t width, rows;
};

// Reads the options above. TAPML_INVALID names a word that is none, and --normalise without --pool.
tapml_status pooling_read(const struct options *options, struct pooling *out_pooling) STATUS_USED;
void pooling_release(struct pooling *pooling);

// The output of a graph whose rows are pooled: "last_hidden_state", else the last "hidden.N".
// TAPML_INVALID if the model has neither.
tapml_status pooling_find(const struct graph *graph, const char **out_output) STATUS_USED;

// Begins another text.
void pooling_begin(struct pooling *pooling);

// Adds `rows` rows; `mask`, if it is not NULL, has a 0 for each that does not count. TAPML_INVALID
// if they are not as wide as the rows before, TAPML_NO_MEMORY.
tapml_status pooling_add(struct pooling *pooling,
                         const float *values,
                         int64_t rows,
                         int64_t width,
                         const int32_t *mask) STATUS_USED;

// Finishes the vector in `values`. TAPML_INVALID if no row counted.
tapml_status pooling_end(struct pooling *pooling) STATUS_USED;
