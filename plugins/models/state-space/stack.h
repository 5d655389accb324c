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
#include <tapml/model/sizes.h>

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
    int is_tied;                                   // Where the config does not say it.
    struct {
        int64_t hidden, layers, vocabulary;
    } sizes;                     // Where the config does not say them. 0: it must.
    double final_eps;            // Of the last norm. 0: that of the others.
    struct model_norm norm_form; // Of all norms of the residual stream.

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

// The layers of a stack of mixers, h = h + mixer(norm(h)), whose norms are
// `backbone.layers.{i}.norm`. `own` is passed to `mixer`.
typedef tapml_graph_value
stack_mixer(struct model_context *context, const void *own, tapml_graph_value x);
tapml_graph_value stack_mixers(struct model_context *context,
                               const struct stack *stack,
                               stack_mixer *mixer,
                               const void *own,
                               tapml_graph_value h);

// 'expand' times the hidden width.
int64_t stack_expanded(struct model_context *context, const struct stack *stack);

// The extent of an axis of a tensor with this full name, which must be there, with this rank and
// the other extents of `shape`; without a checkpoint that of `shape`.
int64_t stack_extent(struct model_context *context,
                     const char *name,
                     const int64_t *shape,
                     uint32_t rank,
                     uint32_t axis);
