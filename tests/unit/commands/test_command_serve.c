// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// What it serves, test_serve.py shows.
static void in_a_folder_of_its_own(void)
{
    static char folder[] = "/tmp/tapml-serve-XXXXXX";

    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(setenv("XDG_CONFIG_HOME", folder, 1), 0);
}

Test(command_serve, what_it_cannot_do_is_said, .init = in_a_folder_of_its_own)
{
    struct printed alone = PRINTED(command_serve_main, "/tmp");
    struct printed missing = PRINTED(command_serve_main, "/nonexistent", "--listen", "127.0.0.1:0");
    struct printed address = PRINTED(command_serve_main, "/tmp", "--listen", "box");

    cr_expect_eq(alone.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(alone.err, "the folder of one run and --listen expected"));
    cr_expect_eq(missing.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(missing.err, "/nonexistent: expected the folder of a run"));
    cr_expect_eq(address.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(address.err, "'box'"), "%s", address.err);
    printed_release(&alone);
    printed_release(&missing);
    printed_release(&address);
}
