// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

struct rope {
    const tapml_tensor *x, *cos, *sin, *y;
    bool interleaved;
    size_t heads, width, half;
};

// One head of one token.
static void rotate(const struct rope *rope, size_t row)
{
    const struct value_row x = value_of(rope->x, row), y = value_of(rope->y, row);
    const float *cos = value_row(rope->cos, row / rope->heads);
    const float *sin = value_row(rope->sin, row / rope->heads);

    for (size_t j = 0; j < rope->half; j++) {
        const ptrdiff_t first = (ptrdiff_t)(rope->interleaved ? 2 * j : j);
        const ptrdiff_t second = (ptrdiff_t)(rope->interleaved ? 2 * j + 1 : j + rope->half);
        const real a = value_read(x, first), b = value_read(x, second);

        value_write(y, first, (float)(a * (real)cos[j] - b * (real)sin[j]));
        value_write(y, second, (float)(b * (real)cos[j] + a * (real)sin[j]));
    }
    for (ptrdiff_t i = (ptrdiff_t)(2 * rope->half); i < (ptrdiff_t)rope->width; i++) {
        value_write(y, i, value_read(x, i));
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t row = begin; row < end; row++) {
        rotate(job, (size_t)row);
    }
}

static tapml_status rope(TAPML_ROPE_PARAMS)
{
    struct rope job = {
        .x = x,
        .cos = cos,
        .sin = sin,
        .y = y,
        .interleaved = interleaved != 0,
        .heads = (size_t)x->shape[1],
        .width = value_width(x),
        .half = value_width(cos),
    };
    const struct work work = {
        .count = value_row_count(x),
        .unit_cost = 4 * (uint64_t)job.width,
        .body = compute,
        .job = &job,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(reference_rope) = TAPML_IMPL(tapml_rope, rope);
