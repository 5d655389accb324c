// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/product.h"

#include <stdbool.h>

// A tile is WEIGHTS rows of weights against ROWS rows of x: its sums fill the registers, and a
// vector that is loaded is used several times. Each sum is one vector of partial sums, which are
// added up at the end. Terms come in blocks, so that the weights of a tile, widened once for all
// rows of x, stay in the first cache, and the rows of x in the second.
enum {
    WEIGHTS = 4, // What vector_sum_four takes.
    ROWS = VECTOR_BYTES == 64   ? 6
           : VECTOR_BYTES == 32 ? 3
                                : 2,
    PAIR = 2,     // The rest of the rows.
    BLOCK = 1024, // A multiple of the lanes, and of what blocks_widen takes.
    LINE_BYTES = 64,
};

// Some terms of some rows of weights, as they are stored or widened, and where they begin in x.
struct panel {
    const unsigned char *weights[WEIGHTS];
    size_t begin, count;
    size_t row;             // The first of the weights, of all.
    bool is_first, is_last; // Sums begin at zero; they are complete, and go to y.
};

// What is known where a tile is compiled.
struct form {
    uint32_t dtype; // Of the weights of a panel.
    size_t weight_count;
};

// Adds the last terms of a panel, fewer than a vector, to `weight_count` times `row_count` sums.
// Out of line: the sums of a tile would else have to be in memory.
static __attribute__((noinline)) void multiply_rest(uint32_t dtype,
                                                    const size_t *counts,
                                                    const struct panel *panel,
                                                    const float *const *rows,
                                                    vector (*totals)[WEIGHTS])
{
    const size_t rest = panel->count % VECTOR_LANES, whole = panel->count - rest;

    for (size_t r = 0; r < counts[1]; r++) {
        const vector values = vector_load_some(TAPML_F32, rows[r] + panel->begin + whole, rest);

        for (size_t i = 0; i < counts[0]; i++) {
            totals[r][i] +=
                values *
                vector_load_some(dtype, panel->weights[i] + whole * TAPML_DT_BYTES(dtype), rest);
        }
    }
}

// Adds the terms of a panel that fill vectors to `weight_count` times `row_count` sums.
VECTOR_INLINE void multiply_tile(const struct form *form,
                                 size_t row_count,
                                 const struct panel *panel,
                                 const float *const *rows,
                                 vector (*sums)[WEIGHTS])
{
    const uint32_t dtype = form->dtype;
    const size_t weight_count = form->weight_count;
    const float *x[ROWS];
    vector weights[WEIGHTS];

    for (size_t r = 0; r < row_count; r++) {
        x[r] = rows[r] + panel->begin;
    }
    for (size_t k = 0; k + VECTOR_LANES <= panel->count; k += VECTOR_LANES) {
        for (size_t i = 0; i < weight_count; i++) {
            weights[i] = vector_load(dtype, panel->weights[i] + k * TAPML_DT_BYTES(dtype));
        }
        for (size_t r = 0; r < row_count; r++) {
            const vector values = vector_load(TAPML_F32, x[r] + k);

            for (size_t i = 0; i < weight_count; i++) {
                sums[r][i] += values * weights[i];
            }
        }
    }
}

// Adds up `sums`, of rows of x from `first` on and of weights from `weight` on.
VECTOR_INLINE void store_sums(const struct product *product,
                              size_t first,
                              size_t row_count,
                              size_t weight,
                              size_t weight_count,
                              vector (*sums)[WEIGHTS])
{
    for (size_t r = 0; r < row_count; r++) {
        float outputs[WEIGHTS];

        vector_sum_four(sums[r], outputs);
        memcpy(product->y[first + r] + weight, outputs, weight_count * sizeof(*outputs));
    }
}

