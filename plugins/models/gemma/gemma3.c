// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Gemma 3 with images, a wrapper around its text model.
#include <tapml/model/decoder.h>
#include <tapml/model/wrapper.h>

extern const struct model_decoder describe_gemma3_text;

static const struct model_wrapper wrapper = {
    .section = "/text_config",
    .texts = {{.model_type = "gemma3_text",
               .description = &describe_gemma3_text,
               .build = model_decoder_build,
               .fill = model_decoder_fill}},
    .shared = {"/tie_word_embeddings"},
    .ignored = {"/vision_config", "/mm_tokens_per_image", "/image_token_index", "/boi_token_index",
                "/eoi_token_index"},
};

const struct model_architecture describe_gemma3 = {
    .model_type = "gemma3",
    .class_name = "Gemma3ForConditionalGeneration",
    .description = &wrapper,
    .build = model_wrapper_build,
    .fill = model_wrapper_fill,
};
