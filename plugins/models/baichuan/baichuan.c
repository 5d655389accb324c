// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Baichuan (arXiv 2309.10305): Llama with one tensor of attention. The wider models have slopes in
// place of a rope; the second version divides the rows of the head by their lengths.
#include <tapml/model/block.h>
#include <tapml/model/names.h>

#include <math.h>

enum { ROWS_MAX = 1 << 17, PART = 1 << 10 };

// Whether it is one of the wider models, which know no greatest position.
static int has_slopes(struct model_context *context)
{
    const tapml_host_config *table = context->config_table;
    const int has_positions = table->has(context->config, "/max_position_embeddings");

    return !has_positions || (table->i64(context->config, "/num_hidden_layers", 0) == 40 &&
                              table->i64(context->config, "/hidden_size", 0) == 5120);
}

static int turns(struct model_context *context, int64_t layer)
{
    (void)layer;
    return !has_slopes(context);
}

static tapml_graph_value slopes(struct model_context *context, int64_t heads)
{
    return has_slopes(context) ? model_slopes_alibi(context, heads) : 0;
}

// One over the length of a row of the head; without a checkpoint no row has one.
static float row_factor(struct model_context *context, int64_t row, int64_t width)
{
    double values[PART], sum = 0;

    if (context->weights_table->count(context->weights) == 0) {
        return 1;
    }
    for (int64_t first = 0; first < width && context->status == TAPML_OK; first += PART) {
        const int64_t count = width - first < PART ? width - first : PART;

        model_read_weight(context, "lm_head.weight", row * width + first, count, values);
        for (int64_t i = 0; i < count && context->status == TAPML_OK; i++) {
            sum += values[i] * values[i];
        }
    }
    return (float)(1 / fmax(sqrt(sum), 1e-12));
}

// The rows of the head divided by their lengths: the logits are.
static tapml_graph_value normalise_head(struct model_context *context,
                                        const struct model_block *block,
                                        tapml_graph_value logits)
{
    const int64_t rows = block->sizes->vocabulary;
    const int64_t shape[] = {1, rows};
    float factors[ROWS_MAX];

    // The second version is known by its vocabulary.
    if (!context->config_table->has(context->config, "/z_loss_weight") && rows != 125696) {
        return logits;
    }
    if (rows > ROWS_MAX) {
        model_fail(context, TAPML_UNIMPLEMENTED,
                   "'vocab_size' is %lld, expected at most %d rows to normalise", (long long)rows,
                   ROWS_MAX);
    }
    for (int64_t i = 0; i < rows && context->status == TAPML_OK; i++) {
        factors[i] = row_factor(context, i, block->sizes->hidden);
    }
    if (context->status != TAPML_OK) {
        return 0;
    }

    const tapml_graph_value all =
        model_reshape(context, model_constant(context, factors, rows), shape, 2);

    return model_multiply(context, "head_norm", logits,
                          model_repeat(context, all, 0, TAPML_SYM_ROWS));
}

const struct model_decoder describe_baichuan = {
    .model_type = "baichuan",
    .class_name = "BaichuanForCausalLM",
    .layout = model_layout_blocks,
    .turns = turns,
    .slopes = slopes,
    .logit_steps = {normalise_head},
    .keys =
        {
            MODEL_KEYS_SIZES,
            .head_width = "/head_dim",
            .eps = "/rms_norm_eps",
            .activation = "/hidden_act",
        },
    .defaults =
        {
            .eps = 1e-6,
            .activation = "silu",
            .rope = {.theta = 10000, .positions = 4096},
        },
    .tensors =
        {
            MODEL_TENSORS_STREAM,
            .qkv = "model.layers.{i}.self_attn.W_pack",
            .o = "model.layers.{i}.self_attn.o_proj",
            .mlp_norm = "model.layers.{i}.post_attention_layernorm",
            MODEL_TENSORS_MLP,
        },
    .ignored = {"/model_max_length", "/_from_model_config"},
};
