// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "config/hangs.h"
#include "harness/command.h"
#include "harness/scratch.h"

#include <jansson.h>

// A component in the JSON list.
static json_t *find(json_t *list, const char *component)
{
    size_t index = 0;
    json_t *entry = NULL;

    json_array_foreach(list, index, entry)
    {
        if (strcmp(json_string_value(json_object_get(entry, "component")), component) == 0) {
            return entry;
        }
    }
    cr_assert_fail("'%s' is not listed", component);
    return NULL;
}

static const char *state_of(json_t *list, const char *component)
{
    return json_string_value(json_object_get(find(list, component), "state"));
}

static size_t devices_of(json_t *list, const char *component)
{
    json_t *devices = json_object_get(find(list, component), "devices");

    cr_assert(json_is_array(devices));
    return json_array_size(devices);
}

Test(command_plugins, lists_every_candidate_with_a_state)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/tests/zoo/good.so", getenv("TAPML_TEST_BUILD"));
    struct printed printed = PRINTED(command_plugins_main, "--json", "--plugin", path);
    json_error_t error;
    json_t *list = json_loads(printed.out, 0, &error);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(list, "%s", error.text);
    cr_assert_str_eq(state_of(list, "reference"), "usable");
    cr_assert_str_eq(state_of(list, "llama"), "usable");
    cr_assert_str_eq(state_of(list, "null"), "usable");
    cr_assert_eq(devices_of(list, "null"), 1u);
    cr_assert_eq(devices_of(list, "llama"), 0u);
    cr_assert_eq(devices_of(list, "good"), 2u);
    json_t *second = json_array_get(json_object_get(find(list, "good"), "devices"), 1);

    cr_assert_str_eq(json_string_value(json_object_get(second, "id")), "0000:02/b");
    cr_assert_str_eq(json_string_value(json_object_get(second, "driver")), "zoo 1.0");
    cr_assert_eq(json_integer_value(json_object_get(second, "buffer_bytes")), 1 << 20);
    cr_assert_eq(json_integer_value(json_object_get(second, "memory_bytes")), 0);
    json_decref(list);
    printed_release(&printed);
}

Test(command_plugins, why_reports_of_one)
{
    char path[512];
    struct scratch scratch;

    (void)snprintf(path, sizeof(path), "%s/tests/zoo/rough_probe.so", getenv("TAPML_TEST_BUILD"));
    struct printed printed =
        PRINTED(command_plugins_main, "--plugin", path, "--why", "rough_probe");

    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_not_null(strstr(printed.out, "The zoo's rough_probe; its probe changed "), "%s",
                       printed.out);
    cr_assert_not_null(strstr(printed.out, "handlers of signals: USR2, restored\n"), "%s",
                       printed.out);
    printed_release(&printed);
    printed = PRINTED(command_plugins_main, "--why", "reference");
    cr_assert_eq(printed.outcome, OUTCOME_OK);
    cr_assert_not_null(strstr(printed.out, "org.tapml.cpu"));
    cr_assert_null(strstr(printed.out, "llama"));
    printed_release(&printed);
    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    hangs_note("abc", "gpu");
    printed = PRINTED(command_plugins_main, "--why", "nonsense", "--again");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not(file_exists(scratch_path(&scratch, "tapml/hangs.ini")), "it is forgotten");
    scratch_remove(&scratch);
    cr_assert_not_null(strstr(printed.err, "'nonsense'"));
    printed_release(&printed);
}
