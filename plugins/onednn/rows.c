// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <tapml/ops.h>

#include <string.h>

enum { ELTWISE_AXES_MAX = 5 };

static const struct {
    const tapml_op *op;
    dnnl_alg_kind_t algorithm;
    float alpha;
} eltwises[] = {
    {&tapml_exp, dnnl_eltwise_exp, 0},
    {&tapml_gelu, dnnl_eltwise_gelu_erf, 0},
    {&tapml_gelu_tanh, dnnl_eltwise_gelu_tanh, 0},
    {&tapml_relu, dnnl_eltwise_relu, 0},
    {&tapml_sigmoid, dnnl_eltwise_logistic, 0},
    {&tapml_silu, dnnl_eltwise_swish, 1},
    {&tapml_tanh, dnnl_eltwise_tanh, 0},
};

// Some primitives have one layout for x and y: where they differ, y is filled first, and is x then.
static struct operand alike(struct run *run, const struct operand *x, const struct operand *y)
{
    if (memcmp(&x->view, &y->view, sizeof(x->view)) == 0) {
        return *x;
    }
    run_step(run, &(struct step){.kind = LIBRARY_REORDER, .operands = {x, y}});
    return *y;
}

void rows_scale(
    struct run *run, const struct operand *x, double scale, double limit, const struct operand *y)
{
    const float inner = (float)(limit > 0 ? scale / limit : scale);
    const struct step steps[] = {
        {LIBRARY_ELTWISE, dnnl_eltwise_linear, inner, 0, {x, y}},
        {LIBRARY_ELTWISE, dnnl_eltwise_tanh, 0, 0, {y, y}},
        {LIBRARY_ELTWISE, dnnl_eltwise_linear, (float)limit, 0, {y, y}},
    };

    for (int i = 0; i < (limit > 0 ? 3 : 1); i++) {
        run_step(run, &steps[i]);
    }
}

void rows_unary(struct run *run, const tapml_value *args)
{
    const struct operand given = run_operand(run, args[0].u.p);
    const struct operand y = run_operand(run, args[run->op->n_params - 1].u.p);
    const struct operand x = alike(run, &given, &y);

    if (y.view.rank > ELTWISE_AXES_MAX) { // Gaps between rows are overlooked there.
        run_refuse(run, "the library's eltwise is wrong with more than 5 axes");
    } else if (run->op == &tapml_scale) {
        rows_scale(run, &x, args[TAPML_SCALE_FACTOR].u.d, 0, &y);
    } else if (run->op == &tapml_softcap) {
        rows_scale(run, &x, 1, args[TAPML_SOFTCAP_LIMIT].u.d, &y);
    }
    for (size_t i = 0; i < sizeof(eltwises) / sizeof(*eltwises); i++) {
        if (run->op == eltwises[i].op) {
            run_step(run,
                     &(struct step){
                         LIBRARY_ELTWISE, eltwises[i].algorithm, eltwises[i].alpha, 0, {&x, &y}});
        }
    }
}

// An axis along which b is repeated has the extent 1 for the library; one of a has the stride 0.
void rows_binary(struct run *run, const tapml_value *args)
{
    const struct operand a = run_operand(run, args[0].u.p), y = run_operand(run, args[2].u.p);
    struct operand b = run_operand(run, args[1].u.p);

    for (int32_t axis = 0; axis < b.view.rank; axis++) {
        b.view.shape[axis] = b.view.stride[axis] == 0 ? 1 : b.view.shape[axis];
    }
    run_step(run, &(struct step){.kind = LIBRARY_BINARY,
                                 .algorithm = run->op == &tapml_add   ? dnnl_binary_add
                                              : run->op == &tapml_sub ? dnnl_binary_sub
                                                                      : dnnl_binary_mul,
                                 .operands = {&a, &b, &y}});
}

