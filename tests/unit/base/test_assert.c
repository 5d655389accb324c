// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/assert.h"

#include <criterion/criterion.h>
#include <signal.h>

Test(assert, what_holds_passes)
{
    int evaluated = 0;
    ASSERT(++evaluated == 1);
    cr_assert_eq(evaluated, 1);
}

Test(assert, what_does_not_hold_ends_the_program, .signal = SIGABRT)
{
    ASSERT(1 + 1 == 3);
}
