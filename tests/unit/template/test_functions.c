// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/functions.h"

static const int64_t noon = 1767268800; // On the first day of 2026.

static void gives(const char *name, const char *arguments_json, const char *expected)
{
    struct workspace workspace;
    struct datum out;
    workspace_open(&workspace);
    const struct datum list = workspace_datum(&workspace, arguments_json);
    const struct arguments arguments = {.items = list.list->items, .count = list.list->count};
    const tapml_status status = functions_call(&workspace.budget, name, &arguments, noon, &out);
    if (status == TAPML_OK) {
        workspace_is(&workspace, &out, expected);
    } else {
        cr_assert_not_null(strstr(status_message(), expected), "%s", status_message());
    }
    workspace_close(&workspace);
}

Test(functions, compute_as_jinja)
{
    gives("range", "[3]", "[0, 1, 2]");
    gives("range", "[5, 0, -2]", "[5, 3, 1]");
    gives("range", "[0]", "[]");
    gives("dict", "[{\"a\": 1}]", "{'a': 1}");
    gives("strftime_now", "[\"%d %b %Y\"]", "01 Jan 2026");
}

Test(functions, refuse_with_a_sentence)
{
    cr_assert_str_eq(functions_find("range"), "range");
    cr_assert_null(functions_find("cycler"));
    gives("cycler", "[]", "the function 'cycler'");
    gives("range", "[]", "one to three");
    gives("range", "[1, 2, 0]", "step");
    gives("range", "[100001]", "at most 100000");
    gives("range", "[1.5]", "a real number");
    gives("raise_exception", "[\"no tools\"]", "refuses the messages: no tools");
    gives("dict", "[1]", "takes a map");
}
