// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tricky_backend.h"
#include "verify/conduct_time.h"

#include <criterion/criterion.h>

TestSuite(conduct_time, .init = tricky_begin, .fini = tricky_end, .timeout = 60);

Test(conduct_time, what_is_measured_is_there)
{
    enum trick trick = TRICK_NONE;
    const struct conduct_options options = trick_options(&trick);
    const struct verdict kept = {.case_id = 1};
    struct conduct_stand stand;
    struct conduct_trial trial;
    struct conduct_times times = {0};
    conduct_stand_init(&stand, &options);
    MUST(conduct_stand_renew(&stand));
    MUST(conduct_trial_make(store, stand.examiner, &kept, &trial));
    MUST(conduct_time_measure(&stand, &trial, 1, &times));
    cr_expect_gt(times.cold_ns, 0u);
    cr_expect_gt(times.warm_ns, 0u);
    cr_expect_gt(times.copy_ns, 0u);
    cr_expect_eq(times.bytes, trial.output_bytes);
    cr_expect_not(conduct_time_is_impossible(&times), "so little cannot be told from a wait");
    conduct_trial_release(&trial);
    conduct_stand_release(&stand);
}

Test(conduct_time, a_quarter_of_a_copy_is_not_enough)
{
    struct conduct_times times = {.warm_ns = 240, .copy_ns = 1000, .wait_ns = 10};
    cr_expect(conduct_time_is_impossible(&times));
    times.warm_ns = 260;
    cr_expect_not(conduct_time_is_impossible(&times));
    times = (struct conduct_times){.warm_ns = 1, .copy_ns = 1000, .wait_ns = 200};
    cr_expect_not(conduct_time_is_impossible(&times), "mostly a wait");
    times = (struct conduct_times){.warm_ns = 1};
    cr_expect_not(conduct_time_is_impossible(&times), "no copy was measured");
}
