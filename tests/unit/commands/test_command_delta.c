// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *model(void)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/models/llama", getenv("TAPML_TEST_DATA"));
    return path;
}

Test(command_delta, of_two_that_are_one_all_tensors_stay)
{
    char path[] = "/tmp/tapml-delta-XXXXXX";
    const int file = mkstemp(path);

    cr_assert_geq(file, 0);
    close(file);
    struct printed made = PRINTED(command_delta_main, "make", model(), model(), "--out", path);
    struct printed checked = PRINTED(command_delta_main, "check", model(), path);

    cr_expect_eq(made.outcome, OUTCOME_OK, "%s", made.err);
    cr_expect_not_null(strstr(made.out, "21 tensors stay, 0 change bit for bit\n"), "%s", made.out);
    cr_expect_eq(checked.outcome, OUTCOME_OK, "%s", checked.err);
    cr_expect_str_eq(
        checked.out,
        "21 tensors stay, 0 are made as the file says: 0 xor, 0 sparse, 0 24q2, 0 24q4\n");
    printed_release(&made);
    printed_release(&checked);
    remove(path);
}

Test(command_delta, what_it_does_not_take_is_said)
{
    struct printed nothing = PRINTED(command_delta_main, "make", model(), model());
    struct printed kind = PRINTED(command_delta_main, "check", model(), "x", "--as", "xor");
    struct printed density = PRINTED(command_delta_main, "make", model(), model(), "--out", "/x/y",
                                     "--as", "sparse", "--density", "2");

    cr_expect_eq(nothing.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(nothing.err, "delta takes 'make BASE FINE --out FILE'"));
    cr_expect_eq(kind.outcome, OUTCOME_USAGE);
    cr_expect_eq(density.outcome, OUTCOME_USAGE);
    cr_expect_not_null(strstr(density.err, "--density is '2'"), "%s", density.err);
    printed_release(&nothing);
    printed_release(&kind);
    printed_release(&density);
}
