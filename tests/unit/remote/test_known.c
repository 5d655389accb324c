// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "remote/known.h"

#include <criterion/criterion.h>

static struct hash hash_of(uint64_t number)
{
    return hash_bytes(&number, sizeof(number));
}

Test(known, is_empty_to_begin_with)
{
    struct known known = {.count = 0};

    cr_assert_not(known_has(&known, hash_of(1)));
    cr_assert_not(known_has(&known, (struct hash){0, 0}));
    known_release(&known);
}

Test(known, has_what_was_added_and_nothing_else)
{
    enum { COUNT = 20000 };
    struct known known = {.count = 0};

    for (uint64_t i = 0; i < COUNT; i++) {
        known_add(&known, hash_of(i));
        cr_assert(known_has(&known, hash_of(i)));
        cr_assert_not(known_has(&known, hash_of(i + COUNT)));
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        known_add(&known, hash_of(i));
    }
    cr_assert_eq(known.count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        cr_assert(known_has(&known, hash_of(i)));
        cr_assert_not(known_has(&known, hash_of(i + COUNT)));
    }
    known_release(&known);
    cr_assert_not(known_has(&known, hash_of(1)));
}

// A stranger chooses the hashes: all of them begin at the same place.
Test(known, takes_hashes_that_collide)
{
    struct known known = {.count = 0};

    for (uint64_t i = 1; i <= 3000; i++) {
        known_add(&known, (struct hash){i, 0});
        known_add(&known, (struct hash){i, UINT64_MAX});
    }
    cr_assert_eq(known.count, 6000);
    for (uint64_t i = 1; i <= 3000; i++) {
        cr_assert(known_has(&known, (struct hash){i, 0}));
        cr_assert(known_has(&known, (struct hash){i, UINT64_MAX}));
        cr_assert_not(known_has(&known, (struct hash){i, 1}));
    }
    known_release(&known);
}

Test(known, never_has_zeros)
{
    struct known known = {.count = 0};

    known_add(&known, (struct hash){0, 0});
    cr_assert_not(known_has(&known, (struct hash){0, 0}));
    known_add(&known, (struct hash){0, 1});
    known_add(&known, (struct hash){1, 0});
    cr_assert_eq(known.count, 2);
    cr_assert_not(known_has(&known, (struct hash){0, 0}));
    known_release(&known);
}

Test(known, leaves_out_what_it_has_no_memory_for)
{
    struct known known = {.count = 0};

    alloc_fail_at(1);
    known_add(&known, hash_of(1));
    alloc_fail_at(0);
    cr_assert_not(known_has(&known, hash_of(1)));
    for (uint64_t i = 0; i < 512; i++) {
        known_add(&known, hash_of(i));
    }
    alloc_fail_at(1);
    known_add(&known, hash_of(512));
    alloc_fail_at(0);
    cr_assert_not(known_has(&known, hash_of(512)));
    cr_assert(known_has(&known, hash_of(511)));
    known_release(&known);
}
