// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_kind.h"

#include <criterion/criterion.h>
#include <string.h>

Test(conduct_kind, each_has_a_name_of_its_own)
{
    cr_expect_str_eq(conduct_kind_name(CONDUCT_RIGHT), "right");
    cr_expect_str_eq(conduct_kind_name(CONDUCT_BY_ADDRESS), "cached by address");
    cr_expect_str_eq(conduct_kind_name(CONDUCT_WRONG), "wrong");
    for (int i = 0; i < CONDUCT_KINDS; i++) {
        cr_assert_not_null(conduct_kind_name((enum conduct_kind)i));
        for (int k = 0; k < i; k++) {
            cr_expect_str_neq(conduct_kind_name((enum conduct_kind)i),
                              conduct_kind_name((enum conduct_kind)k));
        }
    }
}
