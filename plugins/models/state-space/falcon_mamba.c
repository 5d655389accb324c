// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Falcon Mamba: Mamba whose dt, B and C are normalised.
#include "selective.h"

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    return selective_layers(context, stack, 1, h);
}

static const struct stack_description description = {
    SELECTIVE_DESCRIPTION,
    .layers = layers,
};

const struct model_architecture describe_falcon_mamba = {
    .model_type = "falcon_mamba",
    .class_name = "FalconMambaForCausalLM",
    .description = &description,
    .build = stack_build,
    .fill = stack_fill,
};
