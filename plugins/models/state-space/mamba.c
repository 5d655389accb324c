// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Mamba, as the selective scan is published.
#include "selective.h"

static tapml_graph_value
layers(struct model_context *context, const struct stack *stack, tapml_graph_value h)
{
    return selective_layers(context, stack, 0, h);
}

static const struct stack_description description = {
    SELECTIVE_DESCRIPTION,
    .layers = layers,
};

const struct model_architecture describe_mamba = {
    .model_type = "mamba",
    .class_name = "MambaForCausalLM",
    .description = &description,
    .build = stack_build,
    .fill = stack_fill,
};
