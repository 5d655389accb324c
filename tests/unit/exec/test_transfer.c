// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/transfer.h"
#include "harness/late.h"

#include <criterion/criterion.h>
#include <string.h>

Test(transfer, pads_to_whole_grains_both_ways)
{
    struct backend *backend = late_create(&(struct late_options){0});
    const unsigned char source[] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char target[8] = {0};
    tapml_object *buffer = NULL;
    cr_assert_eq(backend_buffer_new(backend, 16, &buffer), TAPML_OK);
    cr_expect_eq(transfer_to(backend, buffer, 4, source, 5), TAPML_OK);
    cr_expect_eq(late_counts(backend).written_bytes, 8);
    cr_expect_eq(transfer_from(backend, buffer, 4, target, 7), TAPML_OK);
    cr_expect_eq(late_counts(backend).read_bytes, 8);
    cr_expect_eq(late_counts(backend).waits, 0, "neither way is waited for");
    cr_expect_eq(backend_wait(backend), TAPML_OK);
    cr_expect_arr_eq(target, source, sizeof(target));
    backend_buffer_free(backend, buffer);
    backend_release(backend);
}

Test(transfer, of_nothing_asks_for_nothing)
{
    struct backend *backend = late_create(&(struct late_options){0});
    unsigned char source = 1, target = 0;
    tapml_object *buffer = NULL;
    cr_assert_eq(backend_buffer_new(backend, 16, &buffer), TAPML_OK);
    cr_expect_eq(transfer_to(backend, buffer, 0, &source, 0), TAPML_OK);
    cr_expect_eq(late_counts(backend).writes, 0);
    cr_expect_eq(transfer_from(backend, buffer, 0, &target, 0), TAPML_OK);
    cr_expect_eq(late_counts(backend).reads, 0);
    backend_buffer_free(backend, buffer);
    backend_release(backend);
}
