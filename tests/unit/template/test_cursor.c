// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/cursor.h"

static struct cursor open_cursor(struct workspace *workspace, const char *source)
{
    struct tokens tokens;
    workspace_open(workspace);
    cr_assert_eq(lexer_read(&workspace->budget, "t", source, strlen(source), &tokens), TAPML_OK);
    return (struct cursor){.budget = &workspace->budget, .name = "t", .at = tokens.items};
}

Test(cursor, goes_over_tokens)
{
    struct workspace workspace;
    struct cursor cursor = open_cursor(&workspace, "{{ a . not in }}");
    const char *name = NULL;
    cr_assert_eq(cursor_expect_kind(&cursor, TOKEN_VARIABLE_BEGIN), TAPML_OK);
    cr_assert(cursor_is_name(&cursor, "a") && cursor_next_is(&cursor, "."));
    cr_assert_eq(cursor_expect_name(&cursor, &name), TAPML_OK);
    cr_assert_str_eq(name, "a");
    cr_assert_not(cursor_skip(&cursor, "+"));
    cr_assert(cursor_skip(&cursor, "."));
    cr_assert(cursor_is_name(&cursor, "not") && cursor_next_is_name(&cursor, "in"));
    cr_assert(cursor_skip_name(&cursor, "not"));
    workspace_close(&workspace);
}

Test(cursor, refuses_with_the_line)
{
    struct workspace workspace;
    struct cursor cursor = open_cursor(&workspace, "\n{{ 1 }}");
    const char *name = NULL;
    ++cursor.at;
    workspace_refused(cursor_expect(&cursor, "("), "t:2: expected '(', found '{{'");
    workspace_refused(cursor_expect_name(&cursor, &name), "t:2: expected a name, found '{{'");
    workspace_refused(cursor_unsupported(&cursor, 5, "filter", "x"), "t:5: the filter 'x'");
    workspace_refused(cursor_explain(&cursor, 9, status_fail(TAPML_INVALID, "x")), "t:9: x");
    workspace_refused(cursor_explain(&cursor, 9, status_fail(TAPML_INVALID, "t:1: x")), "t:1: x");
    workspace_close(&workspace);
}
