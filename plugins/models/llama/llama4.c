// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Llama 4 with images, a wrapper around its text model.
#include <tapml/model/decoder.h>
#include <tapml/model/wrapper.h>

extern const struct model_decoder describe_llama4_text;

static const struct model_wrapper wrapper = {
    .section = "/text_config",
    .texts = {{.model_type = "llama4_text",
               .description = &describe_llama4_text,
               .build = model_decoder_build,
               .fill = model_decoder_fill}},
    // The text part alone decides if its head is the embedding.
    .ignored = {"/vision_config", "/image_token_index", "/boi_token_index", "/eoi_token_index",
                "/tie_word_embeddings"},
};

const struct model_architecture describe_llama4 = {
    .model_type = "llama4",
    .class_name = "Llama4ForConditionalGeneration",
    .description = &wrapper,
    .build = model_wrapper_build,
    .fill = model_wrapper_fill,
};
