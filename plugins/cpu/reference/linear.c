// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/operators.h"
#include "reference/product.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

enum { LANES = ARITHMETIC_LANES };

struct linear {
    enum reference_order order;
    const tapml_tensor *x, *w, *b, *y; // `b` is NULL where there is none.
    bool transposed;
    size_t row_count, in, out;
};

// Computes `columns` of the rows from `first_row` on, as many as one product takes.
static void
compute_tile(const struct linear *linear, const struct product_columns *columns, size_t first_row)
{
    const size_t rest = linear->row_count - first_row;
    struct product product = {
        .order = linear->order,
        .term_count = linear->in,
        .row_count = rest < PRODUCT_ROWS ? rest : PRODUCT_ROWS,
        .pack = PRECISE(product_pack),
        .source = columns,
    };
    real sums[PRODUCT_ROWS][ARITHMETIC_LANES];
    float bias[LANES] = {0};

    if (linear->b != NULL) {
        value_get(linear->b, columns->first, columns->count, bias);
    }
    for (size_t r = 0; r < product.row_count; r++) {
        product.rows[r] = value_of(linear->x, first_row + r);
    }
    PRECISE(product_compute)(&product, sums);
    for (size_t r = 0; r < product.row_count; r++) {
        const struct value_row y = value_of(linear->y, first_row + r);

        for (size_t lane = 0; lane < columns->count; lane++) {
            value_write(y, (ptrdiff_t)(columns->first + lane),
                        (float)(sums[r][lane] + (real)bias[lane]));
        }
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct linear *linear = job;

    for (uint64_t group = begin; group < end; group++) {
        const size_t first = (size_t)group * LANES, rest = linear->out - first;
        const struct product_columns columns = {linear->w, first, rest < LANES ? rest : LANES,
                                                linear->transposed};

        for (size_t row = 0; row < linear->row_count; row += PRODUCT_ROWS) {
            compute_tile(linear, &columns, row);
        }
    }
}

static tapml_status linear(TAPML_LINEAR_PARAMS)
{
    struct linear job = {
        .order = reference_device_of(queue)->order,
        .x = x,
        .w = w,
        .b = b,
        .y = y,
        .transposed = transposed != 0,
        .row_count = value_row_count(x),
        .in = value_width(x),
        .out = value_width(y),
    };
    const struct work work = {
        .count = (job.out + LANES - 1) / LANES,
        .unit_cost = (uint64_t)job.row_count * job.in * LANES,
        .body = compute,
        .job = &job,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(reference_linear) = TAPML_IMPL(tapml_linear, linear);
