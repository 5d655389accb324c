// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tricky_backend.h"

#include <criterion/criterion.h>

TestSuite(conduct_stand, .init = tricky_begin, .fini = tricky_end, .timeout = 60);

Test(conduct_stand, a_fresh_process_has_forgotten_and_other_buffers_lie_elsewhere)
{
    enum trick trick = TRICK_REPEATS;
    const struct conduct_options options = trick_options(&trick);
    const struct verdict kept = {.case_id = 1};
    struct conduct_stand stand;
    struct conduct_trial trial, other;
    int is_right = 0;
    conduct_stand_init(&stand, &options);
    MUST(conduct_stand_renew(&stand));
    MUST(conduct_trial_make(store, stand.examiner, &kept, &trial));
    MUST(conduct_trial_vary(stand.examiner, &trial, &other));
    MUST(conduct_stand_try(&stand, &other, &is_right));
    cr_expect(is_right);
    MUST(conduct_stand_try(&stand, &trial, &is_right));
    cr_expect_not(is_right, "other inputs at the same addresses");
    cr_expect_eq(stand.verdict.kind, VERDICT_FAIL);
    MUST(conduct_stand_move(&stand));
    MUST(conduct_stand_try(&stand, &trial, &is_right));
    cr_expect(is_right, "at other addresses");
    MUST(conduct_stand_renew(&stand));
    MUST(conduct_stand_try(&stand, &trial, &is_right));
    cr_expect(is_right, "in a fresh process");
    cr_expect_eq(stand.calls, 4u);
    conduct_trial_release(&trial);
    conduct_trial_release(&other);
    conduct_stand_release(&stand);
}
