// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gpt.h"

void gpt_scale(struct model_context *context,
               const struct model_block *block,
               struct model_attention *attention)
{
    (void)block;
    if (!model_config_boolean_of(context, "/scale_attn_weights", 1)) {
        attention->scale = 1;
    }
}

void gpt_scale_by_layer(struct model_context *context,
                        const struct model_block *block,
                        struct model_attention *attention)
{
    gpt_scale(context, block, attention);
    if (model_config_boolean_of(context, "/scale_attn_by_inverse_layer_idx", 0)) {
        attention->scale /= (double)(context->layer + 1);
    }
}
