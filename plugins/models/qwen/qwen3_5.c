// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Qwen3.5 with images, a wrapper around its text model.
#include <tapml/model/decoder.h>
#include <tapml/model/wrapper.h>

extern const struct model_decoder describe_qwen3_5_text;

static const struct model_wrapper wrapper = {
    .section = "/text_config",
    .texts = {{.model_type = "qwen3_5_text",
               .description = &describe_qwen3_5_text,
               .build = model_decoder_build,
               .fill = model_decoder_fill}},
    .shared = {"/tie_word_embeddings"},
    .ignored = {"/vision_config"},
};

const struct model_architecture describe_qwen3_5 = {
    .model_type = "qwen3_5",
    .class_name = "Qwen3_5ForConditionalGeneration",
    .description = &wrapper,
    .build = model_wrapper_build,
    .fill = model_wrapper_fill,
};
