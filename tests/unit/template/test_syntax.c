// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/syntax.h"

Test(syntax, is_a_tree_of_bounded_depth)
{
    struct workspace workspace;
    struct syntax *inner = NULL;
    tapml_status status = TAPML_OK;
    workspace_open(&workspace);
    cr_assert_eq(syntax_new(&workspace.budget, SYNTAX_LIST, 7, "x", &inner), TAPML_OK);
    cr_assert_eq(inner->line, 7);
    cr_assert_eq(inner->depth, 1);
    cr_assert_eq(syntax_add(&workspace.budget, inner, &inner->parts, NULL), TAPML_OK);
    cr_assert_eq(inner->parts.count, 1);
    for (int i = 0; i < SYNTAX_DEPTH_MAX && status == TAPML_OK; ++i) {
        struct syntax *outer = NULL;
        cr_assert_eq(syntax_new(&workspace.budget, SYNTAX_LIST, 1, NULL, &outer), TAPML_OK);
        status = syntax_add(&workspace.budget, outer, &outer->parts, inner);
        inner = outer;
    }
    workspace_refused(status, "levels deep");
    workspace_close(&workspace);
}
