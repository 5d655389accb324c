// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/descriptors.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Criterion runs each test in a process of its own, so a limit stays in it.
static void set_limit(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {soft, hard};
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(descriptors, the_limit_is_raised_where_it_can_be)
{
    struct rlimit limit;
    set_limit(64, 1024);
    cr_assert_eq(descriptors_expect("x", 100), TAPML_OK, "%s", status_message());
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_assert_geq(limit.rlim_cur, 100 + DESCRIPTORS_SPARE);
    cr_assert_eq(limit.rlim_max, 1024);
    cr_assert_eq(descriptors_expect("x", 100), TAPML_OK);
}

Test(descriptors, one_that_is_too_low_says_what_is_needed)
{
    unsigned long long needed = 0, said = 0;
    set_limit(128, 128);
    cr_assert_eq(descriptors_expect("the model", 1000), TAPML_UNAVAILABLE);
    cr_assert_eq(sscanf(status_message(),
                        "the model: expected that %llu files can be open at once, the limit of "
                        "this system is 128: 'ulimit -n %llu' raises it",
                        &needed, &said),
                 2, "%s", status_message());
    cr_assert_eq(needed, said);
    cr_assert_geq(needed, 1000 + DESCRIPTORS_SPARE);
    cr_assert_leq(needed, 1000 + DESCRIPTORS_SPARE + 64);
}

Test(descriptors, an_error_of_the_system_says_it_too)
{
    char room[DESCRIPTORS_WHY_TEXT];
    set_limit(32, 32);
    cr_assert_str_eq(descriptors_why(ENOENT, room), "No such file or directory");
    while (open("/dev/null", O_RDONLY) >= 0) {
        // Until there is none left.
    }
    cr_assert_eq(errno, EMFILE);
    cr_assert_str_eq(descriptors_why(errno, room),
                     "32 files are open, which is the limit, and at least 192 are needed: "
                     "'ulimit -n 192' raises it");
    cr_assert_eq(descriptors_expect("x", 0), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "'ulimit -n 192'"), "%s", status_message());
}
