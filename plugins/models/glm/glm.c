// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GLM-4 (arXiv 2406.12793) as transformers has it: Llama with biases on queries, keys and values,
// half of each head turned pair by pair, gate and up in one tensor.
#include "glm.h"

const struct model_decoder describe_glm = {
    .model_type = "glm",
    .class_name = "GlmForCausalLM",
    GLM_FORM,
    .defaults = {GLM_DEFAULTS},
    .tensors = {GLM_TENSORS},
};
