// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

// Ops of one operand and up to two numbers, element by element.
struct unary {
    real (*function)(real x, const real *numbers);
    const tapml_tensor *x, *y;
    real numbers[2];
    ptrdiff_t x_step, width;
};

static real sigmoid_of(real x, const real *unused)
{
    return 1 / (1 + exp(-x));
}

static real sigmoid_unit(real x, const real *unused)
{
    return x / (1 + exp(-x));
}

// erfc keeps all digits where 1 + erf loses them.
static real gaussian_unit(real x, const real *unused)
{
    return x / 2 * erfc(-x * (real)0.70710678118654752440);
}

// (1 + tanh(u)) / 2 is 1 / (1 + exp(-2 u)).
static real gaussian_unit_tanh(real x, const real *unused)
{
    const real u = (real)0.79788456080286535588 * (x + (real)0.044715 * x * x * x);

    return x / (1 + exp(-2 * u));
}

static real rectified(real x, const real *unused)
{
    return x < 0 ? 0 : x;
}

static real scaled(real x, const real *factor)
{
    return *factor * x;
}

static real capped(real x, const real *limit)
{
    return *limit * tanh(x / *limit);
}

static real between(real x, const real *limits)
{
    return x < limits[0] ? limits[0] : x > limits[1] ? limits[1] : x;
}

static real hyperbolic_tangent(real x, const real *unused)
{
    return tanh(x);
}

static real exponential(real x, const real *unused)
{
    return exp(x);
}

// The step from 0 to x, softened: log1p keeps all digits where exp(x) is small.
static real softened(real x, const real *unused)
{
    return (x < 0 ? 0 : x) + log1p(exp(x < 0 ? x : -x));
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    const struct unary *op = job;

    for (uint64_t r = begin; r < end; r++) {
        const struct value_row x = value_of(op->x, (size_t)r), y = value_of(op->y, (size_t)r);

        for (ptrdiff_t i = 0; i < op->width; i++) {
            value_write(y, i, (float)op->function(value_read(x, i * op->x_step), op->numbers));
        }
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct unary *op)
{
    op->width = (ptrdiff_t)value_width(op->y);
    op->x_step = value_stride(op->x, op->x->rank - 1);

    const struct work work = {
        .count = value_row_count(op->y),
        .unit_cost = 8 * (uint64_t)op->width,
        .body = compute,
        .job = op,
    };

    return work_run(queue, call, &work, op->y);
}

static tapml_status clip(TAPML_CLIP_PARAMS)
{
    return run(queue, call,
               &(struct unary){between, .x = x, .y = y, .numbers = {(real)low, (real)high}});
}

static tapml_status exp_op(TAPML_EXP_PARAMS)
{
    return run(queue, call, &(struct unary){exponential, .x = x, .y = y});
}

static tapml_status gelu(TAPML_GELU_PARAMS)
{
    return run(queue, call, &(struct unary){gaussian_unit, .x = x, .y = y});
}

static tapml_status gelu_tanh(TAPML_GELU_TANH_PARAMS)
{
    return run(queue, call, &(struct unary){gaussian_unit_tanh, .x = x, .y = y});
}

static tapml_status relu(TAPML_RELU_PARAMS)
{
    return run(queue, call, &(struct unary){rectified, .x = x, .y = y});
}

static tapml_status scale(TAPML_SCALE_PARAMS)
{
    return run(queue, call, &(struct unary){scaled, .x = x, .y = y, .numbers = {(real)factor}});
}

static tapml_status sigmoid(TAPML_SIGMOID_PARAMS)
{
    return run(queue, call, &(struct unary){sigmoid_of, .x = x, .y = y});
}

static tapml_status silu(TAPML_SILU_PARAMS)
{
    return run(queue, call, &(struct unary){sigmoid_unit, .x = x, .y = y});
}

static tapml_status softcap(TAPML_SOFTCAP_PARAMS)
{
    return run(queue, call, &(struct unary){capped, .x = x, .y = y, .numbers = {(real)limit}});
}

static tapml_status tangent(TAPML_TANH_PARAMS)
{
    return run(queue, call, &(struct unary){hyperbolic_tangent, .x = x, .y = y});
}

static tapml_status softplus(TAPML_SOFTPLUS_PARAMS)
{
    return run(queue, call, &(struct unary){softened, .x = x, .y = y});
}

const tapml_op_impl PRECISE(reference_clip) = TAPML_IMPL(tapml_clip, clip);
const tapml_op_impl PRECISE(reference_exp) = TAPML_IMPL(tapml_exp, exp_op);
const tapml_op_impl PRECISE(reference_gelu) = TAPML_IMPL(tapml_gelu, gelu);
const tapml_op_impl PRECISE(reference_gelu_tanh) = TAPML_IMPL(tapml_gelu_tanh, gelu_tanh);
const tapml_op_impl PRECISE(reference_relu) = TAPML_IMPL(tapml_relu, relu);
const tapml_op_impl PRECISE(reference_scale) = TAPML_IMPL(tapml_scale, scale);
const tapml_op_impl PRECISE(reference_sigmoid) = TAPML_IMPL(tapml_sigmoid, sigmoid);
const tapml_op_impl PRECISE(reference_silu) = TAPML_IMPL(tapml_silu, silu);
const tapml_op_impl PRECISE(reference_softcap) = TAPML_IMPL(tapml_softcap, softcap);
const tapml_op_impl PRECISE(reference_tanh) = TAPML_IMPL(tapml_tanh, tangent);
const tapml_op_impl PRECISE(reference_softplus) = TAPML_IMPL(tapml_softplus, softplus);
