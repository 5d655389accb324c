// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An op of an animal's own, for zoo.h, that has a plain form: twice a tensor. ZOO_TWICE(value,
// width) is what it computes in rows of that width.
#pragma once

#include "zoo_element.h"

static const tapml_param twice_x = {
    .hdr = TAPML_HDR(tapml_param),
    .name = "x",
    .kind = TAPML_P_TENSOR_IN,
    .dtype = "f32",
    .shape = "*rows, width",
    .layout = "dense",
};
static const tapml_param twice_y = {
    .hdr = TAPML_HDR(tapml_param),
    .name = "y",
    .kind = TAPML_P_TENSOR_OUT,
    .dtype = "x",
    .shape = "x",
    .layout = "dense",
};
static const tapml_param *const twice_params[] = {&twice_x, &twice_y};
static const tapml_op twice = {
    .hdr = TAPML_HDR(tapml_op),
    .name = "org.example.twice",
    .version = 1,
    .n_params = 2,
    .params = twice_params,
    .title = "Twice a tensor",
    .formula = "y = 2 * x",
    .tolerance = "elementwise",
    .expands = "tapml.scale(x = x, factor = 2, y = y)",
};

static tapml_status
run_twice(tapml_object *queue, tapml_call *call, const tapml_tensor *x, const tapml_tensor *y)
{
    const int64_t width = x->shape[x->rank - 1];
    ++own(queue)->calls;
    for (int64_t i = 0; i < count_of(y); ++i) {
        *element(y, i) = (float)ZOO_TWICE(*element(x, i), width);
    }
    return TAPML_OK;
}

static const tapml_op_impl twice_impl = {
    .hdr = TAPML_HDR(tapml_op_impl), .op = &twice, .fn = (tapml_fn)run_twice, .convention = 1};

#define ZOO_OP twice_impl
