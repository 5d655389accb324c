// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/strings.h"

Test(strings, are_stripped)
{
    struct workspace workspace;
    struct datum out;
    const struct datum text = datum_word(" --x- ");
    const struct datum set = datum_word(" -");
    workspace_open(&workspace);
    cr_assert_eq(strings_strip(&workspace.budget, &text, NULL, STRINGS_LEFT, &out), TAPML_OK);
    cr_assert_eq(out.text.length, 5);
    cr_assert_eq(strings_strip(&workspace.budget, &text, &set, STRINGS_BOTH, &out), TAPML_OK);
    cr_assert(datum_is_word(&out, "x"));
    workspace_close(&workspace);
}

static void splits(const char *bytes, const char *separator, int limit, const char *expected)
{
    struct workspace workspace;
    struct datum out;
    const struct datum text = datum_word(bytes);
    const struct datum at = datum_word(separator ? separator : "");
    const int from_right = limit > 0;
    workspace_open(&workspace);
    cr_assert_eq(strings_split(&workspace.budget, &text, separator ? &at : NULL, limit,
                               separator && from_right, &out),
                 TAPML_OK);
    workspace_is(&workspace, &out, expected);
    workspace_close(&workspace);
}

Test(strings, are_split)
{
    splits("a,b,,c", ",", -1, "['a', 'b', '', 'c']");
    splits("a,b,c", ",", 1, "['a,b', 'c']");
    splits(" a  b c ", NULL, -1, "['a', 'b', 'c']");
    splits(" a  b c ", NULL, 1, "['a', 'b c']");
    splits("", ",", -1, "['']");
}

Test(strings, are_replaced_and_joined)
{
    struct workspace workspace;
    struct datum out;
    const struct datum text = datum_word("aXb");
    const struct datum old = datum_word("X");
    const struct datum fresh = datum_word("--");
    const struct datum none = datum_word("");
    workspace_open(&workspace);
    cr_assert_eq(strings_replace(&workspace.budget, &text, &old, &fresh, -1, &out), TAPML_OK);
    workspace_is(&workspace, &out, "a--b");
    cr_assert_eq(strings_replace(&workspace.budget, &text, &none, &fresh, -1, &out), TAPML_OK);
    workspace_is(&workspace, &out, "--a--X--b--");
    cr_assert_eq(strings_replace(&workspace.budget, &text, &old, &fresh, 0, &out), TAPML_OK);
    workspace_is(&workspace, &out, "aXb");
    const struct datum list = workspace_datum(&workspace, "[1, \"x\", null]");
    cr_assert_eq(strings_join(&workspace.budget, list.list, &fresh, &out), TAPML_OK);
    workspace_is(&workspace, &out, "1--x--None");
    const struct datum lines = datum_word("a\r\nb\n\nc");
    cr_assert_eq(strings_lines(&workspace.budget, &lines, &out), TAPML_OK);
    workspace_is(&workspace, &out, "['a', 'b', '', 'c']");
    workspace_close(&workspace);
}

Test(strings, change_case_within_ascii)
{
    struct workspace workspace;
    struct datum out;
    const struct datum text = datum_word("it's a-b");
    const struct datum wide = datum_word("\xc3\xa9");
    static const char *const expected[] = {"IT'S A-B", "it's a-b", "It's a-b", "It'S A-B",
                                           "It's A-B"};
    workspace_open(&workspace);
    for (int i = STRINGS_UPPER; i <= STRINGS_WORDS; ++i) {
        cr_assert_eq(strings_set_case(&workspace.budget, &text, (enum strings_case)i, &out),
                     TAPML_OK);
        workspace_is(&workspace, &out, expected[i]);
    }
    workspace_refused(strings_set_case(&workspace.budget, &wide, STRINGS_UPPER, &out), "ASCII");
    workspace_close(&workspace);
}
