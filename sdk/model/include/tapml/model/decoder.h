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
// What is not a matter of names, numbers and defaults is a function: a description is composed of
// those of <tapml/model/block.h>, and brings its own for what no other architecture has.
//
// This is not part of the ABI. Description and library, which is static, are linked into one plugin
// and are of one version of the SDK, so the structs carry no size, and a later version may change
// them. A description names the members that it sets.
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

struct model_block;
struct model_heads;
struct model_experts;
struct model_sizes;

// From x to what becomes of it, of the context's layer where it stands in one.
typedef tapml_graph_value
model_value_fn(struct model_context *context, const struct model_block *block, tapml_graph_value x);

// Queries, keys and values of x [T, hidden], as the softmax sees them or a checkpoint lays them
// out, and what is done to them in between.
typedef struct model_heads
model_heads_fn(struct model_context *context, const struct model_block *block, tapml_graph_value x);
typedef void model_heads_step_fn(struct model_context *context,
                                 const struct model_block *block,
                                 struct model_heads *heads);

// Changes the options of attention, which are those of Llama and of the layer's window.
typedef void model_attention_fn(struct model_context *context,
                                const struct model_block *block,
                                struct model_attention *attention);

// The factors [heads] of distances that are added to scores; 0 where the config wants none.
typedef tapml_graph_value model_slopes_fn(struct model_context *context, int64_t heads);

// Changes what was read of a config, before the ropes are.
typedef void model_sizes_fn(struct model_context *context, struct model_sizes *sizes);

// Whether the rope turns heads in this layer. Without it the table of the rope is no input.
typedef int model_turns_fn(struct model_context *context, int64_t layer);

// Whether the context's layer has experts.
typedef int model_experts_layer_fn(struct model_context *context, const struct model_block *block);

// The choice by scores [T, experts], and its weights.
typedef struct model_route model_experts_choice_fn(struct model_context *context,
                                                   const struct model_block *block,
                                                   const struct model_experts *experts,
                                                   tapml_graph_value scores);

// The factors of queries at the positions first .. first + count - 1, for model_heads_factor.
typedef void
model_factors_fn(struct model_context *context, int64_t first, int64_t count, float *out_factors);

// What the chosen experts make of x [T, 1, hidden], or [T, chosen, hidden] with `weighs_inputs`:
// [T, chosen, hidden].
typedef tapml_graph_value model_experts_fn(struct model_context *context,
                                           const struct model_block *block,
                                           const struct model_experts *experts,
                                           tapml_graph_value x);

// JSON pointers into the config; several names for one key stand with "|" between them.
struct model_decoder_keys {
    const char *hidden;      // Width of the residual stream.
    const char *embed_width; // Of the embedding and the head. Absent: the same.
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
    const char *output_biases;    // the one behind it, where that is not said with the others,
    const char *mlp_biases;       // those of the MLP,
    const char *head_biases;      // and the head. Without a checkpoint these decide.
    const char *norm_weights;     // Whether norms have weights.

    const char *is_rope_interleaved;
    const char *is_parallel; // Attention and MLP both start from h.
    const char *adds_normed; // What is added to is not h but its norm.
};

// The bias of what stands behind attention.
enum model_output_bias {
    MODEL_OUTPUT_BIAS_AS_OTHERS, // Those of queries, keys and values.
    MODEL_OUTPUT_BIAS_NEVER,
    MODEL_OUTPUT_BIAS_ALWAYS
};

