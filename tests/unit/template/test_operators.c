// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/operators.h"

// What `left operator right` is printed as; both are JSON.
static void gives(const char *left, const char *operator_, const char *right, const char *expected)
{
    struct workspace workspace;
    struct datum out;
    workspace_open(&workspace);
    const struct datum a = workspace_datum(&workspace, left);
    const struct datum b = workspace_datum(&workspace, right);
    const tapml_status status = operators_apply(&workspace.budget, operator_, &a, &b, &out);
    if (status == TAPML_OK) {
        workspace_is(&workspace, &out, expected);
    } else {
        cr_assert_not_null(strstr(status_message(), expected), "%s", status_message());
    }
    workspace_close(&workspace);
}

Test(operators, compute_as_python)
{
    gives("-7", "//", "2", "-4");
    gives("-7", "%", "3", "2");
    gives("7", "%", "-3", "-2");
    gives("7", "/", "2", "3.5");
    gives("2", "**", "10", "1024");
    gives("2", "**", "-1", "0.5");
    gives("-1", "**", "9000000000000000001", "-1");
    gives("1.5", "+", "true", "2.5");
    gives("\"a\"", "+", "\"b\"", "ab");
    gives("\"a\"", "~", "null", "aNone");
    gives("[1]", "+", "[2]", "[1, 2]");
    gives("2", "*", "\"ab\"", "abab");
    gives("[1]", "*", "-1", "[]");
}

Test(operators, refuse_what_python_refuses)
{
    gives("1", "/", "0", "division by zero");
    gives("1", "%", "0.0", "division by zero");
    gives("9223372036854775807", "*", "2", "64 bits");
    gives("-9223372036854775808", "//", "-1", "64 bits");
    gives("-9223372036854775808", "%", "-1", "0");
    gives("3", "**", "1000000000", "64 bits");
    gives("1", "+", "\"a\"", "between an integer and a text");
    gives("\"%s\"", "%", "1", "between a text and an integer");
    gives("\"x\"", "*", "1000000000", "too much");
}

Test(operators, take_items_and_slices)
{
    struct workspace workspace;
    struct datum out;
    const struct datum text = datum_word("h\xc3\xa9llo");
    const struct datum last = datum_integer(-1);
    const struct datum far_away = datum_integer(99);
    const struct datum backwards[3] = {datum_none(), datum_none(), datum_integer(-2)};
    const struct datum middle[3] = {datum_integer(1), datum_integer(-1), datum_none()};
    const struct datum stands[3] = {datum_none(), datum_none(), datum_integer(0)};
    workspace_open(&workspace);
    cr_assert_eq(operators_item(&workspace.budget, &text, &last, &out), TAPML_OK);
    workspace_is(&workspace, &out, "o");
    cr_assert_eq(operators_item(&workspace.budget, &text, &far_away, &out), TAPML_OK);
    cr_assert_eq(out.kind, DATUM_UNDEFINED);
    cr_assert_eq(operators_slice(&workspace.budget, &text, backwards, &out), TAPML_OK);
    workspace_is(&workspace, &out, "olh");
    cr_assert_eq(operators_slice(&workspace.budget, &text, middle, &out), TAPML_OK);
    workspace_is(&workspace, &out, "\xc3\xa9ll");
    workspace_refused(operators_slice(&workspace.budget, &text, stands, &out), "step");
    workspace_refused(operators_slice(&workspace.budget, &last, middle, &out), "an integer");
    workspace_close(&workspace);
}

Test(operators, compare_and_sign)
{
    struct workspace workspace;
    struct datum out;
    int truth = 0;
    const struct datum one = datum_integer(1);
    const struct datum word = datum_word("a");
    const struct datum undefined = datum_undefined("x");
    workspace_open(&workspace);
    cr_assert_eq(operators_compare(&workspace.budget, "not in", &word, &word, &truth), TAPML_OK);
    cr_assert_not(truth);
    workspace_refused(operators_compare(&workspace.budget, "<", &undefined, &one, &truth),
                      "'x' is undefined");
    cr_assert_eq(operators_sign("-", &one, &out), TAPML_OK);
    cr_assert_eq(out.integer, -1);
    workspace_refused(operators_sign("-", &word, &out), "a text");
    workspace_close(&workspace);
}
