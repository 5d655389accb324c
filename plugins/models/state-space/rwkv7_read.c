// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "rwkv7.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_MAX = 1 << 12 };

// How it is computed; biases, and the rank of what a single layer has no use for: the tensors show
// both.
static const char *const passed_over[] = {
    "/attn_mode",  "/fuse_norm", "/fuse_cross_entropy",      "/fuse_linear_cross_entropy",
    "/use_l2warp", "/norm_bias", "/max_position_embeddings", "/v_low_rank_dim"};

static void check_value_widths(struct model_context *context, const struct rwkv7 *own)
{
    const tapml_host_config *table = context->config_table;
    const int64_t count = table->length(context->config, "/value_dim");

    for (int64_t i = 0; i < count && i < own->stack->layers; i++) {
        struct model_name pointer;

        snprintf(pointer.text, sizeof(pointer.text), "/value_dim/%lld", (long long)i);
        if (table->i64(context->config, pointer.text, own->stack->hidden) != own->stack->hidden) {
            model_fail(context, TAPML_UNIMPLEMENTED, "'%s' is not 'hidden_size', %lld",
                       pointer.text + 1, (long long)own->stack->hidden);
        }
    }
}

static void read_mlp(struct model_context *context, struct rwkv7 *own)
{
    const double ratio = context->config_table->f64(context->config, "/hidden_ratio", 4);
    const double wide = ratio * (double)own->stack->hidden;

    if (context->config_table->has(context->config, "/intermediate_size")) {
        own->mlp = model_config_count_of(context, "/intermediate_size", 0, MODEL_WIDTH_MAX);
    } else if (!(wide >= 1 && wide <= MODEL_WIDTH_MAX - 32)) {
        model_fail(context, TAPML_INVALID, "'hidden_ratio' is %g, expected a number above 0",
                   ratio);
    } else {
        own->mlp = ((int64_t)wide + 31) / 32 * 32;
    }
}

void rwkv7_read(struct model_context *context, struct rwkv7 *own)
{
    const tapml_host_config *table = context->config_table;
    const int64_t hidden = own->stack->hidden;
    static const char *const acts[] = {"sqrelu", "relu2", NULL};

    own->width = model_config_count_of(context, "/head_dim", 64, HEAD_MAX);
    own->heads = own->width > 0 ? hidden / own->width : 0;
    own->has_first_norm = table->boolean(context->config, "/norm_first", 1);
    read_mlp(context, own);
    check_value_widths(context, own);
    table->expect(context->config, "/attn", "null");
    for (size_t i = 0; i < sizeof(passed_over) / sizeof(*passed_over); i++) {
        table->ignore(context->config, passed_over[i]);
    }
    if (own->heads < 1 || own->heads * own->width != hidden) {
        model_fail(context, TAPML_INVALID, "'hidden_size' is %lld, no multiple of 'head_dim', %lld",
                   (long long)hidden, (long long)own->width);
    } else if (model_config_count_of(context, "/num_heads", own->heads, hidden) != own->heads) {
        model_fail(context, TAPML_INVALID, "'num_heads' is not %lld, 'hidden_size' by 'head_dim'",
                   (long long)own->heads);
    }
    if (own->stack->eps * (double)own->width > 1) {
        model_fail(context, TAPML_INVALID, "'norm_eps' times 'head_dim' is %g, expected at most 1",
                   own->stack->eps * (double)own->width);
    }
    (void)model_config_choice(context, "/hidden_act", acts[0], acts); // They are the same.
}
