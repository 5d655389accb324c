// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/pair.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void in_a_folder_of_its_own(void)
{
    static char folder[] = "/tmp/tapml-pair-XXXXXX";

    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(setenv("XDG_CONFIG_HOME", folder, 1), 0);
}

Test(pair, what_is_no_address_is_refused, .init = in_a_folder_of_its_own)
{
    cr_expect_eq(pair_call("phone:7700", NULL), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "expected tapml://HOST:PORT"), "%s",
                       status_message());
    cr_expect_eq(pair_wait("7700", NULL), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "expected HOST:PORT"), "%s", status_message());
}

Test(pair, who_does_not_answer_is_named, .init = in_a_folder_of_its_own)
{
    cr_expect_eq(pair_call("tapml://127.0.0.1:1", NULL), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "127.0.0.1:1 cannot be reached"), "%s",
                       status_message());
    cr_expect_eq(pair_remove("phone"), TAPML_NOT_FOUND);
}