void rows_copy(struct run *run, const tapml_value *args)
{
    const struct operand x = run_operand(run, args[TAPML_COPY_X].u.p);
    const struct operand y = run_operand(run, args[TAPML_COPY_Y].u.p);

    if (x.view.type == dnnl_f16) {
        run_refuse(run, "the library's reorder loses the sign of 0 in f16");
    }
    run_step(run, &(struct step){.kind = LIBRARY_REORDER, .operands = {&x, &y}});
}

// A weight as f32, plus an offset; no axes where there is none.
static struct operand
factors_of(struct run *run, const tapml_value *weight, double offset, enum library_scratch scratch)
{
    const struct operand given = run_operand(run, tensor_of(weight));
    const struct operand factors = run_convert(run, &given, dnnl_f32, scratch);
    struct operand sums = factors;

    if (offset != 0 && factors.view.rank > 0) {
        sums = run_scratch(run, scratch, factors.view);
        run_step(run,
                 &(struct step){
                     LIBRARY_ELTWISE, dnnl_eltwise_linear, 1, (float)offset, {&factors, &sums}});
    }
    return sums;
}

// y = x * (mean of x^2, + eps) ^ -1/2, then times the weight.
void rows_rms_norm(struct run *run, const tapml_value *args)
{
    const struct operand x = run_operand(run, args[TAPML_RMS_NORM_X].u.p);
    const struct operand y = run_operand(run, args[TAPML_RMS_NORM_Y].u.p);
    struct operand weight = factors_of(run, &args[TAPML_RMS_NORM_WEIGHT],
                                       args[TAPML_RMS_NORM_OFFSET].u.d, SCRATCH_WEIGHTS);
    const struct operand squares = run_scratch(run, SCRATCH_SUMS, x.view);
    const float eps = (float)args[TAPML_RMS_NORM_EPS].u.d;
    struct view each = x.view;

    each.shape[each.rank - 1] = 1;

    const struct operand factor = run_scratch(run, SCRATCH_SCALES, each);
    const struct step steps[] = {
        {LIBRARY_BINARY, dnnl_binary_mul, 0, 0, {&x, &x, &squares}},
        {LIBRARY_REDUCTION, dnnl_reduction_mean, 0, 0, {&squares, &factor}},
        {LIBRARY_ELTWISE, dnnl_eltwise_linear, 1, eps, {&factor, &factor}},
        {LIBRARY_ELTWISE, dnnl_eltwise_pow, 1, -0.5F, {&factor, &factor}},
        {LIBRARY_BINARY, dnnl_binary_mul, 0, 0, {&x, &factor, &y}},
        {LIBRARY_BINARY, dnnl_binary_mul, 0, 0, {&y, &weight, &y}},
    };
    const size_t count = sizeof(steps) / sizeof(*steps) - (weight.view.rank > 0 ? 0 : 1);

    operand_raise(&weight, x.view.rank);
    for (size_t i = 0; i < count; i++) {
        run_step(run, &steps[i]);
    }
}

void rows_layer_norm(struct run *run, const tapml_value *args)
{
    const struct operand given = run_operand(run, args[TAPML_LAYER_NORM_X].u.p);
    struct operand y = run_operand(run, args[TAPML_LAYER_NORM_Y].u.p);
    const struct operand weight = factors_of(run, &args[TAPML_LAYER_NORM_WEIGHT],
                                             args[TAPML_LAYER_NORM_OFFSET].u.d, SCRATCH_WEIGHTS);
    const struct operand bias = factors_of(run, &args[TAPML_LAYER_NORM_BIAS], 0, SCRATCH_BIAS);
    struct operand x = alike(run, &given, &y);

    if (y.view.rank == 1) {
        operand_raise(&x, 2);
        operand_raise(&y, 2);
    }
    run_step(run, &(struct step){.kind = LIBRARY_LAYER_NORM,
                                 .alpha = (float)args[TAPML_LAYER_NORM_EPS].u.d,
                                 .operands = {&x, &y, &weight, &bias}});
}
