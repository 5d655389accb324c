// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GPT-Neo (Black et al., 2021): GPT-2 with separate queries, keys and values, scores that are not
// scaled, and layers that see the last tokens only.
#include "gpt.h"

#include <stdio.h>
#include <string.h>

static int is_local(struct model_context *context, const char *list, int64_t index)
{
    static const char *const kinds[] = {"global", "local", NULL};
    struct model_name pointer;

    snprintf(pointer.text, sizeof(pointer.text), "%.200s/%lld", list, (long long)index);
    return strcmp(model_config_choice(context, pointer.text, "", kinds), "local") == 0;
}

// Of pairs of a list and how often it is repeated.
static int is_local_by_types(struct model_context *context, int64_t layer)
{
    const int64_t pairs = context->config_table->length(context->config, "/attention_types");

    for (int64_t i = 0; i < pairs && context->status == TAPML_OK; i++) {
        struct model_name list, times;

        snprintf(list.text, sizeof(list.text), "/attention_types/%lld/0", (long long)i);
        snprintf(times.text, sizeof(times.text), "/attention_types/%lld/1", (long long)i);

        const int64_t length = context->config_table->length(context->config, list.text);
        const int64_t repeats = model_config_count(context, times.text, 0, MODEL_LAYERS_MAX);

        if (length < 1) {
            break;
        }
        if (layer / length < repeats) {
            return is_local(context, list.text, layer % length);
        }
        layer -= length * repeats;
    }
    model_fail(context, TAPML_INVALID, "'attention_types' is for fewer layers than the model has");
    return 0;
}

// The newer dialect has the expanded list too. Without both every second layer is local.
static int layer_is_local(struct model_context *context)
{
    if (context->config_table->length(context->config, "/attention_layers") >= 0) {
        context->config_table->ignore(context->config, "/attention_types");
        return is_local(context, "/attention_layers", context->layer);
    }
    return context->config_table->length(context->config, "/attention_types") >= 0
               ? is_local_by_types(context, context->layer)
               : context->layer % 2 == 1;
}

static void attention(struct model_context *context,
                      const struct model_block *block,
                      struct model_attention *attention)
{
    const int64_t window = model_config_count_of(context, "/window_size", 256, 1 << 30);

    (void)block;
    attention->scale = 1;
    attention->window = layer_is_local(context) ? window : 0;
}

const struct model_decoder describe_gpt_neo = {
    .model_type = "gpt_neo",
    .class_name = "GPTNeoForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .embed_steps = {model_embed_positions},
    .attention = attention,
    .mlp = model_mlp_plain,
    .ropes = MODEL_ROPES_NONE,
    .keys =
        {
            .hidden = "/hidden_size",
            .layers = "/num_layers|/num_hidden_layers",
            .heads = "/num_heads|/num_attention_heads",
            .mlp_width = "/intermediate_size",
            .vocabulary = "/vocab_size",
            .eps = "/layer_norm_epsilon",
            .is_tied = "/tie_word_embeddings",
            .activation = "/activation_function",
            .positions = "/max_position_embeddings",
        },
    .defaults =
        {
            .sizes =
                {.hidden = 2048, .layers = 24, .heads = 16, .vocabulary = 50257, .positions = 2048},
            .eps = 1e-5,
            .activation = "gelu_new",
            .mlp_factor = 4,
            .is_tied = 1,
            .output_bias = MODEL_OUTPUT_BIAS_ALWAYS,
            .has_mlp_biases = 1,
        },
    .tensors =
        {
            GPT_TENSORS_STREAM,
            GPT_TENSORS_MLP,
            .positions = "transformer.wpe",
            .q = "transformer.h.{i}.attn.attention.q_proj",
            .k = "transformer.h.{i}.attn.attention.k_proj",
            .v = "transformer.h.{i}.attn.attention.v_proj",
            .o = "transformer.h.{i}.attn.attention.out_proj",
        },
    .ignored = {"/hidden_act"}, // The class reads another.
};
