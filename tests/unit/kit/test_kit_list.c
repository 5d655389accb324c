// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_list.h"
#include "verify/driver_check.h"

#include <criterion/criterion.h>
#include <string.h>

Test(kit_list, ids_are_different_and_levels_in_order)
{
    const struct kit_check *check = NULL, *last = NULL;
    size_t count = 0;

    for (; (check = kit_list_at(count)) != NULL; count++) {
        cr_expect_eq(kit_list_find(check->id), check, "%s stands twice", check->id);
        cr_expect(last == NULL || last->level <= check->level, "%s", check->id);
        cr_expect_gt(strlen(check->about), 0u);
        cr_expect_gt(check->limit_s, 0u);
        cr_expect_not_null(check->run);
        last = check;
    }
    cr_expect_gt(count, 40u);
    cr_expect_null(kit_list_find("A-00"));
}

// The kit has each check of a driver, under the rule that it has there.
Test(kit_list, every_check_of_a_driver_is_there)
{
    for (size_t i = 0; i < driver_check_count(); i++) {
        size_t found = 0;

        for (size_t at = 0; kit_list_at(at) != NULL; at++) {
            found += strcmp(kit_list_at(at)->about, driver_check_about(i)) == 0 &&
                     kit_list_at(at)->number == (int)i && kit_list_at(at)->ground == KIT_GROUND;
        }
        cr_expect_eq(found, 1u, "%s", driver_check_name(i));
    }
    cr_expect_eq(kit_list_find("C-03")->ground, KIT_NO_GROUND);
}
