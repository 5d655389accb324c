// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "delta.h"

#include <math.h>
#include <stdio.h>

enum { TAPS_MAX = 64, HEAD_MAX = 1 << 10 };

void delta_read(struct model_context *context,
                const struct model_block *block,
                struct delta *out_delta)
{
    static const char *const acts[] = {"silu", "swish", NULL};
    struct delta own = {.hidden = block->sizes->hidden, .eps = block->sizes->eps};

    (void)model_config_choice(context, "/hidden_act", acts[0], acts); // They are the same.
    own.k_heads = model_config_count_of(context, "/linear_num_key_heads", 16, MODEL_HEADS_MAX);
    own.v_heads = model_config_count_of(context, "/linear_num_value_heads", 32, MODEL_HEADS_MAX);
    own.k_width = model_config_count_of(context, "/linear_key_head_dim", 128, HEAD_MAX);
    own.v_width = model_config_count_of(context, "/linear_value_head_dim", 128, HEAD_MAX);
    own.taps = model_config_count_of(context, "/linear_conv_kernel_dim", 4, TAPS_MAX);
    if (own.k_heads < 1 || own.v_heads % own.k_heads != 0) {
        model_fail(context, TAPML_INVALID,
                   "'linear_num_value_heads' is %lld, no multiple of 'linear_num_key_heads', %lld",
                   (long long)own.v_heads, (long long)own.k_heads);
        return;
    }
    if (own.taps < 2) {
        model_fail(context, TAPML_INVALID, "'linear_conv_kernel_dim' is %lld, expected 2 to %d",
                   (long long)own.taps, TAPS_MAX);
    }
    own.shared = own.v_heads / own.k_heads;
    *out_delta = own;
}

// silu of one group of channels and its past. The channels of the weight are those of all queries,
// of all keys, of all values; each group has a tail of its own.
static tapml_graph_value convolve(struct model_context *context,
                                  const struct delta *delta,
                                  const char *group,
                                  tapml_graph_value x,
                                  const int64_t channels[2])
{
    const int64_t all = 2 * delta->k_heads * delta->k_width + delta->v_heads * delta->v_width;
    const int64_t width = channels[1] - channels[0], tail[] = {delta->taps - 1, width};
    const tapml_graph_value taps =
        model_taps(context, "model.layers.{i}.linear_attn.conv1d", all, delta->taps);
    char state[32];

    snprintf(state, sizeof(state), "layers.{i}/attn/tail.%s", group);
    model_scope_begin(context, group);
    const struct model_conv1d conv = {
        .weight = model_slice(context, taps, 0, channels[0], channels[1]),
        .tail = model_fixed_state(context, state, tail, 2),
    };
    const tapml_graph_value y = model_activation(
        context, "silu", model_conv1d(context, "conv", model_in_rows(context, x, width), &conv));

    model_scope_end(context);
    return y;
}

// exp(-exp(A_log) * softplus(a + dt_bias)): [T, heads of values, 1].
static tapml_graph_value
decay_of(struct model_context *context, const struct delta *delta, tapml_graph_value a)
{
    const int64_t heads = delta->v_heads;
    const tapml_graph_value bias =
        model_operand(context, "dt_bias", "model.layers.{i}.linear_attn.dt_bias", &heads, 1);
    const tapml_graph_value logs =
        model_operand(context, "A_log", "model.layers.{i}.linear_attn.A_log", &heads, 1);
    const tapml_graph_value rates =
        model_scale(context, "minus", model_exp(context, "A", logs), -1);
    const tapml_graph_value spread = model_in_heads(
        context, model_every_token(context, bias, heads), delta->k_heads, delta->shared);
    const tapml_graph_value steps = model_in_rows(
        context, model_softplus(context, "softplus", model_add(context, "dt", a, spread)), heads);
    const tapml_graph_value exponents =
        model_multiply(context, "dt_A", steps, model_every_token(context, rates, heads));

    return model_in_heads(context, model_exp(context, "decay", exponents), heads, 1);
}

// The tensors' rows go by heads of keys: its query, its key, its values, their gates; and the
// betas, the a of its values.
struct delta_parts
delta_parts_by_head(struct model_context *context, const struct delta *delta, tapml_graph_value x)
{
    const int64_t heads = delta->k_heads, k = delta->k_width, v = delta->shared * delta->v_width;
    const int64_t qk = heads * k, channels[] = {0, qk, 2 * qk, 2 * qk + heads * v};
    const tapml_graph_value qkvz = model_in_heads(
        context,
        model_linear_of(context, "in_proj_qkvz", "model.layers.{i}.linear_attn.in_proj_qkvz", x,
                        delta->hidden, heads * 2 * (k + v)),
        heads, 2 * (k + v));
    const tapml_graph_value ba = model_in_heads(
        context,
        model_linear_of(context, "in_proj_ba", "model.layers.{i}.linear_attn.in_proj_ba", x,
                        delta->hidden, 2 * delta->v_heads),
        heads, 2 * delta->shared);
    struct delta_parts parts;

    parts.q = convolve(context, delta, "q", model_slice(context, qkvz, 2, 0, k), &channels[0]);
    parts.k = convolve(context, delta, "k", model_slice(context, qkvz, 2, k, 2 * k), &channels[1]);
    parts.v = convolve(context, delta, "v", model_slice(context, qkvz, 2, 2 * k, 2 * k + v),
                       &channels[2]);
    model_scope_begin(context, "gate");
    parts.gate =
        model_activation(context, "silu", model_slice(context, qkvz, 2, 2 * k + v, 2 * (k + v)));
    model_scope_end(context);
    parts.beta = model_sigmoid(context, "beta", model_slice(context, ba, 2, 0, delta->shared));
    parts.decay =
        decay_of(context, delta, model_slice(context, ba, 2, delta->shared, 2 * delta->shared));
    return parts;
}

