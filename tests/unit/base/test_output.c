// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/output.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(output, what_arrives_is_fine)
{
    cr_assert_not_null(freopen("/dev/null", "w", stdout));
    cr_assert_eq(output_try(), TAPML_OK);
    cr_assert_gt(printf("text"), 0);
    cr_assert_eq(output_check(), TAPML_OK);
}

Test(output, a_full_device_shows_before_anything_is_printed)
{
    cr_assert_not_null(freopen("/dev/full", "w", stdout));
    cr_assert_eq(output_try(), TAPML_UNAVAILABLE);
    cr_assert_not_null(
        strstr(status_message(), "cannot write to the standard output: the disk is full"));
    cr_assert_eq(output_check(), TAPML_OK, "nothing was printed");
}

Test(output, what_was_lost_is_told_then_and_later)
{
    cr_assert_not_null(freopen("/dev/full", "w", stdout));
    cr_assert_gt(printf("text"), 0);
    cr_assert_eq(output_check(), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "the disk is full"));
    cr_assert_eq(output_check(), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "the disk is full"));
    const int other = open("/dev/null", O_WRONLY); // There is room again.

    cr_assert_eq(dup2(other, STDOUT_FILENO), STDOUT_FILENO);
    cr_assert_eq(output_check(), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "some of it was lost before"));
}

Test(output, one_that_is_closed_shows)
{
    cr_assert_eq(close(STDOUT_FILENO), 0);
    cr_assert_eq(output_try(), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "Bad file descriptor"));
}

// What a file has of a line for each stream, printed in this order.
static void print_both(const char *output, const char *errors, char out_text[64])
{
    const int flags = O_WRONLY | O_CREAT | O_APPEND;
    FILE *file = NULL;

    cr_assert_not_null(freopen("/dev/null", "w", stdout)); // As if nothing had been printed.
    cr_assert_eq(dup2(open(output, flags, 0600), STDOUT_FILENO), STDOUT_FILENO);
    cr_assert_eq(dup2(open(errors, flags, 0600), STDERR_FILENO), STDERR_FILENO);
    output_begin();
    (void)printf("one\n");
    (void)fprintf(stderr, "two\n");
    file = fopen(output, "r");
    cr_assert_not_null(file);
    out_text[fread(out_text, 1, 63, file)] = '\0';
    (void)fclose(file);
}

Test(output, lines_of_both_streams_in_one_file_keep_their_order)
{
    char path[] = "/tmp/tapml-output-XXXXXX", text[64];

    cr_assert_geq(mkstemp(path), 0);
    print_both(path, path, text);
    (void)unlink(path);
    cr_assert_str_eq(text, "one\ntwo\n");
}

Test(output, a_file_of_its_own_is_written_in_blocks)
{
    char path[] = "/tmp/tapml-output-XXXXXX", text[64];

    cr_assert_geq(mkstemp(path), 0);
    print_both(path, "/dev/null", text);
    (void)unlink(path);
    cr_assert_str_eq(text, "");
}
