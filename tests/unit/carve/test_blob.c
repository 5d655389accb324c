// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "carve/blob.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

static struct blob_keeper keeper;

static void begin(void)
{
    blob_keeper_init(&keeper);
}

static void end(void)
{
    blob_keeper_release(&keeper);
}

TestSuite(blob, .init = begin, .fini = end);

Test(blob, lives_as_long_as_one_owner)
{
    const size_t live = alloc_live();
    struct blob *blob = blob_create(&keeper, 100);
    cr_assert_not_null(blob);
    cr_assert_eq(blob->bytes, 100);
    cr_assert_eq((uintptr_t)blob->data % _Alignof(max_align_t), 0);
    memset(blob->data, 7, blob->bytes);
    cr_assert_not(blob_is_shared(blob));
    cr_assert_eq(blob_ref(blob), blob);
    cr_assert(blob_is_shared(blob));
    blob_unref(blob);
    cr_assert_not(blob_is_shared(blob));
    cr_assert_eq(blob->data[99], 7);
    cr_assert_eq(alloc_live(), live + 1);
    blob_unref(blob);
    blob_unref(NULL);
    cr_assert_eq(alloc_live(), live);
}

Test(blob, may_be_empty_and_not_endless)
{
    struct blob *empty = blob_create(&keeper, 0);
    cr_assert_not_null(empty);
    blob_unref(empty);
    cr_assert_null(blob_create(&keeper, SIZE_MAX));
    alloc_fail_at(1);
    cr_assert_null(blob_create(&keeper, 1));
}

Test(blob, gives_the_memory_of_a_large_one_to_the_next_that_fits)
{
    const size_t bytes = 4 * BLOB_KEPT_BYTES_MIN;
    struct blob *first = blob_create(&keeper, bytes);
    struct blob *second = blob_create(&keeper, bytes);
    const size_t made = alloc_made();
    blob_unref(first);
    blob_unref(second);
    struct blob *larger = blob_create(&keeper, bytes + 1);
    struct blob *small = blob_create(&keeper, bytes / 2 - 1);
    cr_assert_eq(alloc_made(), made + 2, "one is too large for them, the other wastes too much");
    cr_assert_eq(blob_create(&keeper, bytes / 2), second, "the last one that was freed");
    cr_assert_eq(second->bytes, bytes / 2);
    cr_assert_eq(blob_create(&keeper, bytes), first);
    cr_assert_eq(alloc_made(), made + 2);
    blob_unref(second);
    cr_assert_eq(blob_create(&keeper, bytes), second, "with all of its room");
    blob_unref(first);
    blob_unref(second);
    blob_unref(larger);
    blob_unref(small);
}

Test(blob, lets_the_oldest_free_ones_go)
{
    const size_t live = alloc_live();
    struct blob *old = blob_create(&keeper, BLOB_FREE_BYTES_MAX / 2);
    struct blob *large = blob_create(&keeper, BLOB_FREE_BYTES_MAX / 2 + 1);
    struct blob *endless = blob_create(&keeper, (size_t)BLOB_FREE_BYTES_MAX + 1);
    blob_unref(old);
    cr_assert_eq(alloc_live(), live + 3);
    blob_unref(large);
    cr_assert_eq(alloc_live(), live + 2);
    blob_unref(endless);
    cr_assert_eq(alloc_live(), live + 1);
    cr_assert_eq(blob_create(&keeper, BLOB_FREE_BYTES_MAX / 2), large);
    blob_unref(large);
}