// Adds the terms of a panel to the sums of `row_count` rows of x from `first` on. Where these are
// all terms, the sums never leave the registers.
VECTOR_INLINE void multiply_some(const struct form *form,
                                 size_t first,
                                 size_t row_count,
                                 const struct panel *panel,
                                 const struct product *product,
                                 vector (*all_totals)[WEIGHTS])
{
    const size_t counts[] = {form->weight_count, row_count};
    const int has_rest = panel->count % VECTOR_LANES != 0;
    const float *const *rows = product->rows + first;
    vector(*totals)[WEIGHTS] = all_totals + first, sums[ROWS][WEIGHTS];

    for (size_t r = 0; r < row_count; r++) {
        for (size_t i = 0; i < WEIGHTS; i++) {
            const int is_new = panel->is_first || i >= form->weight_count;

            sums[r][i] = is_new ? (vector){0} : totals[r][i];
        }
    }
    multiply_tile(form, row_count, panel, rows, sums);
    if (panel->is_last && !has_rest) {
        store_sums(product, first, row_count, panel->row, form->weight_count, sums);
        return;
    }
    for (size_t r = 0; r < row_count; r++) {
        for (size_t i = 0; i < form->weight_count; i++) {
            totals[r][i] = sums[r][i];
        }
    }
    if (has_rest) {
        multiply_rest(form->dtype, counts, panel, rows, totals);
    }
    if (panel->is_last) {
        store_sums(product, first, row_count, panel->row, form->weight_count, totals);
    }
}

VECTOR_INLINE void multiply_rows(uint32_t dtype,
                                 size_t weight_count,
                                 const struct panel *panel,
                                 const struct product *product,
                                 vector (*totals)[WEIGHTS])
{
    const struct form form = {dtype, weight_count};
    size_t r = 0;

    for (; r + ROWS <= product->row_count; r += ROWS) {
        multiply_some(&form, r, ROWS, panel, product, totals);
    }
    for (; r + PAIR <= product->row_count; r += PAIR) {
        multiply_some(&form, r, PAIR, panel, product, totals);
    }
    for (; r < product->row_count; r++) {
        multiply_some(&form, r, 1, panel, product, totals);
    }
}

VECTOR_INLINE void multiply(uint32_t dtype,
                            size_t weight_count,
                            const struct panel *panel,
                            const struct product *product,
                            vector (*totals)[WEIGHTS])
{
    if (dtype == TAPML_F32) {
        multiply_rows(TAPML_F32, weight_count, panel, product, totals);
    } else if (dtype == TAPML_F16) {
        multiply_rows(TAPML_F16, weight_count, panel, product, totals);
    } else {
        multiply_rows(TAPML_BF16, weight_count, panel, product, totals);
    }
}

// Widens a row, and fetches the one that is `ahead_bytes` from it.
VECTOR_INLINE void widen_row(
    uint32_t dtype, const unsigned char *source, size_t count, ptrdiff_t ahead_bytes, float *row)
{
    size_t k = 0;

    for (; k + VECTOR_LANES <= count; k += VECTOR_LANES) {
        vector_fetch(source + k * TAPML_DT_BYTES(dtype), ahead_bytes);
        vector_store(row + k, vector_load(dtype, source + k * TAPML_DT_BYTES(dtype)));
    }
    if (k < count) {
        vector_store(row + k,
                     vector_load_some(dtype, source + k * TAPML_DT_BYTES(dtype), count - k));
    }
}

// Points the panel to widened weights, in `scratch`.
VECTOR_INLINE void widen(const struct product *product,
                         size_t weight_count,
                         struct panel *panel,
                         float (*scratch)[BLOCK + VECTOR_LANES])
{
    const ptrdiff_t ahead_bytes = (ptrdiff_t)weight_count * product->weight_step;

    for (size_t i = 0; i < weight_count; i++) {
        if (product->dtype == TAPML_U8) {
            LEVEL(blocks_widen)
            (&product->blocks, panel->row + i, panel->begin, panel->count, scratch[i]);
        } else if (product->dtype == TAPML_F16) {
            widen_row(TAPML_F16, panel->weights[i], panel->count, ahead_bytes, scratch[i]);
        } else {
            widen_row(TAPML_BF16, panel->weights[i], panel->count, ahead_bytes, scratch[i]);
        }
        panel->weights[i] = (const unsigned char *)scratch[i];
    }
}

