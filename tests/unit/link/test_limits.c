// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "link/limits.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

// Criterion runs each test in a process of its own, so a limit stays in it.

Test(limits, none_changes_nothing)
{
    struct rlimit before, after;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    cr_assert_eq(limits_set(&(struct worker_limits){.files = 0}), TAPML_OK);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &after), 0);
    cr_assert_eq(after.rlim_cur, before.rlim_cur);
    cr_assert_eq(after.rlim_max, before.rlim_max);
}

Test(limits, are_for_good)
{
    struct rlimit limit;
    cr_assert_eq(limits_set(&(struct worker_limits){.files = 64, .processes = 4096, .cpu_s = 500}),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(limits_set(&(struct worker_limits){.files = 128, .cpu_s = 900}), TAPML_OK);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_eq(limit.rlim_cur, 64);
    cr_assert_eq(limit.rlim_max, 64);
    cr_assert_eq(getrlimit(RLIMIT_NPROC, &limit), 0);
    cr_assert_leq(limit.rlim_cur, 4096);
    cr_assert_eq(getrlimit(RLIMIT_CPU, &limit), 0);
    cr_assert_eq(limit.rlim_cur, 500);
    cr_assert_eq(limit.rlim_max, 501);
    int opened = 0;
    while (opened < 128 && open("/dev/null", O_RDONLY) >= 0) {
        opened++;
    }
    cr_assert_leq(opened, 64);
}

Test(limits, who_computes_for_too_long_is_ended, .signal = SIGXCPU)
{
    cr_assert_eq(limits_set(&(struct worker_limits){.cpu_s = 1}), TAPML_OK);
    for (volatile unsigned long i = 0;; i++) {
        // Until the signal comes.
    }
}
