// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "remote/reads.h"

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void add(struct reads *reads, uint64_t offset)
{
    MUST(reads_add(reads, &(struct reads_span){.number = 1, .offset = offset, .bytes = 8}));
}

Test(reads, come_in_their_order_and_up_to_an_end)
{
    struct reads reads = {.count = 0};

    cr_assert_null(reads_first(&reads, UINT64_MAX));
    for (uint64_t i = 0; i < 100; i++) {
        add(&reads, i);
    }
    cr_assert_eq(reads_end(&reads), 100);
    for (uint64_t i = 0; i < 60; i++) {
        cr_assert_eq(reads_first(&reads, 60)->offset, i);
        reads_take(&reads, 8);
    }
    cr_assert_null(reads_first(&reads, 60));
    cr_assert_eq(reads_first(&reads, 61)->offset, 60);
    cr_assert_eq(reads_end(&reads), 100, "what is done counts");
    add(&reads, 100);
    cr_assert_eq(reads_end(&reads), 101);
    reads_release(&reads);
    cr_assert_eq(reads_end(&reads), 0);
}

// What has come of one stands behind it until the last byte.
Test(reads, are_taken_piece_by_piece)
{
    struct reads reads = {.count = 0};
    uint64_t *hashes = alloc_new(2 * sizeof(*hashes));

    cr_assert_not_null(hashes);
    MUST(reads_add(&reads, &(struct reads_span){.offset = 100, .bytes = 8, .hashes = hashes}));
    add(&reads, 200);
    reads_take(&reads, 3);
    const struct reads_span *first = reads_first(&reads, UINT64_MAX);

    cr_assert_eq(first->offset, 103);
    cr_assert_eq(first->bytes, 5);
    cr_assert_eq(first->taken, 3);
    cr_assert_eq(first->hashes, hashes);
    reads_take(&reads, 5);
    cr_assert_eq(reads_first(&reads, UINT64_MAX)->offset, 200);
    cr_assert_null(reads_first(&reads, UINT64_MAX)->hashes);
    reads_release(&reads);
}

Test(reads, in_front_of_a_point_are_those_before_its_mark)
{
    struct reads reads = {.count = 0};

    cr_assert_eq(reads_end_of(&reads, 1), 0);
    add(&reads, 0);
    add(&reads, 1);
    MUST(reads_mark(&reads, 1));
    MUST(reads_mark(&reads, 2)); // Nothing was read between them.
    add(&reads, 2);
    MUST(reads_mark(&reads, 5));
    add(&reads, 3);
    cr_assert_eq(reads_end_of(&reads, 1), 2);
    cr_assert_eq(reads_end_of(&reads, 2), 2);
    cr_assert_eq(reads_end_of(&reads, 3), 3, "the next mark that is known");
    cr_assert_eq(reads_end_of(&reads, 5), 3);
    cr_assert_eq(reads_end_of(&reads, 6), 4, "all of them");
    for (int i = 0; i < 3; i++) {
        reads_take(&reads, 8);
    }
    MUST(reads_mark(&reads, 6));
    cr_assert_eq(reads.mark_count, 1, "marks of what is done are dropped");
    cr_assert_eq(reads_end_of(&reads, 6), 4);
    reads_release(&reads);
}

// Points without reads, for ever, take no memory.
Test(reads, drop_marks_that_say_nothing)
{
    struct reads reads = {.count = 0};

    for (uint64_t i = 1; i < 10000; i++) {
        if (i % 100 == 0) {
            add(&reads, i);
            reads_take(&reads, 8);
        }
        MUST(reads_mark(&reads, i));
    }
    cr_assert_leq(reads.mark_capacity, 64);
    reads_release(&reads);
}

Test(reads, are_forgotten_but_counted_where_a_wait_failed)
{
    struct reads reads = {.count = 0};

    add(&reads, 0);
    add(&reads, 1);
    MUST(reads_mark(&reads, 1));
    reads_clear(&reads);
    cr_assert_null(reads_first(&reads, UINT64_MAX));
    cr_assert_eq(reads_end(&reads), 2);
    cr_assert_eq(reads_end_of(&reads, 1), 2);
    add(&reads, 7);
    cr_assert_null(reads_first(&reads, 2));
    cr_assert_eq(reads_first(&reads, 3)->offset, 7);
    reads_release(&reads);
}

Test(reads, survive_a_lack_of_memory)
{
    struct reads reads = {.count = 0};
    const struct reads_span span = {.number = 1, .offset = 2, .bytes = 3};

    alloc_fail_at(1);
    cr_assert_eq(reads_add(&reads, &span), TAPML_NO_MEMORY);
    alloc_fail_at(1);
    cr_assert_eq(reads_mark(&reads, 1), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    cr_assert_eq(reads_end(&reads), 0);
    reads_release(&reads);
}
