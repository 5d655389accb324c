// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/syntax.h"

tapml_status syntax_new(struct budget *budget,
                        enum syntax_kind kind,
                        unsigned line,
                        const char *name,
                        struct syntax **out_node)
{
    void *node = NULL;
    TAPML_TRY(budget_spend(budget, 1));
    TAPML_TRY(budget_array(budget, 1, sizeof(struct syntax), &node));
    *out_node = node;
    **out_node = (struct syntax){.kind = kind, .line = line, .depth = 1, .name = name};
    return TAPML_OK;
}

tapml_status syntax_add(struct budget *budget,
                        struct syntax *node,
                        struct syntax_list *list,
                        struct syntax *child)
{
    if (child && child->depth >= SYNTAX_DEPTH_MAX) {
        return status_fail(TAPML_INVALID, "the template is nested more than %d levels deep",
                           SYNTAX_DEPTH_MAX);
    }
    TAPML_TRY(budget_grow(budget, (void **)&list->items, list->count, sizeof(*list->items)));
    list->items[list->count++] = child;
    if (child && child->depth >= node->depth) {
        node->depth = child->depth + 1;
    }
    return TAPML_OK;
}
