// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// One row for a text: what encoders are asked for as its embedding.
#ifndef TAPML_MODEL_POOL_H
#define TAPML_MODEL_POOL_H

#include <tapml/model/layer.h>

#ifdef __cplusplus
extern "C" {
#endif

// The sum [1, width] of the rows of x [T, width] that the mask i32 [T] does not hide with 0. Its
// direction is that of their mean.
tapml_graph_value model_pool_sum(struct model_context *context,
                                 const char *scope,
                                 tapml_graph_value x,
                                 tapml_graph_value mask,
                                 int64_t width);

// x [1, width] divided by its length, as [width]. A row of zeros stays one.
tapml_graph_value model_pool_unit(struct model_context *context,
                                  const char *scope,
                                  tapml_graph_value x,
                                  int64_t width);

#ifdef __cplusplus
}
#endif

#endif
