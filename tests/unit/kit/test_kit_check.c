// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_check.h"

#include <criterion/criterion.h>

Test(kit_check, levels_have_words)
{
    for (int i = 0; i < KIT_LEVEL_COUNT; i++) {
        cr_expect_eq(kit_check_find_level(kit_check_level_name((enum kit_level)i)), i);
    }
    cr_expect_eq(kit_check_find_level("nothing"), -1);
}
