// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

#include <jansson.h>

Test(command_ops, the_reference_has_every_op_of_the_catalogue)
{
    struct printed printed = PRINTED(command_ops_main, "--json");
    json_t *list = json_loads(printed.out, 0, NULL), *entry = NULL, *backend = NULL;
    size_t index = 0, k = 0;

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_geq(json_array_size(list), 11u);
    json_array_foreach(list, index, entry)
    {
        int found = 0;

        json_array_foreach(json_object_get(entry, "backends"), k, backend)
        {
            found = found || strcmp(json_string_value(backend), "reference") == 0;
        }
        cr_assert(found, "%s", json_string_value(json_object_get(entry, "op")));
    }
    json_decref(list);
    printed_release(&printed);
}

Test(command_ops, says_why_a_backend_has_no_column)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/tests/zoo/no_driver.so", getenv("TAPML_TEST_BUILD"));
    struct printed printed = PRINTED(command_ops_main, "--json", "--plugin", path);

    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_null(strstr(printed.out, "no_driver"));
    cr_assert_not_null(strstr(printed.err, "not listed: the component 'no_driver'"), "%s",
                       printed.err);
    printed_release(&printed);
}

Test(command_ops, prints_a_table)
{
    struct printed printed = PRINTED(command_ops_main, "--threads", "1");

    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_not_null(strstr(printed.out, "tapml.rms_norm@1"));
    printed_release(&printed);
}