struct delta_parts
delta_parts_separate(struct model_context *context, const struct delta *delta, tapml_graph_value x)
{
    const int64_t qk = delta->k_heads * delta->k_width, heads = delta->v_heads;
    const int64_t values = heads * delta->v_width, all = 2 * qk + values;
    const tapml_graph_value qkv = model_linear_of(
        context, "in_proj_qkv", "model.layers.{i}.linear_attn.in_proj_qkv", x, delta->hidden, all);
    const tapml_graph_value z = model_linear_of(
        context, "in_proj_z", "model.layers.{i}.linear_attn.in_proj_z", x, delta->hidden, values);
    const tapml_graph_value b = model_linear_of(
        context, "in_proj_b", "model.layers.{i}.linear_attn.in_proj_b", x, delta->hidden, heads);
    const tapml_graph_value a = model_linear_of(
        context, "in_proj_a", "model.layers.{i}.linear_attn.in_proj_a", x, delta->hidden, heads);
    const tapml_graph_value mixed = model_activation(
        context, "silu",
        model_conv1d_of(context, "model.layers.{i}.linear_attn.conv1d", qkv, all, delta->taps, 0));
    struct delta_parts parts = {
        .q = model_slice(context, mixed, 1, 0, qk),
        .k = model_slice(context, mixed, 1, qk, 2 * qk),
        .v = model_slice(context, mixed, 1, 2 * qk, all),
        .beta = model_sigmoid(context, "beta", b),
        .decay =
            decay_of(context, delta, model_in_heads(context, a, delta->k_heads, delta->shared)),
    };

    model_scope_begin(context, "gate");
    parts.gate = model_activation(context, "silu", z);
    model_scope_end(context);
    return parts;
}

// beta k, of the heads of values: [T, heads, k_width].
static tapml_graph_value taken_up(struct model_context *context,
                                  const struct delta *delta,
                                  tapml_graph_value beta,
                                  tapml_graph_value keys)
{
    const int64_t one_key[] = {TAPML_SYM_TOKENS, delta->k_heads, 1, delta->k_width};
    const int64_t one_beta[] = {TAPML_SYM_TOKENS, delta->k_heads, delta->shared, 1};
    const tapml_graph_value k =
        model_repeat(context, model_reshape(context, keys, one_key, 4), 2, delta->shared);
    const tapml_graph_value b =
        model_repeat(context, model_reshape(context, beta, one_beta, 4), 3, delta->k_width);

    return model_in_heads(context, model_multiply(context, "beta_k", k, b), delta->v_heads,
                          delta->k_width);
}

// S = S e^g (1 - beta k k^T) + beta v k^T; y = S q; each head is normalised, then gated.
tapml_graph_value delta_build(struct model_context *context,
                              const struct delta *delta,
                              delta_parts_fn *make_parts,
                              tapml_graph_value x)
{
    const int64_t heads = delta->v_heads, width = delta->v_width;
    const int64_t state[] = {heads, width, delta->k_width};
    const struct delta_parts parts = make_parts(context, delta, x);
    const tapml_graph_value q = model_l2_norm(
        context, "q_norm", model_in_heads(context, parts.q, delta->k_heads, delta->k_width), 1e-6);
    const tapml_graph_value k = model_l2_norm(
        context, "k_norm", model_in_heads(context, parts.k, delta->k_heads, delta->k_width), 1e-6);
    const struct model_scan scan = {
        .r = model_scale(context, "q_scale", q, 1 / sqrt((double)delta->k_width)),
        .w = parts.decay,
        .k = taken_up(context, delta, parts.beta, k),
        .v = model_in_heads(context, parts.v, heads, width),
        .kk = k,
        .a = model_multiply(context, "beta_decay", model_in_heads(context, parts.beta, heads, 1),
                            parts.decay),
        .state = model_fixed_state(context, "layers.{i}/attn/state", state, 3),
    };
    const tapml_graph_value y = model_rms_norm(
        context, "norm_heads", model_linear_scan(context, "scan", &scan),
        &(struct model_norm){
            .tensor = "model.layers.{i}.linear_attn.norm", .width = width, .eps = delta->eps});
    const tapml_graph_value gated =
        model_multiply(context, "gated", y, model_in_heads(context, parts.gate, heads, width));

    return model_linear_of(context, "out_proj", "model.layers.{i}.linear_attn.out_proj",
                           model_in_rows(context, gated, heads * width), heads * width,
                           delta->hidden);
}
