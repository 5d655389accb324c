// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/methods.h"

// What `object.name(argument)` is printed as, or a part of the refusal; both are JSON.
static void gives(const char *object, const char *name, const char *argument, const char *expected)
{
    struct workspace workspace;
    struct datum out;
    workspace_open(&workspace);
    const struct datum datum = workspace_datum(&workspace, object);
    struct datum item = argument ? workspace_datum(&workspace, argument) : datum_none();
    const struct arguments arguments = {.items = &item, .count = argument ? 1 : 0};
    const tapml_status status = methods_call(&workspace.budget, &datum, name, &arguments, &out);
    if (status == TAPML_OK) {
        workspace_is(&workspace, &out, expected);
    } else {
        cr_assert_not_null(strstr(status_message(), expected), "%s", status_message());
    }
    workspace_close(&workspace);
}

Test(methods, compute_as_python)
{
    gives("\" a \"", "lstrip", NULL, "a ");
    gives("\"a,b\"", "split", "\",\"", "['a', 'b']");
    gives("\"abc\"", "startswith", "\"ab\"", "True");
    gives("\"abc\"", "endswith", "\"ab\"", "False");
    gives("\"abc\"", "removesuffix", "\"c\"", "ab");
    gives("\", \"", "join", "[\"a\", \"b\"]", "a, b");
    gives("\"\\u00e9x\"", "find", "\"x\"", "1");
    gives("\"aaa\"", "count", "\"a\"", "3");
    gives("\"12\"", "isdigit", NULL, "True");
    gives("{\"a\": 1}", "items", NULL, "[('a', 1)]");
    gives("{\"a\": 1}", "values", NULL, "[1]");
    gives("{\"a\": 1}", "get", "\"b\"", "None");
}

Test(methods, refuse_by_name)
{
    const struct datum text = datum_word("");
    cr_assert(methods_know(&text, "strip"));
    cr_assert_not(methods_know(&text, "items"));
    gives("[1]", "append", "2", "the method 'append' of a list");
    gives("\"a\"", "format", NULL, "the method 'format' of a text");
    gives("1", "bit_length", NULL, "the method 'bit_length' of an integer");
    gives("\"a\"", "startswith", "1", "'startswith' expects a text, found an integer");
    gives("\"a\"", "split", "\"\"", "not empty");
}
