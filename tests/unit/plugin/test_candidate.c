// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/candidate.h"

#include <criterion/criterion.h>

Test(candidate, every_state_has_a_name_that_gives_it_back)
{
    for (int i = CANDIDATE_USABLE; i <= CANDIDATE_NO_FOLDER; ++i) {
        const enum candidate_state state = (enum candidate_state)i;
        cr_assert_str_neq(candidate_state_name(state), "unknown");
        cr_assert_eq(candidate_state_from(candidate_state_name(state)), state);
    }
}

Test(candidate, what_is_no_state_is_a_failed_probe)
{
    cr_assert_eq(candidate_state_from("splendid"), CANDIDATE_PROBE_FAILED);
    cr_assert_str_eq(candidate_state_name((enum candidate_state)99), "unknown");
}
