// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/operators.h"
#include "fast/outputs.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

enum {
    // That one thread computes at a time: few, so that threads share small weights.
    OUTPUTS = 32,
    OUTPUTS_ENCODED = 128, // What is made of a row of x must be worth it (fast/digits.h).
    READING = 4,           // To read a weight from memory costs as much as to use it for some rows.
};

struct linear {
    const tapml_tensor *x, *w, *b, *y; // `b` is NULL where there is none.
    size_t row_count, in, out;
    size_t unit; // Outputs that are computed together.
};

static void
compute_rows(const struct linear *linear, size_t first_row, uint64_t begin, uint64_t end)
{
    const size_t rest = linear->row_count - first_row;
    struct outputs outputs;

    outputs.w = linear->w;
    outputs.b = linear->b;
    outputs.in = linear->in;
    outputs.row_count = rest < PRODUCT_BATCH ? rest : PRODUCT_BATCH;
    for (size_t r = 0; r < outputs.row_count; r++) {
        outputs.rows[r] = value_row(linear->x, first_row + r);
        outputs.y[r] = value_row(linear->y, first_row + r);
    }
    for (uint64_t unit = begin; unit < end; unit++) {
        outputs.first = (size_t)unit * linear->unit;
        outputs.count = linear->out - outputs.first;
        outputs.count = outputs.count < linear->unit ? outputs.count : linear->unit;
        LEVEL(outputs_compute)(&outputs);
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct linear *linear = job;

    for (size_t row = 0; row < linear->row_count; row += PRODUCT_BATCH) {
        compute_rows(linear, row, begin, end);
    }
}

static tapml_status linear(TAPML_LINEAR_PARAMS)
{
    struct linear job = {
        .x = x,
        .w = w,
        .b = b,
        .y = y,
        .row_count = value_row_count(x),
        .in = value_width(x),
        .out = value_width(y),
        .unit = w->encoding != NULL ? OUTPUTS_ENCODED : OUTPUTS,
    };
    const struct work work = {
        .count = (job.out + job.unit - 1) / job.unit,
        .unit_cost = job.unit * (uint64_t)job.in * (job.row_count + READING) / VECTOR_LANES,
        .body = compute,
        .job = &job,
    };

    if (transposed != 0) {
        return ((tapml_linear_fn)reference_linear_f32.fn)(queue, call, x, w, b, transposed, y);
    }
    return work_run(queue, call, &work, y);
}

const tapml_op_impl LEVEL(linear) = TAPML_IMPL(tapml_linear, linear);
