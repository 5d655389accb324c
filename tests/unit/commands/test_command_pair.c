// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void in_a_folder_of_its_own(void)
{
    static char folder[] = "/tmp/tapml-pair-XXXXXX";

    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(setenv("XDG_CONFIG_HOME", folder, 1), 0);
}

Test(command_pair, alone_it_lists_the_own_key, .init = in_a_folder_of_its_own)
{
    struct printed first = PRINTED(command_pair_main, NULL);
    struct printed second = PRINTED(command_pair_main, NULL);

    cr_expect_eq(first.outcome, OUTCOME_OK, "%s", first.err);
    cr_expect_not_null(strstr(first.out, "(this user)"), "%s", first.out);
    cr_expect_str_eq(first.out, second.out); // A key is made once.
    printed_release(&first);
    printed_release(&second);
}

Test(command_pair, what_it_cannot_do_is_said, .init = in_a_folder_of_its_own)
{
    struct printed unknown = PRINTED(command_pair_main, "--remove", "phone");
    struct printed address = PRINTED(command_pair_main, "http://phone:80");
    struct printed two = PRINTED(command_pair_main, "tapml://a:1", "tapml://b:2");

    cr_expect_neq(unknown.outcome, OUTCOME_OK);
    cr_expect_not_null(strstr(unknown.err, "there is no peer 'phone'"), "%s", unknown.err);
    cr_expect_eq(address.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(address.err, "expected tapml://HOST:PORT"), "%s", address.err);
    cr_expect_eq(two.outcome, OUTCOME_USAGE);
    printed_release(&unknown);
    printed_release(&address);
    printed_release(&two);
}
