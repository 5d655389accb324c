// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"

static void is_json(const char *value, const struct spelling_json *options, const char *expected)
{
    struct workspace workspace;
    struct datum text;
    workspace_open(&workspace);
    const struct datum datum = workspace_datum(&workspace, value);
    cr_assert_eq(spelling_of_json(&workspace.budget, &datum, options, &text), TAPML_OK);
    cr_assert_str_eq(text.text.bytes, expected);
    workspace_close(&workspace);
}

Test(spelling, prints_as_python)
{
    struct workspace workspace;
    static const char *const pairs[][2] = {
        {"[1, 2.5, null, true, \"a'b\"]", "[1, 2.5, None, True, \"a'b\"]"},
        {"{\"a\": \"x\\n\"}", "{'a': 'x\\n'}"},
        {"1e16", "1e+16"},
        {"0.0001", "0.0001"},
        {"0.00001", "1e-05"},
        {"0.1", "0.1"},
        {"123456789012345.0", "123456789012345.0"},
        {"\"plain\"", "plain"},
        {NULL, NULL},
    };
    workspace_open(&workspace);
    for (int i = 0; pairs[i][0]; ++i) {
        const struct datum datum = workspace_datum(&workspace, pairs[i][0]);
        workspace_is(&workspace, &datum, pairs[i][1]);
    }
    const struct datum undefined = datum_undefined("x");
    workspace_is(&workspace, &undefined, "");
    workspace_close(&workspace);
}

Test(spelling, writes_json_as_python)
{
    const char value[] = "{\"b\": [1, \"\\u00e9\\\"\\n\"], \"a\": {}}";
    is_json(value, &(struct spelling_json){.indent = -1},
            "{\"b\": [1, \"\xc3\xa9\\\"\\n\"], \"a\": {}}");
    is_json(value, &(struct spelling_json){.indent = -1, .is_ascii = 1, .sorts_keys = 1},
            "{\"a\": {}, \"b\": [1, \"\\u00e9\\\"\\n\"]}");
    is_json("[1, {\"a\": 2}]", &(struct spelling_json){.indent = 1},
            "[\n 1,\n {\n  \"a\": 2\n }\n]");
    is_json("[1, {\"a\": 2}]",
            &(struct spelling_json){.indent = -1, .item_separator = ",", .key_separator = ":"},
            "[1,{\"a\":2}]");
}

Test(spelling, takes_what_was_written_unless_that_failed)
{
    struct workspace workspace;
    struct datum datum = datum_none();
    struct text text;
    workspace_open(&workspace);
    text_init(&text);
    text_append(&text, "a");
    cr_assert_eq(spelling_take(&workspace.budget, TAPML_INVALID, &text, &datum), TAPML_INVALID);
    cr_assert_str_eq(text.data, "");
    cr_assert_eq(datum.kind, DATUM_NONE);
    text_append(&text, "b");
    cr_assert_eq(spelling_take(&workspace.budget, TAPML_OK, &text, &datum), TAPML_OK);
    cr_assert(datum_is_word(&datum, "b"));
    workspace_close(&workspace);
}

Test(spelling, refuses_what_json_has_not)
{
    struct workspace workspace;
    struct datum text;
    const struct datum undefined = datum_undefined("x");
    workspace_open(&workspace);
    workspace_refused(spelling_of_json(&workspace.budget, &undefined,
                                       &(struct spelling_json){.indent = -1}, &text),
                      "as JSON");
    workspace_close(&workspace);
}
