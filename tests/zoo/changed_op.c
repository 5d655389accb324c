// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Carries an op of the catalogue under its name and version, with another parameter list.
#include <tapml/op.h>

static const tapml_param add_a = {
    .hdr = TAPML_HDR(tapml_param),
    .name = "a",
    .kind = TAPML_P_TENSOR_IN,
    .dtype = "f32",
    .shape = "*rows, width",
    .layout = "strided",
};
static const tapml_param add_factor = {
    .hdr = TAPML_HDR(tapml_param), .name = "factor", .kind = TAPML_P_F64};
static const tapml_param *const add_params[] = {&add_a, &add_factor};
static const tapml_op add = {
    .hdr = TAPML_HDR(tapml_op),
    .name = "tapml.add",
    .version = 1,
    .n_params = 2,
    .params = add_params,
    .title = "Not what it was",
    .formula = "a = a * factor",
    .tolerance = "elementwise",
};

static tapml_status run(tapml_object *queue, tapml_call *call, const tapml_tensor *a, double factor)
{
    return TAPML_OK;
}

static const tapml_op_impl add_impl = {
    .hdr = TAPML_HDR(tapml_op_impl), .op = &add, .fn = (tapml_fn)run, .convention = 1};

#define ZOO_OP add_impl
#include "zoo.h"
