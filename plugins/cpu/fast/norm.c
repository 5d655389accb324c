// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/operators.h"
#include "fast/vector.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <math.h>
#include <stdbool.h>

enum {
    CHAINS = 4,    // Vectors of partial sums, which do not wait for each other.
    COLUMNS = 256, // Weights that are widened at a time; a multiple of the lanes.
};

struct norm {
    const tapml_tensor *x, *weight, *bias, *y; // The middle ones are NULL where there are none.
    bool is_centred;                           // The mean is taken off.
    float eps, offset;
    size_t width;
};

VECTOR_INLINE vector term(bool is_square, vector x, float mean)
{
    const vector value = x - mean;

    return is_square ? value * value : value;
}

// The sum of x - mean, or of its square.
VECTOR_INLINE float sum_of(bool is_square, const float *x, size_t width, float mean)
{
    vector sums[CHAINS] = {{0}};
    size_t i = 0;

    for (; i + CHAINS * VECTOR_LANES <= width; i += CHAINS * VECTOR_LANES) {
        for (size_t chain = 0; chain < CHAINS; chain++) {
            sums[chain] +=
                term(is_square, vector_load(TAPML_F32, x + i + chain * VECTOR_LANES), mean);
        }
    }

    float sum = vector_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));

    for (; i < width; i++) {
        const float value = x[i] - mean;

        sum += is_square ? value * value : value;
    }
    return sum;
}

// Takes `mean` off a row, multiplies by `inverse`, and applies weight and bias.
static void scale(const struct norm *norm, const float *x, float mean, float inverse, float *y)
{
    for (size_t begin = 0; begin < norm->width; begin += COLUMNS) {
        const size_t rest = norm->width - begin, count = rest < COLUMNS ? rest : COLUMNS;
        float weights[COLUMNS], biases[COLUMNS];

        for (size_t i = 0; i < COLUMNS; i++) {
            weights[i] = 1 - norm->offset;
            biases[i] = 0;
        }
        if (norm->weight != NULL) {
            value_get(norm->weight, begin, count, weights);
        }
        if (norm->bias != NULL) {
            value_get(norm->bias, begin, count, biases);
        }
        for (size_t i = 0; i < count; i++) {
            y[begin + i] =
                (x[begin + i] - mean) * inverse * (norm->offset + weights[i]) + biases[i];
        }
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct norm *norm = job;

    for (uint64_t r = begin; r < end; r++) {
        const float *x = value_row(norm->x, (size_t)r);
        const float width = (float)norm->width;
        const float mean = norm->is_centred ? sum_of(false, x, norm->width, 0) / width : 0;
        const float variance = sum_of(true, x, norm->width, mean) / width;

        scale(norm, x, mean, 1 / sqrtf(variance + norm->eps), value_row(norm->y, (size_t)r));
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct norm *norm)
{
    norm->width = value_width(norm->x);

    const struct work work = {
        .count = value_row_count(norm->x),
        .unit_cost = 1 + (uint64_t)norm->width,
        .body = compute,
        .job = norm,
    };

    return work_run(queue, call, &work, norm->y);
}

static tapml_status layer_norm(TAPML_LAYER_NORM_PARAMS)
{
    return run(queue, call,
               &(struct norm){.x = x,
                              .weight = weight,
                              .bias = bias,
                              .y = y,
                              .is_centred = true,
                              .eps = (float)eps,
                              .offset = (float)offset});
}

static tapml_status rms_norm(TAPML_RMS_NORM_PARAMS)
{
    return run(queue, call,
               &(struct norm){
                   .x = x, .weight = weight, .y = y, .eps = (float)eps, .offset = (float)offset});
}

const tapml_op_impl LEVEL(norm_layer) = TAPML_IMPL(tapml_layer_norm, layer_norm);
const tapml_op_impl LEVEL(norm_rms) = TAPML_IMPL(tapml_rms_norm, rms_norm);
