// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "schema/split_axes.h"

static const struct expression *shape_of(const struct compiled_op *schema, uint32_t param)
{
    const uint32_t like = schema->params[param].shape_like;
    return schema->params[like == COMPILED_NONE ? param : like].shape;
}

// What conditions of shapes ask for: the numbers of a call.
static void define_numbers(const struct compiled_op *schema,
                           const struct infer_argument *arguments,
                           struct expression_scope *out_scope)
{
    expression_scope_init(out_scope, &schema->names);
    for (uint32_t p = 0; p < schema->op->n_params; p++) {
        if (schema->params[p].symbol != EXPRESSION_NONE) {
            expression_define(out_scope, schema->params[p].symbol, &arguments[p].i);
        }
    }
}

struct split_axes split_axes_find(const struct compiled_op *schema,
                                  const struct split_rule *rule,
                                  const struct infer_argument *arguments,
                                  uint32_t param)
{
    struct expression_scope scope;
    struct split_axes found = {0};
    define_numbers(schema, arguments, &scope);
    for (uint32_t i = 0; i < rule->symbol_count && found.count == 0; i++) {
        found.symbol = i;
        expression_axes(&scope, shape_of(schema, param), rule->symbols[i], arguments[param].rank,
                        &found.first, &found.count);
    }
    return found;
}
