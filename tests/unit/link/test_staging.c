// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/staging.h"

#include <criterion/criterion.h>
#include <string.h>

Test(staging, ends_the_reads_in_front_of_a_point)
{
    struct staging staging = {0};
    struct shared *shared = NULL;
    struct shared_span spans[2] = {{0}};
    static const char texts[2][8] = {"first", "second"};
    char found[2][8] = {"-", "-"};
    cr_assert_eq(shared_create(SHARED_WRITABLE, &shared), TAPML_OK);
    for (uint64_t i = 0; i < 2; i++) {
        cr_assert_eq(staging_take(&staging, shared, 8, &spans[i]), TAPML_OK);
        memcpy(spans[i].memory, texts[i], sizeof(texts[i]));
        const struct staged_read read = {i + 1, found[i], spans[i].memory, 8};
        cr_assert_eq(staging_add_read(&staging, &read), TAPML_OK);
    }
    cr_expect_eq(staging.bytes, 16);
    staging_end_reads(&staging, 1);
    cr_expect_str_eq(found[0], "first");
    cr_expect_str_eq(found[1], "-");
    staging_end_reads(&staging, 2);
    cr_expect_str_eq(found[1], "second");
    staging_clear(&staging, shared);
    cr_expect_eq(staging.bytes, 0);
    cr_expect_eq(staging.count, 0);
    staging_release(&staging);
    shared_destroy(shared);
}
