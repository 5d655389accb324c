// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Recurrent layers over the host's graph builder: states of a fixed size, and the ops that update
// them. As in layer.h, each function takes the context, the name of the op and the inputs, and
// returns the output value, or 0 after a failure.
#ifndef TAPML_MODEL_RECURRENCE_H
#define TAPML_MODEL_RECURRENCE_H

#include <tapml/model/layer.h>

#ifdef __cplusplus
extern "C" {
#endif

// A state of this shape, zeros at the start of a sequence. "{i}" in its name is the layer.
tapml_graph_value model_fixed_state(struct model_context *context,
                                    const char *name,
                                    const int64_t *shape,
                                    uint32_t rank);

// A tensor of the checkpoint, by its full name, as an operand: one axis of f32, whatever its stored
// type. `name` is the name of the op that widens it, if one is needed.
tapml_graph_value model_operand(struct model_context *context,
                                const char *name,
                                const char *tensor,
                                const int64_t *shape,
                                uint32_t rank);

// An operand [width], repeated for every token: [T, width].
tapml_graph_value
model_every_token(struct model_context *context, tapml_graph_value operand, int64_t width);

// a - b.
tapml_graph_value model_subtract(struct model_context *context,
                                 const char *name,
                                 tapml_graph_value a,
                                 tapml_graph_value b);

// e to the power of x, element by element; and log(1 + e^x).
tapml_graph_value model_exp(struct model_context *context, const char *name, tapml_graph_value x);

tapml_graph_value
model_softplus(struct model_context *context, const char *name, tapml_graph_value x);

// The last axis divided by its Euclidean length; and the sum over the last axis.
tapml_graph_value
model_l2_norm(struct model_context *context, const char *name, tapml_graph_value x, double eps);
tapml_graph_value model_sum(struct model_context *context, const char *name, tapml_graph_value x);

struct model_conv1d {
    tapml_graph_value weight; // [width, taps]
    tapml_graph_value bias;   // [width], or 0.
    tapml_graph_value tail;   // A state [taps - 1, width].
};

// The convolution of each channel of x [T, width] with its own past.
tapml_graph_value model_conv1d(struct model_context *context,
                               const char *name,
                               tapml_graph_value x,
                               const struct model_conv1d *conv);

// The inputs of tapml.linear_scan; kk and a may be 0.
struct model_scan {
    tapml_graph_value r, w, k, v, kk, a;
    tapml_graph_value state; // [heads, V, K]
    int reads_before;
};

// The outputs of the scan: [T, heads, V].
tapml_graph_value
model_linear_scan(struct model_context *context, const char *name, const struct model_scan *scan);

#ifdef __cplusplus
}
#endif

#endif
