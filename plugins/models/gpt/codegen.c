// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// CodeGen (arXiv 2203.13474): GPT-J whose queries, keys and values are in one tensor of four parts,
// as four machines had them in training; each has the queries, values and keys of its heads.
#include "gpt.h"

enum { PARTS = 4 };

static tapml_graph_value heads_of(struct model_context *context,
                                  const struct model_block *block,
                                  const char *name,
                                  tapml_graph_value fused,
                                  int64_t index)
{
    const struct model_sizes *sizes = block->sizes;
    const int64_t shape[] = {TAPML_SYM_TOKENS, sizes->heads, sizes->head_width};
    const tapml_graph_value part = model_slice(context, fused, 2, index, index + 1);

    // The parts do not lie one behind the other.
    return model_reshape(context, model_copy(context, name, part), shape, 3);
}

static struct model_heads
lay_out(struct model_context *context, const struct model_block *block, tapml_graph_value x)
{
    const struct model_sizes *sizes = block->sizes;
    const int64_t width = sizes->heads * sizes->head_width;
    const int64_t shape[] = {TAPML_SYM_TOKENS, PARTS, 3, width / PARTS};
    const struct model_linear linear = {.tensor = "transformer.h.{i}.attn.qkv_proj",
                                        .in = sizes->hidden,
                                        .out = 3 * width,
                                        .has_bias = sizes->has_attention_biases};

    if (sizes->heads % PARTS != 0) {
        model_fail(context, TAPML_INVALID, "'n_head' is %lld, expected a multiple of %d",
                   (long long)sizes->heads, PARTS);
    }
    const tapml_graph_value fused =
        model_reshape(context, model_linear(context, "qkv_proj", x, &linear), shape, 4);

    return (struct model_heads){.q = heads_of(context, block, "q_proj", fused, 0),
                                .v = heads_of(context, block, "v_proj", fused, 1),
                                .k = heads_of(context, block, "k_proj", fused, 2)};
}

const struct model_decoder describe_codegen = {
    .model_type = "codegen",
    .class_name = "CodeGenForCausalLM",
    GPT_J_FORM,
    .layout = lay_out,
    .tensors =
        {
            GPT_TENSORS_STREAM,
            .o = "transformer.h.{i}.attn.out_proj",
            GPT_TENSORS_PARALLEL_MLP,
        },
};
