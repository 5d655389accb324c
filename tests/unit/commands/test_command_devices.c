// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/device_file.h"
#include "harness/command.h"
#include "harness/scratch.h"

Test(command_devices, lists_the_devices_of_all_or_of_one)
{
    struct printed all = PRINTED(command_devices_main, NULL);
    struct printed one = PRINTED(command_devices_main, "null");

    cr_assert_eq(all.outcome, OUTCOME_OK, "%s", all.err);
    cr_assert_not_null(strstr(all.out, "reference:f32  "));
    cr_assert_not_null(strstr(all.out, "null:host  "));
    cr_assert_eq(one.outcome, OUTCOME_OK, "%s", one.err);
    cr_assert_eq(strncmp(one.out, "null:host  ", 11), 0, "%s", one.out);
    cr_assert_null(strstr(one.out, "reference"));
    printed_release(&all);
    printed_release(&one);
}

Test(command_devices, dumps_a_file_that_can_be_read)
{
    struct printed printed = PRINTED(command_devices_main, "--dump", "reference:f64");
    struct device_file file;

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_eq(device_file_parse("dump", printed.out, strlen(printed.out), &file), TAPML_OK, "%s",
                 status_message());
    cr_assert_str_eq(device_file_source(&file, 0), "tapml-host devices --dump reference:f64");
    cr_assert_eq(file.group_items, 0);
    device_file_release(&file);
    printed_release(&printed);
}

Test(command_devices, what_is_not_there_is_refused)
{
    struct printed unknown = PRINTED(command_devices_main, "nothing");
    struct printed device = PRINTED(command_devices_main, "--dump", "reference:nothing");
    struct printed two = PRINTED(command_devices_main, "reference", "null");

    cr_assert_eq(unknown.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(unknown.err, "no plugin has a component 'nothing'"), "%s",
                       unknown.err);
    cr_assert_eq(device.outcome, OUTCOME_USAGE);
    cr_assert_eq(two.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(two.err, "found 'null' too"), "%s", two.err);
    cr_assert_not_null(strstr(device.err, "no device 'nothing'"), "%s", device.err);
    printed_release(&unknown);
    printed_release(&device);
    printed_release(&two);
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

Test(command_devices, a_plugin_that_is_wrong_costs_its_own_lines_alone)
{
    struct printed printed =
        PRINTED(command_devices_main, "--plugin", animal("exits_in_probe"), "--plugin",
                animal("crashes_in_create"), "--plugin", animal("no_driver"));

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "null:host  "), "%s", printed.out);
    cr_assert_not_null(strstr(printed.err, "ended its process with exit status 0"), "%s",
                       printed.err);
    cr_assert_not_null(strstr(printed.err, "was killed by SIGSEGV"), "%s", printed.err);
    // A driver that is not there is no mistake.
    cr_assert_null(strstr(printed.err, "no_driver"), "%s", printed.err);
    printed_release(&printed);
}

Test(command_devices, a_component_that_cannot_be_used_says_why)
{
    struct printed list =
        PRINTED(command_devices_main, "no_driver", "--plugin", animal("no_driver"));
    struct printed dump =
        PRINTED(command_devices_main, "--dump", "no_driver", "--plugin", animal("no_driver"));

    cr_assert_eq(list.outcome, OUTCOME_ENVIRONMENT);
    cr_assert_not_null(strstr(list.err, "is no-driver: "), "%s", list.err);
    cr_assert_eq(dump.outcome, OUTCOME_ENVIRONMENT);
    cr_assert_not_null(strstr(dump.err, "libunobtainium.so.1"), "%s", dump.err);
    printed_release(&list);
    printed_release(&dump);
}
