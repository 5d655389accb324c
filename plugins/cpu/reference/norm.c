// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

struct norm {
    enum reference_order order;
    const tapml_tensor *x, *weight, *bias, *y; // The middle ones are NULL where there are none.
    bool is_centred;                           // The mean is taken off.
    bool is_length;                            // Rows are divided by the root of the sum itself.
    real eps, offset;
    size_t width;
};

// The sum of x - mean, or of its square.
static real
sum_of(enum reference_order order, struct value_row x, size_t width, real mean, bool is_square)
{
    real sum = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < width; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(order, width, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];

        for (size_t i = piece.begin; i < piece.end; i++) {
            const real value = (real)value_read(x, (ptrdiff_t)i) - mean;

            terms[i - piece.begin] = is_square ? value * value : value;
        }
        arithmetic_sum(order, terms, piece.end - piece.begin, &sum);
    }
    return sum;
}

// Takes `mean` off a row, divides by `root`, and applies weight and bias.
static void
scale(const struct norm *norm, struct value_row x, real mean, real root, struct value_row y)
{
    for (size_t begin = 0; begin < norm->width; begin += ARITHMETIC_CHUNK) {
        const size_t rest = norm->width - begin;
        const size_t count = rest < ARITHMETIC_CHUNK ? rest : ARITHMETIC_CHUNK;
        float weights[ARITHMETIC_CHUNK], biases[ARITHMETIC_CHUNK];

        if (norm->weight != NULL) {
            value_get(norm->weight, begin, count, weights);
        }
        if (norm->bias != NULL) {
            value_get(norm->bias, begin, count, biases);
        }
        for (size_t i = 0; i < count; i++) {
            const real factor = norm->weight != NULL ? norm->offset + (real)weights[i] : (real)1;
            const ptrdiff_t at = (ptrdiff_t)(begin + i);
            const real value = ((real)value_read(x, at) - mean) / root * factor;

            value_write(y, at, (float)(norm->bias != NULL ? value + (real)biases[i] : value));
        }
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct norm *norm = job;

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row x = value_of(norm->x, (size_t)r);
        const real width = (real)norm->width;
        const real mean =
            norm->is_centred ? sum_of(norm->order, x, norm->width, 0, false) / width : 0;
        const real squares = sum_of(norm->order, x, norm->width, mean, true);
        const real root = sqrt((norm->is_length ? squares : squares / width) + norm->eps);

        scale(norm, x, mean, root, value_of(norm->y, (size_t)r));
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct norm *norm)
{
    norm->order = reference_device_of(queue)->order;
    norm->width = value_width(norm->x);

    const struct work work = {
        .count = value_row_count(norm->x),
        .unit_cost = 16 * (uint64_t)norm->width,
        .body = compute,
        .job = norm,
    };

    return work_run(queue, call, &work, norm->y);
}

static tapml_status l2_norm(TAPML_L2_NORM_PARAMS)
{
    return run(queue, call, &(struct norm){.x = x, .y = y, .is_length = true, .eps = (real)eps});
}

static tapml_status layer_norm(TAPML_LAYER_NORM_PARAMS)
{
    return run(queue, call,
               &(struct norm){.x = x,
                              .weight = weight,
                              .bias = bias,
                              .y = y,
                              .is_centred = true,
                              .eps = (real)eps,
                              .offset = (real)offset});
}

static tapml_status rms_norm(TAPML_RMS_NORM_PARAMS)
{
    return run(
        queue, call,
        &(struct norm){.x = x, .weight = weight, .y = y, .eps = (real)eps, .offset = (real)offset});
}

static void add_up(void *job, uint64_t begin, uint64_t end)
{
    const struct norm *norm = job;

    const size_t groups = value_width(norm->y);

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row x = value_of(norm->x, (size_t)r);
        const struct value_row y = value_of(norm->y, (size_t)r / groups);

        value_write(y, (ptrdiff_t)(r % groups),
                    (float)sum_of(norm->order, x, norm->width, 0, false));
    }
}

static tapml_status sum(TAPML_SUM_PARAMS)
{
    struct norm norm = {
        .order = reference_device_of(queue)->order, .x = x, .y = y, .width = value_width(x)};
    const struct work work = {
        .count = value_row_count(x),
        .unit_cost = 4 * (uint64_t)norm.width,
        .body = add_up,
        .job = &norm,
    };

    return work_run(queue, call, &work, y);
}

const tapml_op_impl PRECISE(reference_l2_norm) = TAPML_IMPL(tapml_l2_norm, l2_norm);
const tapml_op_impl PRECISE(reference_layer_norm) = TAPML_IMPL(tapml_layer_norm, layer_norm);
const tapml_op_impl PRECISE(reference_rms_norm) = TAPML_IMPL(tapml_rms_norm, rms_norm);
const tapml_op_impl PRECISE(reference_sum) = TAPML_IMPL(tapml_sum, sum);
