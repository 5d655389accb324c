// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/process_usage.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static void *wait_for_end(void *end)
{
    char byte = 0;

    (void)!read(*(int *)end, &byte, 1);
    return NULL;
}

Test(process_usage, threads_and_descriptors_are_counted)
{
    struct process_usage before, during, after;
    pthread_t thread;
    int ends[2];

    cr_assert_eq(process_usage_read(&before), TAPML_OK, "%s", status_message());
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_end, &ends[0]), 0);
    cr_assert_eq(process_usage_read(&during), TAPML_OK);
    (void)close(ends[1]);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    (void)close(ends[0]);
    cr_assert_eq(process_usage_read(&after), TAPML_OK);
    cr_expect_eq(during.threads, before.threads + 1);
    cr_expect_eq(during.descriptors, before.descriptors + 2);
    cr_expect_eq(after.descriptors, before.descriptors);
    cr_expect_gt(before.resident_bytes, 0u);
}
