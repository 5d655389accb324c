// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/arguments.h"

static const char *const names[] = {"a", "b", NULL};

Test(arguments, become_parameters)
{
    struct datum items[] = {datum_integer(1)};
    struct arguments_keyword keywords[] = {{"b", datum_integer(2)}};
    const struct arguments arguments = {items, 1, keywords, 1};
    struct datum values[2];
    cr_assert_eq(arguments_bind(&arguments, "f", names, values), TAPML_OK);
    cr_assert_eq(values[0].integer, 1);
    cr_assert_eq(values[1].integer, 2);
}

Test(arguments, are_refused_by_name)
{
    struct datum items[] = {datum_integer(1), datum_integer(2), datum_integer(3)};
    struct arguments_keyword keywords[] = {{"a", datum_integer(2)}, {"q", datum_integer(2)}};
    struct datum values[2];
    workspace_refused(arguments_bind(&(struct arguments){items, 3, NULL, 0}, "f", names, values),
                      "'f' takes at most 2 arguments, found 3");
    workspace_refused(
        arguments_bind(&(struct arguments){items, 1, keywords, 1}, "f", names, values),
        "'a' twice");
    workspace_refused(
        arguments_bind(&(struct arguments){items, 0, keywords + 1, 1}, "f", names, values), "'q'");
}

Test(arguments, have_kinds_and_fallbacks)
{
    const struct datum none = datum_none();
    const struct datum word = datum_word("w");
    struct datum text;
    int64_t integer = 0;
    cr_assert_eq(arguments_integer("f", &none, 5, &integer), TAPML_OK);
    cr_assert_eq(integer, 5);
    workspace_refused(arguments_integer("f", &word, 5, &integer), "expects an integer");
    cr_assert_eq(arguments_text("f", &none, "x", &text), TAPML_OK);
    cr_assert(datum_is_word(&text, "x"));
    workspace_refused(arguments_text("f", &none, NULL, &text), "expects a text, found none");
}
