// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ordinary decoder as a description: names of config keys and of tensors, and the defaults of
// its class.
//
//   h = embed(ids)
//   every layer: h = h + attention(norm(h)); h = h + mlp(norm(h))
//   logits = head(norm(h))
//
// Norms are root mean square, attention is causal with grouped key and value heads and turned by
// rope, the MLP is down(act(gate x) * up x). A tensor's bias is used where the checkpoint has one.
//
// Instances: "embed", "layers.3/attn/q_proj", "layers.3/mlp/down_proj", "norm", "rows", "head".
// Outputs: "hidden.0" behind the embedding, "hidden.i" behind layer i - 1, the last one behind the
// final norm; "logits", of the rows that the host asks for.
#ifndef TAPML_MODEL_DECODER_H
#define TAPML_MODEL_DECODER_H

#include <tapml/model/rope.h>

#ifdef __cplusplus
extern "C" {
#endif

// JSON pointers into the config.
struct model_decoder_keys {
    const char *hidden; // Width of the residual stream.
    const char *layers;
    const char *heads;      // Of queries.
    const char *kv_heads;   // Absent: as many as of queries.
    const char *head_width; // Absent: hidden / heads.
    const char *mlp_width;
    const char *vocabulary;
    const char *eps;
    const char *activation;
    const char *is_tied;          // Whether the embedding is the head too.
    const char *attention_biases; // Whether the linear layers of attention have biases,
    const char *mlp_biases;       // and those of the MLP. Without a checkpoint these decide.
};

// What the keys mean where a config lacks them.
struct model_decoder_defaults {
    double eps;
    const char *activation;
    int is_tied;
    int has_attention_biases;
    int has_mlp_biases;
    struct model_rope_defaults rope;
};

// Without ".weight" and ".bias". In those of a layer "{i}" is its number.
struct model_decoder_tensors {
    const char *embed;
    const char *attention_norm, *q, *k, *v, *o;
    const char *mlp_norm, *gate, *up, *down;
    const char *norm, *head;
};

struct model_decoder {
    const char *model_type; // "model_type" in the config,
    const char *class_name; // or, where that is absent, the first of "architectures".
    struct model_decoder_keys keys;
    struct model_decoder_defaults defaults;
    struct model_decoder_tensors tensors;
};

// The root object of a component that is this decoder: for its `create`. `decoder` is constant and
// stays. The component's `host_needs` is model_host_needs.
tapml_status model_decoder_create(const struct model_decoder *decoder,
                                  const tapml_host *host,
                                  tapml_call *call,
                                  tapml_object **out_root);

#ifdef __cplusplus
}
#endif

#endif
