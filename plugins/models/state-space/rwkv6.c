// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// RWKV-6 (arXiv 2404.05892): a token selects by thin matrices how it is mixed with the one before,
// and how much the columns of a head's matrix decay.
#include "blocks.h"

#include <stdio.h>
#include <string.h>

enum { USES = 5 }; // w, k, v, r, g.

static tapml_graph_value
weight_of(struct model_context *context, const char *part, const int64_t *shape, uint32_t rank)
{
    char tensor[64];

    snprintf(tensor, sizeof(tensor), "rwkv.blocks.{i}.attention.%s", part);
    return model_weight(context, tensor, shape, rank);
}

// The rank of a thin matrix [hidden, parts * rank], times parts; the tensor knows it.
static int64_t extent_of(struct model_context *context,
                         const struct blocks *blocks,
                         const char *part,
                         int64_t expected)
{
    const int64_t shape[] = {blocks->stack->hidden, expected};
    char tensor[64];

    snprintf(tensor, sizeof(tensor), "rwkv.blocks.{i}.attention.%s", part);
    return stack_extent(context, tensor, shape, 2, 1);
}

// x + d m
static tapml_graph_value
move(struct model_context *context, const struct rwkv_shifted *shifted, tapml_graph_value m)
{
    return model_add(context, "add", shifted->x, model_multiply(context, "mul", shifted->d, m));
}

static tapml_graph_value mix(struct model_context *context,
                             const struct blocks *blocks,
                             const char *tensor,
                             const struct rwkv_shifted *shifted)
{
    model_scope_begin(context, strrchr(tensor, '.') + 1);
    const tapml_graph_value y = move(context, shifted, blocks_vector(context, blocks, tensor));

    model_scope_end(context);
    return y;
}

// What tokens add to the factors of all uses: [T, USES * rank] of tanh.
static tapml_graph_value select_mixes(struct model_context *context,
                                      const struct blocks *blocks,
                                      const struct rwkv_shifted *shifted,
                                      int64_t wide)
{
    const int64_t shape[] = {blocks->stack->hidden, wide};
    const tapml_graph_value x = mix(context, blocks, "attention.time_maa_x", shifted);
    const tapml_graph_value w = weight_of(context, "time_maa_w1", shape, 2);

    return model_activation(context, "tanh", model_linear_value(context, "time_maa_w1", x, w, 1));
}

// x + d (maa + m W2), for the use of this number in W2 [USES, rank, hidden].
static tapml_graph_value mix_use(struct model_context *context,
                                 const struct blocks *blocks,
                                 int64_t use,
                                 tapml_graph_value m,
                                 const struct rwkv_shifted *shifted)
{
    static const char *const parts[] = {"attention.time_maa_w", "attention.time_maa_k",
                                        "attention.time_maa_v", "attention.time_maa_r",
                                        "attention.time_maa_g"};
    const int64_t hidden = blocks->stack->hidden, rank = blocks->rank;
    const int64_t all[] = {USES, rank, hidden}, one[] = {rank, hidden};
    const tapml_graph_value w2 = weight_of(context, "time_maa_w2", all, 3);
    const tapml_graph_value w =
        model_reshape(context, model_slice(context, w2, 0, use, use + 1), one, 2);

    model_scope_begin(context, strrchr(parts[use], '.') + 1);
    const tapml_graph_value own = model_linear_value(
        context, "w2", model_slice(context, m, 1, use * rank, (use + 1) * rank), w, 1);
    const tapml_graph_value y =
        move(context, shifted,
             model_add(context, "m_add", own, blocks_vector(context, blocks, parts[use])));

    model_scope_end(context);
    return y;
}

// exp(-exp(time_decay + tanh(x D1) D2)): [T, heads, width].
static tapml_graph_value
decays(struct model_context *context, const struct blocks *blocks, tapml_graph_value x)
{
    const int64_t hidden = blocks->stack->hidden;
    const int64_t rank = extent_of(context, blocks, "time_decay_w1", hidden == 4096 ? 128 : 64);
    const int64_t down[] = {hidden, rank}, up[] = {rank, hidden};

    model_scope_begin(context, "decay");
    tapml_graph_value y = model_linear_value(context, "time_decay_w1", x,
                                             weight_of(context, "time_decay_w1", down, 2), 1);

    y = model_linear_value(context, "time_decay_w2", model_activation(context, "tanh", y),
                           weight_of(context, "time_decay_w2", up, 2), 1);
    y = model_add(context, "time_decay_add", y,
                  blocks_vector(context, blocks, "attention.time_decay"));
    y = model_exp(context, "exp", model_scale(context, "minus", model_exp(context, "rate", y), -1));
    model_scope_end(context);
    return model_in_heads(context, y, blocks->heads.count, blocks->heads.width);
}

static tapml_graph_value attend(struct model_context *context,
                                const struct blocks *blocks,
                                const struct rwkv_shifted *shifted)
{
    const int64_t expected = USES * (blocks->stack->hidden == 4096 ? 64 : 32);
    const int64_t wide = extent_of(context, blocks, "time_maa_w1", expected);
    struct blocks own = *blocks;

    own.rank = wide / USES;
    if (wide != USES * own.rank) {
        model_fail(context, TAPML_INVALID, "'time_maa_w1' has %lld columns, no multiple of %d",
                   (long long)wide, USES);
        return 0;
    }
    const tapml_graph_value m = select_mixes(context, &own, shifted, wide);
    const struct blocks_parts parts = {
        .w = decays(context, &own, mix_use(context, &own, 0, m, shifted)),
        .k = mix_use(context, &own, 1, m, shifted),
        .v = mix_use(context, &own, 2, m, shifted),
        .r = mix_use(context, &own, 3, m, shifted),
        .g = mix_use(context, &own, 4, m, shifted),
    };

    return blocks_attend_heads(context, blocks, &parts);
}

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    static const struct blocks_version version = {
        .number = "\"6_0\"",
        .divisor = 8,
        .ratio = 3.5,
        .is_rounded = 1,
        .mixed_keys = "feed_forward.time_maa_k",
        .mixed_gates = "feed_forward.time_maa_r",
        .mix = mix,
        .attend = attend,
    };

    return blocks_layers(context, stack, &version, h);
}

BLOCKS_ARCHITECTURE(rwkv6, "Rwkv6ForCausalLM", layers, 768, 24, 65536)
