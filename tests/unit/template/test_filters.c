// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/filters.h"

// What `value | name(argument)` is printed as, or a part of the refusal; both are JSON.
static void gives(const char *value, const char *name, const char *argument, const char *expected)
{
    struct workspace workspace;
    struct datum items[2];
    struct datum out;
    workspace_open(&workspace);
    items[0] = workspace_datum(&workspace, value);
    items[1] = argument ? workspace_datum(&workspace, argument) : datum_none();
    const struct arguments arguments = {.items = items, .count = argument ? 2 : 1};
    const tapml_status status = filters_apply(&workspace.budget, name, &arguments, &out);
    if (status == TAPML_OK) {
        workspace_is(&workspace, &out, expected);
    } else {
        cr_assert_not_null(strstr(status_message(), expected), "%s", status_message());
    }
    workspace_close(&workspace);
}

Test(filters, compute_as_jinja)
{
    gives("\" a \"", "trim", NULL, "a");
    gives("[1, 2]", "tojson", NULL, "[1, 2]");
    gives("[3, 1]", "sort", NULL, "[1, 3]");
    gives("{\"b\": 1, \"A\": 2}", "dictsort", NULL, "[('A', 2), ('b', 1)]");
    gives("[0, 1]", "select", NULL, "[1]");
    gives("[{\"a\": 1}, {\"a\": 2}]", "selectattr", "\"a\"", "[{'a': 1}, {'a': 2}]");
    gives("[\" x\"]", "map", "\"trim\"", "['x']");
    gives("null", "default", "\"d\"", "None");
    gives("\"3.7\"", "int", NULL, "3");
    gives("\"x\"", "float", NULL, "0.0");
    gives("\"a\\nb\"", "indent", "2", "a\n  b");
}

Test(filters, refuse_by_name)
{
    cr_assert(filters_know("trim") && filters_know("map"));
    cr_assert_not(filters_know("urlize"));
    gives("1", "urlize", NULL, "the filter 'urlize'");
    gives("1", "items", NULL, "'items' expects a map");
    gives("[1]", "map", NULL, "'map' expects");
    gives("[1]", "map", "\"urlize\"", "the filter 'urlize' of 'map'");
    gives("[1]", "select", "\"nothing\"", "the test 'nothing' of 'select'");
    gives("null", "int", NULL, "expects a number");
    gives("1", "length", NULL, "no length");
    gives("1", "trim", "[1]", "1");
}
