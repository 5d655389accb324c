// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// SantaCoder and StarCoder (arXiv 2301.03988, 2305.06161): GPT-2 whose heads of queries share one
// key and one value, with weights stored [out, in]. Without sharing, one tensor holds query, key
// and value of one head after the other.
#include "gpt.h"

static int shares_keys(struct model_context *context)
{
    return model_config_boolean_of(context, "/multi_query", 1);
}

static void share_keys(struct model_context *context, struct model_sizes *sizes)
{
    sizes->kv_heads = shares_keys(context) ? 1 : sizes->heads;
}

static struct model_heads
lay_out(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    return shares_keys(context) ? model_layout_blocks(context, block, x)
                                : model_layout_whole(context, block, x);
}

const struct model_decoder describe_gpt_bigcode = {
    .model_type = "gpt_bigcode",
    .class_name = "GPTBigCodeForCausalLM",
    .norm = MODEL_NORM_LAYER,
    .has_norm_biases = 1,
    .resize = share_keys,
    .embed_steps = {model_embed_positions},
    .layout = lay_out,
    .attention = gpt_scale,
    .mlp = model_mlp_plain,
    .ropes = MODEL_ROPES_NONE,
    .keys = {GPT_KEYS_TABLE},
    .defaults = {GPT_DEFAULTS, .activation = "gelu_pytorch_tanh"},
    .tensors =
        {
            GPT_TENSORS_STREAM,
            GPT_TENSORS_ATTENTION,
            GPT_TENSORS_MLP,
            .positions = "transformer.wpe",
        },
    // The number of key heads follows from "multi_query"; the others are about how it is run.
    .ignored = {"/num_key_value_heads", "/n_ctx", "/inference_runner", "/validate_runner_input",
                "/pre_allocate_kv_cache", "/pad_key_length", "/max_batch_size",
                "/max_sequence_length"},
    .expected = {{"/attention_type", "2"}}, // "multi_query" in older files.
};
