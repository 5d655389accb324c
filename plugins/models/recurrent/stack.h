// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the architectures here share: a stack of residual layers between an embedding and a head.
//
// Instances: "embed", those of the layers, "norm", "rows", "head". Outputs: "hidden.<layers>"
// behind the final norm and "logits", of the rows that the host asks for; the other hidden ones are
// the architecture's.
#pragma once

#include <tapml/model/recurrence.h>
#include <tapml/model/root.h>
#include <tapml/model/rope.h>

enum { STACK_LAYERS_MAX = 1 << 12, STACK_HEADS_MAX = 1 << 14, STACK_WIDTH_MAX = 1 << 24 };

// What a config says of any of them.
struct stack {
    const struct stack_description *description;
    int64_t hidden, layers, vocabulary;
    double eps;
    int is_tied;
};

struct stack_description {
    const char *embed, *older_embed, *norm, *head; // Tensors without ".weight"; the second may be
                                                   // NULL.
    const char *eps;                               // The key,
    double eps_fallback;                           // and what it means where it is absent.
    struct model_norm norm_form;                   // Of all norms of the residual stream.

    // From what is embedded to what the final norm takes. Reads what is the architecture's own.
    tapml_graph_value (*layers)(struct model_context *context,
                                const struct stack *stack,
                                tapml_graph_value h);

    // Reads the rope whose tables are the inputs "rope.cos" and "rope.sin". NULL: there is none.
    void (*rope)(struct model_context *context, struct model_rope *out_rope);
};

// The functions of a struct model_architecture whose description is one of these.
void stack_build(struct model_context *context, const void *description);
void stack_fill(struct model_context *context,
                const void *description,
                const struct model_fill *fill);

// A norm of the residual stream.
tapml_graph_value stack_norm(struct model_context *context,
                             const struct stack *stack,
                             const char *name,
                             const char *tensor,
                             tapml_graph_value x);

// A linear layer without a bias, unless the checkpoint has one.
tapml_graph_value stack_linear(struct model_context *context,
                               const char *name,
                               const char *tensor,
                               tapml_graph_value x,
                               int64_t in,
                               int64_t out);

// A whole number from 1 on at a key such as "/num_heads".
int64_t stack_count(struct model_context *context, const char *key, int64_t fallback, int64_t most);

// Views: [T, heads, width] of x [T, heads * width], and back.
tapml_graph_value
stack_heads(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width);
tapml_graph_value stack_rows(struct model_context *context, tapml_graph_value x, int64_t width);

// x [T, heads, 1] or an operand [heads], as if it were [T, heads, width].
tapml_graph_value
stack_widen(struct model_context *context, tapml_graph_value x, int64_t heads, int64_t width);

// The weight "[width, 1, taps]" of a convolution that PyTorch keeps, as [width, taps].
tapml_graph_value
stack_taps(struct model_context *context, const char *tensor, int64_t width, int64_t taps);

// silu(conv(x)) over x [T, width] with the taps `tensor`, its bias where the checkpoint has one,
// and the state "layers.{i}/tail".
tapml_graph_value stack_conv(struct model_context *context,
                             const char *tensor,
                             tapml_graph_value x,
                             int64_t width,
                             int64_t taps,
                             int has_bias);
