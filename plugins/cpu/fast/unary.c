// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "fast/operators.h"
#include "fast/vector.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

// Ops that are made of exp. Rows may be spread, not their elements.
struct unary {
    vector (*function)(vector x);
    const tapml_tensor *x, *y;
    size_t width;
};

static vector sigmoid_of(vector x)
{
    return 1.0f / (1.0f + vector_exp(-x));
}

static vector sigmoid_unit(vector x)
{
    return x / (1.0f + vector_exp(-x));
}

// (1 + tanh(u)) / 2 is 1 / (1 + exp(-2 u)).
static vector gaussian_unit_tanh(vector x)
{
    const vector u = 0.79788456080286535588f * (x + 0.044715f * x * x * x);

    return x / (1.0f + vector_exp(-2.0f * u));
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct unary *op = job;

    for (uint64_t r = begin; r < end; r++) {
        const float *x = value_row(op->x, (size_t)r);
        float *y = value_row(op->y, (size_t)r);
        size_t i = 0;

        for (; i + VECTOR_LANES <= op->width; i += VECTOR_LANES) {
            vector_store(y + i, op->function(vector_load(TAPML_F32, x + i)));
        }
        vector_store_some(y + i, op->function(vector_load_some(TAPML_F32, x + i, op->width - i)),
                          op->width - i);
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct unary *op)
{
    op->width = value_width(op->y);

    const struct work work = {
        .count = value_row_count(op->y),
        .unit_cost = 1 + (uint64_t)op->width,
        .body = compute,
        .job = op,
    };

    return work_run(queue, call, &work, op->y);
}

// The elements of a row are neighbours.
static int is_plain(const tapml_tensor *x)
{
    return value_stride(x, x->rank - 1) == 1;
}

static tapml_status gelu_tanh(TAPML_GELU_TANH_PARAMS)
{
    if (!is_plain(x)) {
        return ((tapml_gelu_tanh_fn)reference_gelu_tanh_f32.fn)(queue, call, x, y);
    }
    return run(queue, call, &(struct unary){gaussian_unit_tanh, .x = x, .y = y});
}

static tapml_status sigmoid(TAPML_SIGMOID_PARAMS)
{
    if (!is_plain(x)) {
        return ((tapml_sigmoid_fn)reference_sigmoid_f32.fn)(queue, call, x, y);
    }
    return run(queue, call, &(struct unary){sigmoid_of, .x = x, .y = y});
}

static tapml_status silu(TAPML_SILU_PARAMS)
{
    if (!is_plain(x)) {
        return ((tapml_silu_fn)reference_silu_f32.fn)(queue, call, x, y);
    }
    return run(queue, call, &(struct unary){sigmoid_unit, .x = x, .y = y});
}

const tapml_op_impl LEVEL(unary_gelu_tanh) = TAPML_IMPL(tapml_gelu_tanh, gelu_tanh);
const tapml_op_impl LEVEL(unary_sigmoid) = TAPML_IMPL(tapml_sigmoid, sigmoid);
const tapml_op_impl LEVEL(unary_silu) = TAPML_IMPL(tapml_silu, silu);
