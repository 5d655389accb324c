// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Layers over the host's graph builder: the catalogue's ops as functions of values.
//
// Each function takes the context, the name of the op in its scope, and the inputs. It returns the
// output value, or 0 after a failure, which the context keeps; calls after a failure do nothing.
// `tensor` names a weight without its ".weight"; "{i}" in it is the context's `layer`. A context
// belongs to one thread.
#ifndef TAPML_MODEL_LAYER_H
#define TAPML_MODEL_LAYER_H

#include <tapml/model/context.h>

#ifdef __cplusplus
extern "C" {
#endif

// Opens a scope: its name, with "{i}" for the context's `layer`, precedes the names of ops in it.
void model_scope_begin(struct model_context *context, const char *name);

// Closes the innermost scope.
void model_scope_end(struct model_context *context);

// An input of the graph.
tapml_graph_value model_input(struct model_context *context,
                              const char *name,
                              uint32_t from, // TAPML_FROM_*
                              uint32_t dtype,
                              const int64_t *shape,
                              uint32_t rank);

// An input of the user in addition to "input_ids". If it is absent, all its values are `fallback`.
tapml_graph_value model_input_or(struct model_context *context,
                                 const char *name,
                                 uint32_t dtype,
                                 const int64_t *shape,
                                 uint32_t rank,
                                 double fallback);

// A growing state [C, heads, width], zero at first.
tapml_graph_value
model_state(struct model_context *context, const char *name, int64_t heads, int64_t width);

// Whether the checkpoint has a tensor with this full name, in which "{i}" is the layer. Without a
// checkpoint it returns `expected`.
int model_has_tensor(struct model_context *context,
                     const char *name,
                     const int64_t *shape,
                     uint32_t rank,
                     int expected);

// The same elements with another shape, as a view.
tapml_graph_value model_reshape(struct model_context *context,
                                tapml_graph_value x,
                                const int64_t *shape,
                                uint32_t rank);

// Elements begin .. end - 1 of an axis, as a view.
tapml_graph_value model_slice(
    struct model_context *context, tapml_graph_value x, uint32_t axis, int64_t begin, int64_t end);

// The axes of x in another order, as a view: axis k of it is axes[k] of x.
tapml_graph_value model_transpose(struct model_context *context,
                                  tapml_graph_value x,
                                  const uint32_t *axes,
                                  uint32_t rank);

// The same values in rows that lie one behind the other.
tapml_graph_value model_copy(struct model_context *context, const char *name, tapml_graph_value x);

// An axis of extent 1 repeated `times` times, as a view.
tapml_graph_value
model_repeat(struct model_context *context, tapml_graph_value x, uint32_t axis, int64_t times);

// A constant table with one axis of `count` f32 values, which are copied.
tapml_graph_value model_constant(struct model_context *context, const float *values, int64_t count);

// A tensor of the checkpoint with this full name, in which "{i}" is the layer.
tapml_graph_value
model_weight(struct model_context *context, const char *name, const int64_t *shape, uint32_t rank);

// Values first .. first + count - 1 of the tensor with this full name, for what becomes a number of
// the graph. Zeros without a checkpoint.
void model_read_weight(
    struct model_context *context, const char *name, int64_t first, int64_t count, double *out);

// Makes `value` an output of the graph.
void model_output(struct model_context *context, const char *name, tapml_graph_value value);

// Makes `value` the output "hidden.<index>".
void model_output_hidden(struct model_context *context, int64_t index, tapml_graph_value value);

struct model_linear {
    const char *tensor; // Weight [out, in], and a bias [out] if the checkpoint has one.
    int64_t in, out;
    int has_bias;      // Predicted from the config; used if there is no checkpoint.
    int is_transposed; // The weight is [in, out], unless the config says otherwise.
    const char *bias;  // Whose bias it is, if not that of `tensor`; NULL.
};

// Whether the weight is [in, out]. Files that store the rows of every weight say false under
// "transposed_weights" in the config, which is read for classes alone that store some [in, out].
int model_linear_is_transposed(struct model_context *context, const struct model_linear *linear);

// The product of x [..., in] with a weight, plus the bias: [..., out].
tapml_graph_value model_linear(struct model_context *context,
                               const char *name,
                               tapml_graph_value x,
                               const struct model_linear *linear);

// The rows of the weight `table` [rows, width] that ids i32 [T] select: [T, width].
tapml_graph_value model_embed(struct model_context *context,
                              const char *name,
                              tapml_graph_value ids,
                              const char *table,
                              int64_t rows,
                              int64_t width);

// As model_embed, for a table [rows, width] that is no weight.
tapml_graph_value model_embed_value(struct model_context *context,
                                    const char *name,
                                    tapml_graph_value ids,
                                    tapml_graph_value table);

enum model_norm_kind { MODEL_NORM_RMS, MODEL_NORM_LAYER };

struct model_norm {
    enum model_norm_kind kind;
    const char *tensor; // Weight [width]; NULL: none.
    int64_t width;
    double eps;
    double offset;     // 1 if the factor is 1 + weight.
    int has_bias;      // Layer norms: as in model_linear.
    int has_old_names; // Layer norms: weight and bias may be called gamma and beta.
};

// The norm of the last axis, which has `width` values, by `norm->kind`.
tapml_graph_value model_norm(struct model_context *context,
                             const char *name,
                             tapml_graph_value x,
                             const struct model_norm *norm);

// As model_norm, for MODEL_NORM_RMS.
tapml_graph_value model_rms_norm(struct model_context *context,
                                 const char *name,
                                 tapml_graph_value x,
                                 const struct model_norm *norm);

// a + b.
tapml_graph_value model_add(struct model_context *context,
                            const char *name,
                            tapml_graph_value a,
                            tapml_graph_value b);

// Two values side by side on the last axis.
tapml_graph_value model_concat(struct model_context *context,
                               const char *name,
                               tapml_graph_value a,
                               tapml_graph_value b);

// a * b.
tapml_graph_value model_multiply(struct model_context *context,
                                 const char *name,
                                 tapml_graph_value a,
                                 tapml_graph_value b);

tapml_graph_value
model_scale(struct model_context *context, const char *name, tapml_graph_value x, double factor);

tapml_graph_value
model_softcap(struct model_context *context, const char *name, tapml_graph_value x, double limit);

// The activation that a config calls `kind`, by Hugging Face's names: silu, swish; gelu; gelu_new,
// gelu_pytorch_tanh, gelu_fast; quick_gelu; relu; relu2; sigmoid; tanh. Any other is a failure that
// names all of them.
tapml_graph_value
model_activation(struct model_context *context, const char *kind, tapml_graph_value x);

// The activation that the config names at a JSON pointer, `fallback` where it names none, for
// model_activation. An unknown one is a failure as of model_fail_choice.
const char *
model_config_activation(struct model_context *context, const char *pointer, const char *fallback);

tapml_graph_value
model_sigmoid(struct model_context *context, const char *name, tapml_graph_value x);

// x clamped to low .. high.
tapml_graph_value model_clip(
    struct model_context *context, const char *name, tapml_graph_value x, double low, double high);

enum model_routing {
    MODEL_ROUTING_SOFTMAX,              // Parts of the softmax over all experts,
    MODEL_ROUTING_SOFTMAX_RENORMALISED, // or over their own sum.
    MODEL_ROUTING_TOPK,                 // The softmax over those that are chosen.
    MODEL_ROUTING_GROUPS,               // Parts of the softmax, chosen from the best groups.
    MODEL_ROUTING_SIGMOID,              // Sigmoids, chosen from the best groups,
    MODEL_ROUTING_SIGMOID_RENORMALISED  // or over their own sum.
};

// The chosen experts of each token and their weights: both [T, k].
struct model_route {
    tapml_graph_value indices, weights;
};

// The choice of `chosen` experts from scores [T, experts], for routings without groups.
struct model_route model_route(struct model_context *context,
                               enum model_routing routing,
                               tapml_graph_value scores,
                               int64_t chosen);

// The options of routings with groups: `experts` in `groups` of equal size; experts are chosen from
// the `kept` best groups. `bias` [experts] is added to the sigmoids for the choice only; 0: none.
struct model_groups {
    enum model_routing routing;
    int64_t experts, groups, kept, chosen;
    tapml_graph_value bias;
};

// The choice from scores [T, experts], for routings with groups.
struct model_route model_route_groups(struct model_context *context,
                                      const struct model_groups *groups,
                                      tapml_graph_value scores);

// The choice of `chosen` experts from scores [T, experts] by their part of the softmax and `bias`
// [experts], or 0; weights are these parts over the larger of their sum and `least`.
struct model_route model_route_biased(struct model_context *context,
                                      tapml_graph_value scores,
                                      tapml_graph_value bias,
                                      int64_t chosen,
                                      double least);

// The choice of `chosen` experts from scores [T, experts], each with its part of the softmax over
// those that were not chosen before and lie within 2 `jitter` of it.
struct model_route model_route_sparsemixer(struct model_context *context,
                                           tapml_graph_value scores,
                                           int64_t chosen,
                                           double jitter);

// The weights of a product with experts.
struct model_experts_linear {
    const tapml_graph_value *weights; // One for each expert: [out, in], or [in, out],
    const tapml_graph_value *biases;  // and [out]; or NULL.
    uint32_t count;
    int is_transposed;
};

// The products of x [T, 1 or k, in] with the weights of the chosen experts: [T, k, out].
tapml_graph_value model_linear_experts(struct model_context *context,
                                       const char *name,
                                       tapml_graph_value x,
                                       tapml_graph_value indices,
                                       const struct model_experts_linear *experts);

// The sum of x [T, k, width] over k, by weights [T, k].
tapml_graph_value model_weighted_sum(struct model_context *context,
                                     const char *name,
                                     tapml_graph_value x,
                                     tapml_graph_value weights);

// Rotates the heads of x [T, heads, width] by tables [T, n / 2].
tapml_graph_value model_rope(struct model_context *context,
                             const char *name,
                             tapml_graph_value x,
                             tapml_graph_value cosines,
                             tapml_graph_value sines,
                             int is_interleaved);

// Writes rows [T, heads, width] into a state, from position P on; from 0 on for a complete text.
void model_state_append(struct model_context *context,
                        const char *name,
                        tapml_graph_value state,
                        tapml_graph_value rows);

// The options of attention; 0 switches an option off. `key_mask` is i32, 0 for rows that no token
// attends to: [P + T], or [T] for a complete text.
struct model_attention {
    tapml_graph_value slopes, sinks, key_mask;
    int has_rounded_slopes; // Slopes times positions are rounded to bf16, and scaled as the rest.
    double scale;
    int is_causal;
    int64_t window;
    int64_t chunk;
    double softcap;
};

// Attention of q [T, heads, width] over the rows 0 .. P + T - 1 of two states.
tapml_graph_value model_attention(struct model_context *context,
                                  const char *name,
                                  tapml_graph_value q,
                                  tapml_graph_value k_state,
                                  tapml_graph_value v_state,
                                  const struct model_attention *attention);

// The rows of x [T, width] that i32 [R] select: [R, width].
tapml_graph_value model_gather_rows(struct model_context *context,
                                    const char *name,
                                    tapml_graph_value x,
                                    tapml_graph_value rows);

#ifdef __cplusplus
}
#endif

#endif
