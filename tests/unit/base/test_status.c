// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/status.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

Test(status, a_failure_keeps_its_message)
{
    cr_assert_str_eq(status_message(), "");
    cr_assert_eq(status_fail(TAPML_NOT_FOUND, "no op '%s'", "x"), TAPML_NOT_FOUND);
    cr_assert_str_eq(status_message(), "no op 'x'");
    cr_assert_eq(status_explain(TAPML_INVALID, "while loading %d", 7), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "while loading 7: no op 'x'");
    cr_assert_eq(status_no_memory(), TAPML_NO_MEMORY);
    cr_assert_str_eq(status_message(), "out of memory");
}

Test(status, the_message_can_be_its_own_argument)
{
    (void)status_fail(TAPML_INVALID, "inner");
    (void)status_fail(TAPML_INVALID, "<%s>", status_message());
    cr_assert_str_eq(status_message(), "<inner>");
}

Test(status, a_long_message_is_cut)
{
    char word[10000];
    memset(word, 'x', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    (void)status_fail(TAPML_INVALID, "<%s>", word);
    const size_t length = strlen(status_message());
    cr_assert_gt(length, 1000);
    cr_assert_lt(length, 1540);
    for (int i = 0; i < 8; i++) {
        (void)status_explain(TAPML_INVALID, "%s", word);
    }
    cr_assert_eq(strlen(status_message()), 4095);
}

// What was expected is still read behind a name of any length.
Test(status, what_a_stranger_wrote_is_shortened)
{
    const size_t size = 200 << 20;
    char *word = malloc(size);
    cr_assert_not_null(word);
    memset(word, 'x', size - 1);
    word[size - 1] = '\0';
    (void)status_fail(TAPML_INVALID, "key '%s' is '%s', expected %d", word, word, 7);
    cr_assert_not_null(strstr(status_message(), "xxx...' is 'xxx"));
    cr_assert_not_null(strstr(status_message(), "xxx...', expected 7"));
    (void)status_explain(TAPML_INVALID, "file '%s'", word);
    cr_assert_not_null(strstr(status_message(), "...': key 'xxx"));
    free(word);
}

static void *fail_elsewhere(void *user)
{
    (void)status_fail(TAPML_INVALID, "elsewhere");
    return user;
}

Test(status, each_thread_has_its_own)
{
    (void)status_fail(TAPML_INVALID, "here");
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_str_eq(status_message(), "here");
}

static tapml_status twice(tapml_status status, int *calls)
{
    ++*calls;
    TAPML_TRY(status);
    ++*calls;
    return TAPML_OK;
}

Test(status, try_passes_failures_on)
{
    int calls = 0;
    cr_assert_eq(twice(TAPML_DEADLINE, &calls), TAPML_DEADLINE);
    cr_assert_eq(calls, 1);
    cr_assert_eq(twice(TAPML_OK, &calls), TAPML_OK);
    cr_assert_eq(calls, 3);
}

Test(status, every_code_has_a_name)
{
    cr_assert_str_eq(status_name(TAPML_NOT_FOUND), "not found");
    cr_assert_str_eq(status_name(TAPML_OK), "ok");
    cr_assert_str_eq(status_name(12345), "unknown failure");
}

Test(status, what_ends_all_is_reported_from_what_a_call_did)
{
    cr_assert(status_ends_all(TAPML_DEVICE_LOST) && status_ends_all(TAPML_CANCELLED) &&
              status_ends_all(TAPML_NO_MEMORY));
    cr_assert(!status_ends_all(TAPML_OK) && !status_ends_all(TAPML_INTERNAL) &&
              !status_ends_all(TAPML_DEADLINE));
}

Test(status, a_message_commands_no_terminal)
{
    (void)status_fail(TAPML_INVALID, "found '%s'", "\033[31m");
    cr_assert_str_eq(status_message(), "found '?[31m'");
}
