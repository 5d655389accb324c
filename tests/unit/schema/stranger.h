// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the schema layer share.
#pragma once

#include <tapml/op.h>

// A stranger's op with three parameters, each of which a test may corrupt.
struct stranger {
    tapml_param x, factor, y;
    const tapml_param *params[3];
    tapml_op op;
};

static inline void stranger_init(struct stranger *stranger)
{
    stranger->x = (tapml_param){.hdr = TAPML_HDR(tapml_param),
                                .name = "x",
                                .kind = TAPML_P_TENSOR_IN,
                                .dtype = "f32 f16",
                                .shape = "*rows, width",
                                .layout = "rows"};
    stranger->factor =
        (tapml_param){.hdr = TAPML_HDR(tapml_param), .name = "factor", .kind = TAPML_P_F64};
    stranger->y = stranger->x;
    stranger->y.name = "y";
    stranger->y.kind = TAPML_P_TENSOR_OUT;
    stranger->y.dtype = stranger->y.shape = "x";
    stranger->params[0] = &stranger->x;
    stranger->params[1] = &stranger->factor;
    stranger->params[2] = &stranger->y;
    stranger->op = (tapml_op){.hdr = TAPML_HDR(tapml_op),
                              .name = "org.example.scale",
                              .version = 1,
                              .n_params = 3,
                              .params = stranger->params,
                              .tolerance = "elementwise",
                              .flops = "rows * width"};
}
