// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/outputs.h"

#include "reference/value.h"

// The outputs from `begin` on whose weights lie in one panel.
struct span {
    const tapml_tensor *panel;
    size_t row; // Of the panel.
    size_t begin, count;
};

static struct span span_of(const struct outputs *outputs, size_t begin)
{
    const size_t rest = outputs->first + outputs->count - begin;
    struct span span = {.panel = outputs->w, .row = begin, .begin = begin};

    while (span.row >= (size_t)span.panel->shape[0]) {
        span.row -= (size_t)span.panel->shape[0];
        span.panel = span.panel->next;
    }
    span.count = (size_t)span.panel->shape[0] - span.row;
    span.count = span.count < rest ? span.count : rest;
    return span;
}

static void point_to_rows(const struct span *span, struct product *product)
{
    const tapml_tensor *panel = span->panel;

    product->weights = value_row(panel, span->row);
    product->weight_step = value_stride(panel, 0) * (ptrdiff_t)TAPML_DT_BYTES(panel->dtype);
}

static void compute_span(const struct outputs *outputs, const struct span *span)
{
    float *y[PRODUCT_BATCH];
    struct product product = {
        .term_count = outputs->in,
        .weight_count = span->count,
        .row_count = outputs->row_count,
        .dtype = span->panel->dtype,
        .rows = outputs->rows,
        .y = y,
    };

    for (size_t r = 0; r < outputs->row_count; r++) {
        y[r] = outputs->y[r] + span->begin;
    }
    if (span->panel->encoding != NULL) {
        product.blocks = LEVEL(blocks_find)(span->panel, span->row);
    } else {
        point_to_rows(span, &product);
    }
    LEVEL(product_compute)(&product);
}

static void add_bias(const struct outputs *outputs)
{
    float bias[OUTPUTS_MAX];

    value_get(outputs->b, outputs->first, outputs->count, bias);
    for (size_t r = 0; r < outputs->row_count; r++) {
        for (size_t i = 0; i < outputs->count; i++) {
            outputs->y[r][outputs->first + i] += bias[i];
        }
    }
}

void LEVEL(outputs_compute)(const struct outputs *outputs)
{
    const size_t end = outputs->first + outputs->count;

    for (size_t begin = outputs->first; begin < end;) {
        const struct span span = span_of(outputs, begin);

        compute_span(outputs, &span);
        begin += span.count;
    }
    if (outputs->b != NULL) {
        add_bias(outputs);
    }
}
