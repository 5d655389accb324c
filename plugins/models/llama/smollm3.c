// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// SmolLM3: Llama of which every fourth layer has no rope; late layers may slide.
#include "turns.h"

#include <tapml/model/block.h>
#include <tapml/model/names.h>

int llama_turns(struct model_context *context, int64_t layer)
{
    static const char list[] = "/no_rope_layers";
    const int64_t interval =
        model_config_count_of(context, "/no_rope_layer_interval", 4, MODEL_LAYERS_MAX);

    if (context->config_table->length(context->config, list) <= 0) {
        return interval > 0 && (layer + 1) % interval != 0;
    }

    const struct model_name key = model_name(context, "/no_rope_layers/{i}", layer, "");
    const int64_t is_turned = context->config_table->i64(context->config, key.text, -1);

    if (is_turned != 0 && is_turned != 1) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, expected 0 or 1", key.text + 1,
                   (long long)is_turned);
    }
    return is_turned == 1;
}

// Without a list of kinds the layers without a rope slide; without the switch none does.
static void choose_window(struct model_context *context,
                          const struct model_block *block,
                          struct model_attention *attention)
{
    const int slides = block->sizes->has_types || block->layer.rope == MODEL_ROPE_NONE;

    if (!slides || !model_config_boolean_of(context, "/use_sliding_window", 0)) {
        attention->window = 0;
    }
}

const struct model_decoder describe_smollm3 = {
    .model_type = "smollm3",
    .class_name = "SmolLM3ForCausalLM",
    .turns = llama_turns,
    .attention = choose_window,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
            .attention_biases = "/attention_bias",
            .mlp_biases = "/mlp_bias",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .is_tied = 1,
            .rope = {.theta = 2000000, .positions = 32768},
        },
    .windows = {.window = "/sliding_window",
                .is_used = "/use_sliding_window",
                .types = "/layer_types"},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/max_window_layers"}, // Of Qwen; the class does not read it.
};
