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

// The library of an animal of the zoo, in static memory.
static char *animal(const char *name)
{
    static char paths[4][512];
    static size_t count;
    char *path = paths[count++ % 4];

    (void)snprintf(path, 512, "%s/tests/zoo/%s.so", getenv("TAPML_TEST_BUILD"), name);
    return path;
}

Test(command_ops, a_plugin_that_is_wrong_costs_its_own_column_alone)
{
    static const char *const wrong[] = {"no_driver", "exits_in_probe", "crashes_in_query"};
    struct printed printed = PRINTED(command_ops_main, "--plugin", animal("no_driver"), "--plugin",
                                     animal("exits_in_probe"), "--plugin",
                                     animal("crashes_in_query"), "--plugin", animal("good"));
    const char *own = strstr(printed.out, "tapml.silu@1");
    const char *brought = strstr(printed.out, "org.example.scale@1");

    cr_assert_eq(printed.outcome, OUTCOME_OK);
    for (size_t i = 0; i < 3; i++) {
        char line[128];

        (void)snprintf(line, sizeof(line), "not listed: the component '%s'", wrong[i]);
        cr_assert_not_null(strstr(printed.err, line), "%s", printed.err);
        cr_assert_null(strstr(printed.out, wrong[i]));
    }
    // Behind the ops of the host stand those that plugins bring, each once.
    cr_assert(own != NULL && brought != NULL && own < brought, "%s", printed.out);
    cr_assert_null(strstr(brought + 1, "org.example.scale@1"), "%s", printed.out);
    printed_release(&printed);
}

Test(command_ops, prints_a_table)
{
    struct printed printed = PRINTED(command_ops_main, "--threads", "1");

    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_not_null(strstr(printed.out, "tapml.rms_norm@1"));
    printed_release(&printed);
}
