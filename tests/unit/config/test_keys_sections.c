// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/keys.h"
#include "config/keys_sections.h"

#include <criterion/criterion.h>
#include <string.h>

Test(keys_sections, each_has_a_manual_and_keys_or_takes_any)
{
    for (size_t i = 0; i < KEYS_SECTIONS; i++) {
        const struct key_section *section = &keys_sections[i];
        size_t count = 0;

        cr_assert_not_null(section->name);
        cr_assert_eq(section->help[strlen(section->help) - 1], '.', "[%s]", section->title);
        for (size_t k = 0; keys_at(k) != NULL; k++) {
            count += strcmp(keys_at(k)->section, section->name) == 0;
        }
        cr_assert(count > 0 || section->takes_any_key, "[%s]", section->title);
    }
}
