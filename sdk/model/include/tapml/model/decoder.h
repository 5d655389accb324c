// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ordinary decoder as a description: names of config keys and of tensors, the defaults of its
// class, and in which of the usual ways it differs from Llama.
//
//   h = embed(ids)
//   every layer: h = h + attention(norm(h)); h = h + mlp(norm(h))
//   logits = head(norm(h))
//
// What is NULL or 0 in a description is as Llama has it, or is not there: norms stand where tensors
// are named for them, heads of queries and keys are normalised where those are. A tensor's bias is
// used where the checkpoint has one. An option of a config that is read nowhere is refused by the
// host, by name.
//
// Instances: "embed", "layers.3/attn/q_proj", "layers.3/mlp/down_proj", "norm", "rows", "head".
// Outputs: "hidden.0" behind the embedding, "hidden.i" behind layer i - 1, the last one behind the
// final norm; "logits", of the rows that the host asks for.
#ifndef TAPML_MODEL_DECODER_H
#define TAPML_MODEL_DECODER_H

#include <tapml/model/layer.h>
#include <tapml/model/rope.h>

#ifdef __cplusplus
extern "C" {
#endif

// JSON pointers into the config; several names for one key stand with "|" between them.
struct model_decoder_keys {
    const char *hidden; // Width of the residual stream.
    const char *layers;
    const char *heads;      // Of queries.
    const char *kv_heads;   // Absent: as many as of queries.
    const char *head_width; // Absent: hidden / heads.
    const char *mlp_width;  // Absent: `mlp_factor` times the hidden width.
    const char *vocabulary;
    const char *positions; // Rows of the table of positions, where there is one.
    const char *eps;
    const char *activation;
    const char *is_tied;          // Whether the embedding is the head too.
    const char *attention_biases; // Whether the linear layers of attention have biases,
    const char *mlp_biases;       // and those of the MLP. Without a checkpoint these decide.

    const char *is_rope_interleaved;
    const char *is_parallel; // Attention and MLP both start from h.
    const char *adds_normed; // What is added to is not h but its norm.
    const char *scale_width; // Scores are divided by the root of this, not of a head's width.
    const char *is_scaled;   // False: scores are not divided.
    const char *is_scaled_by_layer; // Scores of layer i are divided by i + 1 besides.
    const char *attention_softcap;  // Softly limits scores,
    const char *logit_softcap;      // and logits.
    const char *logit_scale;        // Factor on the logits.
};

// What the keys mean where a config lacks them.
struct model_decoder_defaults {
    double eps;
    const char *activation;
    int64_t mlp_factor; // 0: the width of the MLP must be there.
    int is_tied;
    int has_attention_biases;
    int has_mlp_biases;
    int is_parallel;
    double scale_width, attention_softcap, logit_softcap; // Null in the config is 0.
    double logit_scale;                                   // 0: 1.
    struct model_rope_defaults rope;
    struct model_rope_defaults local_rope; // MODEL_ROPES_BY_LAYER.
};

// Layers that see only the last tokens. A config lists the kinds of its layers, or they follow from
// a period: every `period`-th layer is full, the others slide. With period 0 all slide.
struct model_decoder_windows {
    const char *window;  // Tokens that a query sees, itself among them; null and 0: all. NULL: no
                         // layer slides.
    const char *is_used; // False or absent: layers slide only where `types` says so.
    const char *types;   // A list of "sliding_attention" and "full_attention".
    const char *periods;
    const char *firsts;      // Where there is no list, earlier layers are full.
    int64_t window_fallback; // Where the key is absent.
    int64_t period, first;   // Likewise.
};

enum model_ropes {
    MODEL_ROPES_ALL,      // One for all layers.
    MODEL_ROPES_SLIDING,  // Only layers that slide are turned.
    MODEL_ROPES_BY_LAYER, // Sliding layers have one of their own.
    MODEL_ROPES_NONE
};

enum model_qkv {
    MODEL_QKV_SEPARATE,
    MODEL_QKV_BLOCKS, // One tensor: all heads of queries, of keys, of values.
    MODEL_QKV_HEADS   // One tensor: each head has its query, key and value.
};

enum model_mlp {
    MODEL_MLP_GATED, // down(act(gate x) * up x)
    MODEL_MLP_FUSED, // The same; one tensor `gate` has the rows of gate, then those of up.
    MODEL_MLP_PLAIN  // down(act(up x))
};

// Without ".weight" and ".bias". In those of a layer "{i}" is its number.
struct model_decoder_tensors {
    const char *embed;
    const char *embed_norm;     // NULL: none. So are the others of which this is said.
    const char *positions;      // NULL: no table of positions is added.
    const char *attention_norm; // NULL: none.
    const char *qkv;            // In place of q, k, v.
    const char *q, *k, *v, *o;
    const char *q_norm, *k_norm;      // Of each head, before it is turned. NULL: none.
    const char *sinks;                // To its end: one more score for each head. NULL: none.
    const char *attention_norm_after; // Of what attention gives. NULL: none.
    const char *mlp_norm; // NULL: none; with `is_parallel` the MLP takes what attention took.
    const char *gate, *up, *down;
    const char *mlp_norm_after; // NULL: none.
    const char *norm, *head;
};

// Latent attention (arXiv 2405.04434): keys and values of all heads come from one short row, and
// all heads share the key that is turned. A head of a query is plain values, then turned ones.
struct model_decoder_latent {
    const char *rank;         // Key: width of that row. NULL: attention is not latent.
    const char *query_rank;   // Key: likewise of queries; null: they come from the tensor `q`.
    const char *plain_width;  // Keys: values of a head that are not turned,
    const char *turned_width; // that are,
    const char *value_width;  // and of its value.
    int64_t rank_fallback, query_rank_fallback; // Where the keys are absent.
    int64_t plain_fallback, turned_fallback, value_fallback;
    double eps; // Of both norms, whatever the config says.
    struct {
        const char *q_down, *q_norm, *q_up;
        const char *kv_down, *kv_norm, *kv_up;
    } tensors;
};

// A mixture of experts in place of the MLP, in the layers that `period` and `dense` leave. Without
// `count` there is none.
struct model_decoder_experts {
    const char *count;        // Key: of experts.
    const char *chosen;       // Key: how many a token takes.
    const char *width;        // Key: of an expert.
    const char *period;       // Key: layers whose number + 1 is a multiple have experts. NULL: all.
    const char *dense;        // Key: a list of layers that have none. NULL: no layer.
    const char *first;        // Key: layers before this one have none. NULL: all may.
    const char *renormalises; // Key: weights are divided by their sum.
    const char *factor;       // Key: and multiplied by this. NULL: 1.
    const char *shared;       // Key: so many more, which every token takes, as one wider MLP.
    const char *method;       // Key: "greedy", or "group_limited_greedy": from the best groups.
    const char *groups, *kept_groups; // Keys: of MODEL_ROUTING_SIGMOID and of that method.
    int64_t count_fallback, chosen_fallback, width_fallback; // Where the keys are absent.
    int64_t first_fallback, shared_fallback, groups_fallback, kept_groups_fallback;
    double factor_fallback;
    int renormalises_fallback;
    enum model_routing routing; // MODEL_ROUTING_SOFTMAX, unless other keys say more.
    enum model_experts_kind {
        MODEL_EXPERTS_SEPARATE, // Tensors of each expert, in whose names "{e}" is its number.
        MODEL_EXPERTS_STACKED   // Of all: gate_up [E, in, 2 out], gate and up in turn, and down
                              // [E, in, out], to their ends, with "_bias"; limited as GPT-OSS does.
    } kind;
    struct {
        const char *router, *gate, *up, *down;
        const char *bias; // To its end: of MODEL_ROUTING_SIGMOID.
        const char *shared_gate, *shared_up, *shared_down;
    } tensors;
};

// A key that is known with one value only; with another the model is refused.
struct model_decoder_expected {
    const char *key, *json;
};

enum { MODEL_DECODER_KEYS_MAX = 16 };

struct model_decoder {
    const char *model_type; // "model_type" in the config,
    const char *class_name; // or, where that is absent, the first of "architectures".
    const char *prefix;     // What the names of tensors may leave out. NULL: nothing.
    enum model_norm_kind norm;
    double norm_offset; // 1 where norms multiply by 1 + weight.
    int has_norm_biases;
    enum model_qkv qkv;
    enum model_mlp mlp;
    enum model_ropes ropes;
    int is_rope_interleaved; // Unless the key says otherwise.
    int is_transposed;       // Weights of layers are [in, out].
    int has_slopes;          // ALiBi (arXiv 2108.12409) as Bloom has it.
    int embed_is_multiplied; // By the root of the hidden width.
    struct model_decoder_keys keys;
    struct model_decoder_defaults defaults;
    struct model_decoder_windows windows;
    struct model_decoder_tensors tensors;
    struct model_decoder_latent latent;
    struct model_decoder_experts experts;
    const char *ignored[MODEL_DECODER_KEYS_MAX]; // Keys that change no number, ended by NULL.
    struct model_decoder_expected expected[MODEL_DECODER_KEYS_MAX]; // Ended by NULL.
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
