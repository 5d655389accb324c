// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "run/installed_devices.h"
#include "run/setup.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct setup setup;
static char program[1024];

static void begin(void)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct options options;

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(options_parse(specs, 0, NULL, &options), TAPML_OK);
    cr_assert_eq(setup_open(program, &options, NULL, &setup), TAPML_OK, "%s", status_message());
}

static void end(void)
{
    setup_close(&setup);
}

TestSuite(installed_devices, .init = begin, .fini = end, .timeout = 110);

Test(installed_devices, are_listed_with_what_they_are_and_what_is_not_there_with_its_reason)
{
    struct installed_device *items = NULL;
    size_t count = 0, found = 0;

    cr_assert_eq(installed_devices_list(setup.program, setup.registry, setup.arena, &items, &count),
                 TAPML_OK, "%s", status_message());
    for (size_t i = 0; i < count; i++) {
        const struct backend_info info = installed_devices_info(&items[i]);

        cr_expect_eq(items[i].device != NULL, *info.device != '\0', "%s", info.component);
        cr_expect(items[i].device != NULL || items[i].opens_late ||
                      items[i].state != CANDIDATE_USABLE,
                  "%s", info.component);
        if (strcmp(info.component, "reference") == 0 && strcmp(info.device, "f64") == 0) {
            found++;
            cr_expect_str_neq(info.plugin, "");
            cr_expect_str_neq(info.build_id, "");
            cr_expect_str_neq(info.device_name, "");
        }
    }
    cr_assert_eq(found, 1);
    struct text lines;

    text_init(&lines);
    installed_devices_print(items, count, &lines);
    cr_assert_not_null(strstr(lines.data, "reference:f64  "), "%s", lines.data);
    text_release(&lines);
}