// All rows of x against the weights from `first` on. One tile reads weights as they are stored;
// where there are more, it pays to widen them before.
VECTOR_INLINE void compute(const struct product *product, size_t first, size_t weight_count)
{
    const int is_encoded = product->dtype == TAPML_U8;
    const int is_tile = product->row_count <= ROWS && !is_encoded;
    const int widens = product->dtype != TAPML_F32 && !is_tile;
    const size_t block = is_tile ? product->term_count : BLOCK;
    vector totals[PRODUCT_BATCH][WEIGHTS];
    float scratch[WEIGHTS][BLOCK + VECTOR_LANES] __attribute__((aligned(64)));
    size_t begin = 0;

    do { // Once where there are no terms: sums are zero then.
        const size_t rest = product->term_count - begin;
        struct panel panel = {
            .begin = begin,
            .count = rest < block ? rest : block,
            .row = first,
            .is_first = begin == 0,
            .is_last = rest <= block,
        };

        for (size_t i = 0; i < weight_count && !is_encoded; i++) {
            panel.weights[i] = (const unsigned char *)product->weights +
                               (ptrdiff_t)(first + i) * product->weight_step +
                               begin * TAPML_DT_BYTES(product->dtype);
        }
        if (widens) {
            widen(product, weight_count, &panel, scratch);
        }
        multiply(widens ? TAPML_F32 : product->dtype, weight_count, &panel, product, totals);
        begin += block;
    } while (begin < product->term_count);
}

// One row of x against row `first` of the weights, line by line.
VECTOR_INLINE void multiply_stream(uint32_t dtype, const struct product *product, size_t first)
{
    const size_t count = product->term_count, line = LINE_BYTES / TAPML_DT_BYTES(dtype);
    const float *x = product->rows[0];
    const unsigned char *weights =
        (const unsigned char *)product->weights + (ptrdiff_t)first * product->weight_step;
    vector totals[1][WEIGHTS] = {{{0}}}, sum = {0};
    size_t k = 0;

    for (; k + line <= count; k += line) {
        vector_fetch(weights + k * TAPML_DT_BYTES(dtype), VECTOR_AHEAD_BYTES);
        for (size_t i = 0; i < line; i += VECTOR_LANES) {
            sum += vector_load(TAPML_F32, x + k + i) *
                   vector_load(dtype, weights + (k + i) * TAPML_DT_BYTES(dtype));
        }
    }
    for (; k < count; k += VECTOR_LANES) {
        const size_t rest = count - k < VECTOR_LANES ? count - k : VECTOR_LANES;

        sum += vector_load_some(TAPML_F32, x + k, rest) *
               vector_load_some(dtype, weights + k * TAPML_DT_BYTES(dtype), rest);
    }
    totals[0][0] = sum;
    store_sums(product, 0, 1, first, 1, totals);
}

VECTOR_INLINE void compute_rows(uint32_t dtype, const struct product *product)
{
    for (size_t row = 0; row < product->weight_count; row++) {
        multiply_stream(dtype, product, row);
    }
}

// One row of x reads each weight once, from memory: faster as one stream that is fetched ahead than
// as some beside each other, for rows of any length.
static void compute_stream(const struct product *product)
{
    if (product->dtype == TAPML_U8) {
        LEVEL(blocks_multiply)
        (&product->blocks, product->rows[0], product->weight_count, product->y[0]);
    } else if (product->dtype == TAPML_F32) {
        compute_rows(TAPML_F32, product);
    } else if (product->dtype == TAPML_F16) {
        compute_rows(TAPML_F16, product);
    } else {
        compute_rows(TAPML_BF16, product);
    }
}

// Shorter vectors cannot stream what has one chain of additions: they would wait for it.
void LEVEL(product_compute)(const struct product *product)
{
    const int can_stream = VECTOR_BYTES == 64 || product->dtype == TAPML_U8;
    size_t first = 0;

    if (can_stream && product->row_count == 1) {
        compute_stream(product);
        return;
    }
    for (; first + WEIGHTS <= product->weight_count; first += WEIGHTS) {
        compute(product, first, WEIGHTS);
    }
    for (; first < product->weight_count; first++) {
        compute(product, first, 1);
    }
}
