// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/operators.h"
#include "fast/vector.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

// Pairs whose members lie in the two halves of what is turned: vectors without shuffling.
struct rope {
    const tapml_tensor *x, *cos, *sin, *y;
    size_t heads, width, half;
};

// One head of one token.
static void rotate(const struct rope *rope, size_t row)
{
    const size_t half = rope->half;
    const float *x = value_row(rope->x, row);
    const float *cos = value_row(rope->cos, row / rope->heads);
    const float *sin = value_row(rope->sin, row / rope->heads);
    float *y = value_row(rope->y, row);
    size_t j = 0;

    for (; j + VECTOR_LANES <= half; j += VECTOR_LANES) {
        const vector a = vector_load(TAPML_F32, x + j), b = vector_load(TAPML_F32, x + half + j);
        const vector c = vector_load(TAPML_F32, cos + j), s = vector_load(TAPML_F32, sin + j);

        vector_store(y + j, a * c - b * s);
        vector_store(y + half + j, b * c + a * s);
    }
    for (; j < half; j++) {
        y[j] = x[j] * cos[j] - x[half + j] * sin[j];
        y[half + j] = x[half + j] * cos[j] + x[j] * sin[j];
    }
    memcpy(y + 2 * half, x + 2 * half, (rope->width - 2 * half) * sizeof(*y));
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
        .heads = (size_t)x->shape[1],
        .width = value_width(x),
        .half = value_width(cos),
    };
    const struct work work = {
        .count = value_row_count(x),
        .unit_cost = 1 + (uint64_t)job.width,
        .body = compute,
        .job = &job,
    };

    if (interleaved != 0) {
        return ((tapml_rope_fn)reference_rope_f32.fn)(queue, call, x, cos, sin, interleaved, y);
    }
    return work_run(queue, call, &work, y);
}

const tapml_op_impl LEVEL(rope) = TAPML_IMPL(tapml_rope, rope);
