// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// LLaVA (arXiv 2304.08485, 2310.03744), a wrapper: its text part is a Llama. Published configs say
// little of it, and the sizes are the class's where they are silent.
#include <tapml/model/decoder.h>
#include <tapml/model/names.h>
#include <tapml/model/wrapper.h>

static const struct model_decoder text = {
    .model_type = "llama",
    .class_name = "LlamaForCausalLM",
    .keys = {MODEL_KEYS_LLAMA},
    .defaults =
        {
            MODEL_DEFAULTS_LLAMA,
            .sizes = {.hidden = 4096,
                      .layers = 32,
                      .heads = 32,
                      .mlp_width = 11008,
                      .vocabulary = 32000},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .expected = {{"/rope_interleaved", "false"}},
};

// A "vocab_size" outside of the section is the section's again, which decides.
static const struct model_wrapper wrapper = {
    .section = "/text_config",
    .texts = {{.model_type = "llama",
               .description = &text,
               .build = model_decoder_build,
               .fill = model_decoder_fill}},
    .shared = {"/tie_word_embeddings"},
    .ignored = {"/vision_config", "/vision_feature_layer", "/vision_feature_select_strategy",
                "/image_token_index", "/image_seq_length", "/projector_hidden_act",
                "/multimodal_projector_bias", "/ignore_index", "/vocab_size"},
};

const struct model_architecture describe_llava = {
    .model_type = "llava",
    .class_name = "LlavaForConditionalGeneration",
    .description = &wrapper,
    .build = model_wrapper_build,
    .fill = model_wrapper_fill,
};
