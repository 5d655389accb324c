// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Llama (arXiv 2302.13971, 2307.09288, 2407.21783): the ordinary decoder under its own names.

#include <tapml/model/block.h>
#include <tapml/model/names.h>

const struct model_decoder describe_llama = {
    .model_type = "llama",
    .class_name = "LlamaForCausalLM",
    .keys = {MODEL_KEYS_LLAMA},
    .defaults = {MODEL_DEFAULTS_LLAMA},
    .tensors = {MODEL_TENSORS_LLAMA},
    .ignored = {"/is_llama_config"},
    .expected = {{"/rope_interleaved", "false"}},
};
