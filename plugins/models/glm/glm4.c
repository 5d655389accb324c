// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// GLM-4-0414: GLM-4 with norms before and behind both halves of a layer.
#include "glm.h"

const struct model_decoder describe_glm4 = {
    .model_type = "glm4",
    .class_name = "Glm4ForCausalLM",
    GLM_FORM,
    .defaults = {GLM_DEFAULTS},
    .tensors =
        {
            GLM_TENSORS,
            .attention_norm_after = "model.layers.{i}.post_self_attn_layernorm",
            .mlp_norm_after = "model.layers.{i}.post_mlp_layernorm",
        },
};
