// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gemma.h"

#include <math.h>

void gemma_scale(struct model_context *context,
                 const struct model_block *block,
                 struct model_attention *attention)
{
    const double width = model_config_number_of(context, "/query_pre_attn_scalar", 256);

    attention->scale = 1 / sqrt(width > 0 ? width : (double)block->sizes->head_width);
}

tapml_graph_value
gemma_limit(struct model_context *context, tapml_graph_value logits, double fallback)
{
    const double limit = model_config_number_of(context, "/final_logit_softcapping", fallback);

    return limit > 0 ? model_softcap(context, "logit_softcap", logits, limit) : logits;
}
