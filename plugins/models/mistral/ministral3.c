// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Ministral 3: Mistral without a window, with yarn; turned queries grow with the logarithm of how
// many times the original length fits into their position.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <math.h>

extern const struct model_decoder describe_ministral3;

static void
grow_queries(struct model_context *context, int64_t first, int64_t count, float *out_factors)
{
    const struct model_rope_defaults *rope = &describe_ministral3.defaults.rope;
    const double length = (double)model_config_count_of(context, "/max_position_embeddings",
                                                        rope->positions, 1 << 30);
    const double beta = model_rope_number(context, rope, "llama_4_scaling_beta", 0);
    const double original =
        model_rope_number(context, rope, "original_max_position_embeddings", length);

    for (int64_t i = 0; i < count; i++) {
        const double times = original > 0 ? floor((double)(first + i) / original) : 0;

        out_factors[i] = (float)(1 + beta * log1p(times));
    }
}

const struct model_decoder describe_ministral3 = {
    .model_type = "ministral3",
    .class_name = "Ministral3ForCausalLM",
    .factors = grow_queries,
    .head_steps = {model_heads_turn, model_heads_factor},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .sizes = {.hidden = 4096,
                      .layers = 34,
                      .heads = 32,
                      .kv_heads = 8,
                      .head_width = 128,
                      .mlp_width = 14336,
                      .vocabulary = 131072},
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 1e6,
                     .positions = 262144,
                     .kind = "yarn",
                     .numbers = {{"factor", 16},
                                 {"original_max_position_embeddings", 16384},
                                 {"mscale", 1},
                                 {"mscale_all_dim", 1},
                                 {"llama_4_scaling_beta", 0.1}}},
        },
    .windows = {.window = "/sliding_window"},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/rope_parameters/max_position_embeddings",
                "/rope_scaling/max_position_embeddings"},
};
