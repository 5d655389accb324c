// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/far_worker.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>

// That it serves is a test of its own, with hosts on the other side (tests/end-to-end).
Test(far_worker, what_is_no_address_is_refused)
{
    char program[4096];
    const char *build = getenv("TAPML_TEST_BUILD");

    (void)snprintf(program, sizeof(program), "%s/tapml-host", build != NULL ? build : ".");
    cr_redirect_stderr();
    cr_expect_eq(far_worker_listen(&(struct far_worker_options){
                     .program = program, .address = "nowhere", .cache = "/tmp"}),
                 OUTCOME_USAGE);
}
