// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/keys.h"
#include "config/run_config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static size_t size_of_object(const char *section)
{
    return strcmp(section, "target.") == 0  ? sizeof(struct place_settings)
           : strcmp(section, "fault.") == 0 ? sizeof(struct run_config_fault)
                                            : sizeof(struct run_config);
}

static size_t size_of_member(enum key_kind kind)
{
    return kind == KEY_CHOICE ? sizeof(int) : sizeof(int64_t);
}

Test(keys, every_row_is_whole)
{
    for (size_t i = 0; keys_at(i) != NULL; i++) {
        const struct key *key = keys_at(i);
        char section[64];

        (void)snprintf(section, sizeof(section), "%s%s", key->section,
                       key->section[strlen(key->section) - 1] == '.' ? "x" : "");
        cr_assert_not_null(keys_section(section), "[%s]", section);
        cr_assert_eq(keys_find(section, key->name), key, "[%s] %s stands twice", section,
                     key->name);
        cr_assert_not_null(key->help);
        cr_assert_not_null(key->example);
        cr_assert_eq(key->help[strlen(key->help) - 1], '.', "[%s] %s", section, key->name);
        if (key->kind == KEY_TEXT || key->kind == KEY_OTHERS) {
            cr_assert_not_null(key->type, "[%s] %s", section, key->name);
        }
        if (key->offset != KEYS_NOWHERE) {
            cr_assert_leq(key->offset + size_of_member(key->kind), size_of_object(key->section));
        }
        cr_assert(key->kind == KEY_TEXT || key->kind == KEY_OTHERS || key->fallback != NULL);
    }
    cr_assert_null(keys_section("target."));
    cr_assert_null(keys_section("runn"));
    cr_assert_null(keys_find("run", "backend"));
}
