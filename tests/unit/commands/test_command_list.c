// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// Every option that `usage` names is one of `specs`.
static void expect_known_options(const struct options_manual *manual)
{
    for (const char *at = strstr(manual->usage, "--"); at != NULL; at = strstr(at, "--")) {
        const size_t length = strcspn(at, " ]\n");
        char word[64];

        (void)snprintf(word, sizeof(word), "%.*s", (int)length, at);
        cr_expect(options_has(manual->specs, word), "%s: no option '%s'", manual->usage, word);
        at += length;
    }
}

Test(command_list, a_usage_begins_with_the_command_and_names_its_options)
{
    for (size_t i = 0; command_list_at(i) != NULL; i++) {
        const struct command_entry *entry = command_list_at(i);
        const size_t length = strlen(entry->name);
        const char *usage = entry->manual->usage;

        cr_expect_eq(strncmp(usage, "tapml-host ", 11), 0, "%s", usage);
        cr_expect(strncmp(usage + 11, entry->name, length) == 0 &&
                      strchr(" \n", usage[11 + length]) != NULL,
                  "%s", usage);
        cr_expect(options_has(entry->manual->specs, "--help"), "%s", entry->name);
        cr_expect_eq(command_list_find(entry->name), entry);
        expect_known_options(entry->manual);
    }
    cr_expect_null(command_list_find("nonsense"));
}

Test(command_list, each_command_prints_its_manual)
{
    for (size_t i = 0; command_list_at(i) != NULL; i++) {
        const struct command_entry *entry = command_list_at(i);
        struct printed long_form = PRINTED(entry->main, "--help");
        struct printed short_form = PRINTED(entry->main, "-h");

        cr_expect_eq(long_form.outcome, OUTCOME_OK, "%s: %s", entry->name, long_form.err);
        cr_expect_eq(strncmp(long_form.out, "usage: tapml-host ", 18), 0, "%s", long_form.out);
        cr_expect_eq(strncmp(long_form.out + 7, entry->manual->usage, 14), 0, "%s", long_form.out);
        cr_expect_str_eq(short_form.out, long_form.out);
        printed_release(&long_form);
        printed_release(&short_form);
    }
}