// What the keys mean where a config lacks them.
struct model_decoder_defaults {
    struct {
        int64_t hidden, layers, heads, kv_heads, head_width, mlp_width, vocabulary, positions;
    } sizes; // 0: as the keys say; the others must be there.
    double eps;
    const char *activation;
    int64_t mlp_factor; // 0: the width of the MLP must be there.
    int is_tied;
    int has_attention_biases;
    enum model_output_bias output_bias;
    int has_mlp_biases;
    int has_head_bias;
    int has_bare_norms; // Without weights.
    int is_parallel;
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

// Without ".weight" and ".bias". In those of a layer "{i}" is its number; behind the layers it is
// how many there are. "{i+1}" is one more.
struct model_decoder_tensors {
    const char *embed;
    const char *embed_norm;     // NULL: none. So are the others of which this is said.
    const char *positions;      // NULL: no table of positions is added.
    const char *attention_norm; // NULL: none.
    const char *qkv;            // In place of q, k, v.
    const char *q, *k, *v, *o;
    const char *q_norm, *k_norm;      // Of each head. NULL: none.
    const char *attention_norm_after; // Of what attention gives. NULL: none.
    const char *mlp_norm; // NULL: none; with `is_parallel` the MLP takes what attention took.
    const char *gate, *up, *down;
    const char *mlp_norm_after; // NULL: none.
    const char *norm, *head;
    const char *newer_head; // In place of the head, where the checkpoint has no such tensor.
};

// Latent attention (arXiv 2405.04434): keys and values of all heads come from one short row, and
// all heads share the key that is turned. A head of a query is plain values, then turned ones.
struct model_decoder_latent {
    const char *rank;         // Key: width of that row.
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

// A mixture of experts (arXiv 1701.06538) in place of the MLP, in the layers that `period`, `first`
// and `dense` leave: a router chooses, what the chosen experts give is added up.
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
    int has_router_bias;
    int weighs_inputs;               // Weights multiply what experts take, not what they give.
    model_experts_layer_fn *layer;   // NULL: model_experts_layer.
    model_experts_choice_fn *choice; // NULL: model_experts_choice.
    model_experts_fn *products;      // NULL: model_experts_separate.
    model_value_fn *besides;         // What every token takes in addition; NULL: by `shared`.
    struct {
        const char *router, *gate, *up, *down; // "{e}" is the number of an expert.
        const char *bias;                      // To its end: of MODEL_ROUTING_SIGMOID.
        const char *shared_gate, *shared_up, *shared_down;
    } tensors;
};

// A key that is known with one value only; with another the model is refused.
struct model_decoder_expected {
    const char *key, *json;
};

enum { MODEL_DECODER_KEYS_MAX = 16, MODEL_DECODER_STEPS_MAX = 4 };

struct model_decoder {
    const char *model_type; // "model_type" in the config,
    const char *class_name; // or, where that is absent, the first of "architectures".
    const char *old_types;  // Other names of the type, with "|" between them. NULL: none.

    model_sizes_fn *resize; // NULL: sizes are as the keys say.

    // Steps are ended by NULL.
    model_value_fn *embed_steps[MODEL_DECODER_STEPS_MAX];     // Behind the embedding.
    model_value_fn *layer;                                    // NULL: model_layer_residual.
    model_value_fn *mixer;                                    // NULL: model_mixer_attention.
    model_heads_fn *heads;                                    // NULL: by the next two.
    model_heads_fn *layout;                                   // NULL: model_layout_separate.
    model_heads_step_fn *head_steps[MODEL_DECODER_STEPS_MAX]; // None: model_heads_norm, _turn.
    model_attention_fn *attention;                            // NULL: nothing is changed.
    model_slopes_fn *slopes;                                  // NULL: none.
    model_turns_fn *turns;                                    // NULL: all that `ropes` says.
    model_factors_fn *factors;                                // NULL: none.
    model_value_fn *mlp;                                      // NULL: model_mlp_gated.
    model_value_fn *branch; // Behind the mixer and the MLP, before they are added. NULL: nothing.
    model_value_fn *norm_steps[MODEL_DECODER_STEPS_MAX];  // Behind the final norm.
    model_value_fn *logit_steps[MODEL_DECODER_STEPS_MAX]; // Behind the head.

    enum model_norm_kind norm;
    double norm_offset; // 1 where norms multiply by 1 + weight.
    int has_norm_biases;
    enum model_ropes ropes;
    int is_rope_interleaved; // Unless the key says otherwise.
    int is_transposed;       // Weights of layers are [in, out].
    struct model_decoder_keys keys;
    struct model_decoder_defaults defaults;
    struct model_decoder_windows windows;
    struct model_decoder_tensors tensors;
    const struct model_decoder_latent *latent;   // For model_heads_latent. NULL: none.
    const struct model_decoder_experts *experts; // NULL: none.
    const char *ignored[MODEL_DECODER_KEYS_MAX]; // Keys that change no number, ended by NULL.
    struct model_decoder_expected expected[MODEL_DECODER_KEYS_MAX]; // Ended by NULL.
};

// The functions of a struct model_architecture whose description is a struct model_decoder.
void model_decoder_build(struct model_context *context, const void *description);
void model_decoder_fill(struct model_context *context,
                        const void *description,
                        const struct model_fill *fill);

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
