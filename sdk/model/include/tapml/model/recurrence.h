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

// A linear layer without a bias, unless the checkpoint has one.
tapml_graph_value model_linear_of(struct model_context *context,
                                  const char *name,
                                  const char *tensor,
                                  tapml_graph_value x,
                                  int64_t in,
                                  int64_t out);

// The product of x [..., in] with a weight that is a value, [out, in] or transposed, without a
// bias.
tapml_graph_value model_linear_value(struct model_context *context,
                                     const char *name,
                                     tapml_graph_value x,
                                     tapml_graph_value weight,
                                     int is_transposed);

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

// Views: [T, heads, width] of x [T, heads * width], and back.
tapml_graph_value
model_in_heads(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width);
tapml_graph_value model_in_rows(struct model_context *context, tapml_graph_value x, int64_t width);

// x [T, heads, 1] or an operand [heads], as if it were [T, heads, width].
tapml_graph_value
model_widen(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width);

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

// The weight "[width, 1, taps]" of a convolution that PyTorch keeps, as [width, taps].
tapml_graph_value
model_taps(struct model_context *context, const char *tensor, int64_t width, int64_t taps);

// The convolution of x [T, width] with the taps `tensor`, its bias where the checkpoint has one,
// and the state "layers.{i}/tail".
tapml_graph_value model_conv1d_of(struct model_context *context,
                                  const char *tensor,
                                  tapml_graph_value x,
                                  int64_t width,
                                  int64_t taps,
                                  int has_bias);

// The inputs of tapml.linear_scan; kk and a may be 0.
struct model_scan {
    tapml_graph_value r, w, k, v, kk, a;
    tapml_graph_value state; // [heads, V, K]
    int reads_before;
};

// The outputs of the scan: [T, heads, V].
tapml_graph_value
model_linear_scan(struct model_context *context, const char *name, const struct model_scan *scan);

// The inputs of tapml.wkv4.
struct model_wkv4 {
    tapml_graph_value w, u;  // [width]
    tapml_graph_value k, v;  // [T, width]
    tapml_graph_value state; // [3, width]
};

// The weighted means: [T, width].
tapml_graph_value
model_wkv4(struct model_context *context, const char *name, const struct model_wkv4 *mean);

#ifdef __cplusplus
}
#endif

#endif
