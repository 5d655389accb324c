// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(alloc, blocks_are_zeroed_and_counted)
{
    const size_t live = alloc_live();
    const size_t made = alloc_made();
    unsigned char *block = alloc_new(100);
    cr_assert_not_null(block);
    for (size_t i = 0; i < 100; ++i) {
        cr_assert_eq(block[i], 0);
    }
    char *empty = alloc_new(0);
    cr_assert_not_null(empty);
    cr_assert_eq(alloc_live(), live + 2);
    alloc_free(block);
    alloc_free(empty);
    alloc_free(NULL);
    cr_assert_eq(alloc_live(), live);
    cr_assert_eq(alloc_made(), made + 2);
}

Test(alloc, a_product_that_overflows_is_refused)
{
    cr_assert_null(alloc_array(SIZE_MAX / 2, 3));
    void *block = alloc_array(3, 5);
    cr_assert_not_null(block);
    alloc_free(block);
}

Test(alloc, aligned_blocks_are_aligned_and_zeroed)
{
    for (size_t align = 1; align <= 4096; align *= 2) {
        unsigned char *block = alloc_aligned(33, align);
        cr_assert_not_null(block);
        cr_assert_eq((uintptr_t)block % align, 0);
        for (size_t i = 0; i < 33; ++i) {
            cr_assert_eq(block[i], 0);
        }
        memset(block, 0xff, 33);
        alloc_free(block);
    }
}

Test(alloc, text_is_copied)
{
    char *copy = alloc_text("words");
    cr_assert_str_eq(copy, "words");
    alloc_free(copy);
}

Test(alloc, grow_keeps_what_was_there)
{
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; ++i) {
        cr_assert(alloc_grow((void **)&items, &capacity, (size_t)i, sizeof(*items)));
        cr_assert_gt(capacity, (size_t)i);
        items[i] = i;
    }
    for (int i = 0; i < 1000; ++i) {
        cr_assert_eq(items[i], i);
    }
    alloc_free(items);
}

Test(alloc, grow_that_fails_leaves_the_array)
{
    int *items = NULL;
    size_t capacity = 0;
    cr_assert(alloc_grow((void **)&items, &capacity, 0, sizeof(*items)));
    items[0] = 7;
    const size_t before = capacity;
    alloc_fail_at(1);
    cr_assert_not(alloc_grow((void **)&items, &capacity, before, sizeof(*items)));
    alloc_fail_at(0);
    cr_assert_eq(capacity, before);
    cr_assert_eq(items[0], 7);
    alloc_free(items);
}

Test(alloc, only_the_nth_call_fails)
{
    alloc_fail_at(3);
    void *blocks[4];
    for (int i = 0; i < 4; ++i) {
        blocks[i] = i == 1 ? alloc_aligned(8, 64) : alloc_new(8);
    }
    alloc_fail_at(0);
    cr_assert_not_null(blocks[0]);
    cr_assert_not_null(blocks[1]);
    cr_assert_null(blocks[2]);
    cr_assert_not_null(blocks[3]);
    for (int i = 0; i < 4; ++i) {
        alloc_free(blocks[i]);
    }
}
