// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mistral 3, a wrapper: its text part is a Mistral (Mistral Small 3.1), a Ministral 3 or a Qwen3
// (LightOnOCR).
#include <tapml/model/decoder.h>
#include <tapml/model/wrapper.h>

extern const struct model_decoder describe_mistral, describe_ministral3, describe_qwen3;

static const struct model_wrapper wrapper = {
    .section = "/text_config",
    .texts = {{.model_type = "mistral",
               .description = &describe_mistral,
               .build = model_decoder_build,
               .fill = model_decoder_fill},
              {.model_type = "ministral3",
               .description = &describe_ministral3,
               .build = model_decoder_build,
               .fill = model_decoder_fill},
              {.model_type = "qwen3",
               .description = &describe_qwen3,
               .build = model_decoder_build,
               .fill = model_decoder_fill}},
    .shared = {"/tie_word_embeddings"},
    .ignored = {"/vision_config", "/vision_feature_layer", "/image_token_index",
                "/projector_hidden_act", "/multimodal_projector_bias", "/spatial_merge_size"},
};

const struct model_architecture describe_mistral3 = {
    .model_type = "mistral3",
    .class_name = "Mistral3ForConditionalGeneration",
    .description = &wrapper,
    .build = model_wrapper_build,
    .fill = model_wrapper_fill,
};
