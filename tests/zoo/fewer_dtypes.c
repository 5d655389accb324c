// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Carries an op of the catalogue with a shorter list of dtypes than the host has: tapml.silu of f32
// alone. Its texts, cost and tolerance differ, too.
#include <tapml/op.h>

static const tapml_param silu_x = {.hdr = TAPML_HDR(tapml_param),
                                   .name = "x",
                                   .kind = TAPML_P_TENSOR_IN,
                                   .dtype = "f32",
                                   .shape = "*rows, width",
                                   .layout = "strided"};
static const tapml_param silu_y = {.hdr = TAPML_HDR(tapml_param),
                                   .name = "y",
                                   .kind = TAPML_P_TENSOR_OUT,
                                   .dtype = "x",
                                   .shape = "x",
                                   .layout = "rows"};
static const tapml_param *const silu_params[] = {&silu_x, &silu_y};
static const tapml_op silu = {.hdr = TAPML_HDR(tapml_op),
                              .name = "tapml.silu",
                              .version = 1,
                              .n_params = 2,
                              .params = silu_params,
                              .title = "Swish",
                              .formula = "y = x * sigmoid(x)",
                              .tolerance = "reduction",
                              .flops = "9 * rows * width"};

// Nobody compares what it computes: it only must not be given what it does not list.
static tapml_status
run(tapml_object *queue, tapml_call *call, const tapml_tensor *x, const tapml_tensor *y)
{
    return x->dtype == TAPML_F32 && y->dtype == TAPML_F32 ? TAPML_OK : TAPML_INTERNAL;
}

static const tapml_op_impl fewer_impl = {
    .hdr = TAPML_HDR(tapml_op_impl), .op = &silu, .fn = (tapml_fn)run, .convention = 1};

#define ZOO_OP fewer_impl
#include "zoo.h"
