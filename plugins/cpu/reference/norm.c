// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "object.h"
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

struct norm {
    enum reference_order order;
    const tapml_tensor *x, *weight, *y; // `weight` is NULL where there is none.
    real eps, offset;
    size_t width;
};

static real sum_of_squares(enum reference_order order, const float *x, size_t width)
{
    real sum = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < width; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(order, width, ARITHMETIC_CHUNK, index);
        real squares[ARITHMETIC_CHUNK];

        for (size_t i = piece.begin; i < piece.end; i++) {
            squares[i - piece.begin] = (real)x[i] * (real)x[i];
        }
        arithmetic_sum(order, squares, piece.end - piece.begin, &sum);
    }
    return sum;
}

// Divides a row by `root` and multiplies it with what stands in place of a weight.
static void scale(const struct norm *norm, const float *x, real root, float *y)
{
    for (size_t begin = 0; begin < norm->width; begin += ARITHMETIC_CHUNK) {
        const size_t rest = norm->width - begin;
        const size_t count = rest < ARITHMETIC_CHUNK ? rest : ARITHMETIC_CHUNK;
        float weights[ARITHMETIC_CHUNK];

        if (norm->weight != NULL) {
            value_get(norm->weight, begin, count, weights);
        }
        for (size_t i = 0; i < count; i++) {
            const real factor = norm->weight != NULL ? norm->offset + (real)weights[i] : (real)1;

            y[begin + i] = (float)((real)x[begin + i] / root * factor);
        }
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct norm *norm = job;

    for (uint64_t r = begin; r < end; r++) {
        const float *x = value_row(norm->x, (size_t)r);
        const real mean = sum_of_squares(norm->order, x, norm->width) / (real)norm->width;

        scale(norm, x, sqrt(mean + norm->eps), value_row(norm->y, (size_t)r));
    }
}

static tapml_status rms_norm(TAPML_RMS_NORM_PARAMS)
{
    struct norm job = {
        .order = object_of(queue)->device->order,
        .x = x,
        .weight = weight,
        .y = y,
        .eps = (real)eps,
        .offset = (real)offset,
        .width = value_width(x),
    };
    const struct work work = {
        .count = value_row_count(x),
        .unit_cost = 16 * (uint64_t)job.width,
        .body = compute,
        .job = &job,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(norm_rms) = TAPML_IMPL(tapml_rms_norm, rms_norm);
