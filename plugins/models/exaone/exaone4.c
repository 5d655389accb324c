// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// EXAONE 4 (arXiv 2507.11407): norms behind both halves of a layer and of heads; where there is a
// window every fourth layer is full, and has no rope.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <string.h>

// Where none slides all layers are turned, else those that slide.
static int turns(struct model_context *context, int64_t layer)
{
    const tapml_host_config *table = context->config_table;
    const struct model_name key = model_name(context, "/layer_types/{i}", layer, "");

    if (table->is_null(context->config, "/sliding_window") ||
        table->i64(context->config, "/sliding_window", 4096) == 0) {
        return 1;
    }
    if (table->length(context->config, "/layer_types") >= 0) {
        return strcmp(table->string(context->config, key.text, ""), "sliding_attention") == 0;
    }

    const int64_t period =
        model_config_count_of(context, "/sliding_window_pattern", 4, MODEL_LAYERS_MAX);

    return period > 0 && (layer + 1) % period != 0;
}

const struct model_decoder describe_exaone4 = {
    .model_type = "exaone4",
    .class_name = "Exaone4ForCausalLM",
    .turns = turns,
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .eps = 1e-5,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 2048},
        },
    .windows = {.window = "/sliding_window",
                .types = "/layer_types",
                .periods = "/sliding_window_pattern",
                .window_fallback = 4096,
                .period = 4},
    .tensors =
        {
            MODEL_TENSORS_STREAM_BARE,
            MODEL_TENSORS_ATTENTION,
            MODEL_TENSORS_HEAD_NORMS,
            .attention_norm_after = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
            .mlp_norm_after = "model.layers.{i}.post_feedforward_layernorm",
        },
};
