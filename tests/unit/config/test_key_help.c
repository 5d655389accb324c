// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/key_help.h"
#include "config/keys.h"

#include <criterion/criterion.h>
#include <string.h>

// How many keys have a text as their help.
static int users_of(const char *help)
{
    int count = 0;

    for (size_t i = 0; keys_at(i) != NULL; i++) {
        count += keys_at(i)->help == help;
    }
    return count;
}

Test(key_help, helps_are_sentences_that_several_keys_share)
{
    const char *const helps[] = {key_help_isolation, key_help_deadline, key_help_observers,
                                 key_help_memory,    key_help_files,    key_help_processes,
                                 key_help_cpu};

    for (size_t i = 0; i < sizeof(helps) / sizeof(*helps); i++) {
        cr_assert_eq(helps[i][strlen(helps[i]) - 1], '.', "%s", helps[i]);
        cr_assert_gt(users_of(helps[i]), 1, "%s", helps[i]);
    }
}
