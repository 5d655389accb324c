// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/keys.h"
#include "harness/command.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>

static enum outcome describe(const struct command *command)
{
    (void)command;
    return outcome_report(command_describe_print());
}

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

Test(command_describe, it_has_every_command_option_and_key)
{
    struct printed printed = PRINTED(describe, NULL);
    json_t *manual = json_loads(printed.out, JSON_REJECT_DUPLICATES, NULL);
    const json_t *commands = json_object_get(manual, "commands");
    size_t count = 0, key_count = 0, index = 0;
    const json_t *section = NULL;

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    for (; command_list_at(count) != NULL; count++) {
        const struct options_spec *spec = command_list_at(count)->manual->specs;
        const json_t *command = json_array_get(commands, count);
        const json_t *option = NULL;

        cr_expect_str_eq(member(command, "name"), command_list_at(count)->name);
        json_array_foreach(json_object_get(command, "options"), index, option)
        {
            cr_expect_str_eq(member(option, "name"), (spec++)->name);
        }
        cr_expect_null(spec->name);
    }
    cr_expect_eq(json_array_size(commands), count);
    json_array_foreach(
        json_object_get(json_array_get(json_object_get(manual, "files"), 0), "sections"), index,
        section)
    {
        cr_expect_str_eq(member(section, "title"), keys_section_at(index)->title);
        key_count += json_array_size(json_object_get(section, "keys"));
    }
    cr_expect_eq(key_count, keys_table()->key_count);
    json_decref(manual);
    printed_release(&printed);
}
