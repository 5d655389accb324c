// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plain.h"
#include "verify/spare_buffers.h"

#include <criterion/criterion.h>

enum { KIB = 1024, LARGE = SPARE_BUFFERS_BYTES_MAX / 2 };

static tapml_object *take(struct spare_buffers *spare, uint64_t size)
{
    tapml_object *buffer = NULL;
    cr_assert_eq(spare_buffers_take(spare, size, &buffer), TAPML_OK, "%s", status_message());
    return buffer;
}

Test(spare_buffers, one_of_the_same_size_is_used_again)
{
    struct spare_buffers spare = {.backend = plain_create()};
    tapml_object *first = take(&spare, KIB);
    tapml_object *second = take(&spare, KIB);
    cr_expect_neq(first, second);
    cr_expect_neq(take(&spare, 2 * KIB), first);
    spare_buffers_end(&spare);
    cr_expect_eq(spare.count, 3);
    cr_expect_eq(take(&spare, KIB), first);
    cr_expect_eq(take(&spare, KIB), second);
    cr_expect_eq(spare.bytes, 4 * KIB);
    spare_buffers_release(&spare);
    cr_expect_eq(spare.bytes, 0);
    backend_release(spare.backend);
}

Test(spare_buffers, what_is_kept_is_bounded)
{
    struct spare_buffers spare = {.backend = plain_create()};
    // A case gets what it needs.
    take(&spare, KIB);
    take(&spare, LARGE);
    take(&spare, LARGE);
    cr_expect_gt(spare.bytes, SPARE_BUFFERS_BYTES_MAX);
    spare_buffers_end(&spare);
    cr_expect_leq(spare.bytes, SPARE_BUFFERS_BYTES_MAX);
    // Sizes that come once each do not gather.
    for (uint64_t i = 1; i < 100; i++) {
        take(&spare, LARGE / 4 + i * KIB);
        spare_buffers_end(&spare);
        cr_expect_leq(spare.bytes, SPARE_BUFFERS_BYTES_MAX);
    }
    spare_buffers_release(&spare);
    backend_release(spare.backend);
}

Test(spare_buffers, what_is_left_to_queued_work_is_freed_behind_a_wait)
{
    struct spare_buffers spare = {.backend = plain_create()};
    tapml_object *first = take(&spare, LARGE);
    take(&spare, LARGE);
    spare_buffers_leave(&spare);
    cr_expect_eq(take(&spare, LARGE), first, "work behind it may use it");
    cr_expect_eq(spare.count, 2);
    take(&spare, LARGE + KIB);
    cr_expect_leq(spare.count, 2, "there was no room");
    spare_buffers_end(&spare);
    cr_expect_not(spare.is_pending);
    spare_buffers_release(&spare);
    backend_release(spare.backend);
}

Test(spare_buffers, what_is_held_is_not_freed)
{
    struct spare_buffers spare = {.backend = plain_create()};
    tapml_object *held = take(&spare, LARGE);
    spare_buffers_hold(&spare, held);
    for (uint64_t i = 1; i < 10; i++) {
        take(&spare, LARGE / 4 + i * KIB);
        spare_buffers_end(&spare);
    }
    cr_expect_eq(take(&spare, LARGE), held);
    spare_buffers_let_go(&spare, held);
    spare_buffers_end(&spare);
    for (uint64_t i = 1; i < 10; i++) {
        take(&spare, LARGE / 4 + i * KIB);
        spare_buffers_end(&spare);
    }
    for (size_t i = 0; i < spare.count; i++) {
        cr_expect_neq(spare.items[i].size, (uint64_t)LARGE, "the oldest goes first");
    }
    spare_buffers_release(&spare);
    backend_release(spare.backend);
}
