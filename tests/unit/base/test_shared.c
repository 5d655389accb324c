// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/random.h"
#include "base/shared.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct shared *shared;

static void setup(void)
{
    cr_assert_eq(shared_create(SHARED_WRITABLE, &shared), TAPML_OK);
}

static void teardown(void)
{
    shared_destroy(shared);
}

TestSuite(shared, .init = setup, .fini = teardown);

static struct shared_span take(uint64_t bytes)
{
    struct shared_span span;
    cr_assert_eq(shared_take(shared, bytes, &span), TAPML_OK, "%s", status_message());
    cr_assert_eq((uintptr_t)span.memory % SHARED_ALIGN, 0);
    return span;
}

Test(shared, gives_the_same_memory_to_both_sides)
{
    const struct shared_span span = take(100);
    unsigned char *other = mmap(NULL, shared_bytes(shared, span.region), PROT_READ, MAP_SHARED,
                                shared_descriptor(shared, span.region), 0);
    cr_assert_neq(other, MAP_FAILED);
    memset(span.memory, 0x5a, span.bytes);
    cr_assert_arr_eq(other + span.offset, span.memory, span.bytes);
    munmap(other, shared_bytes(shared, span.region));
}

// A worker that is out of its mind neither changes what is shared with it nor cuts it off.
Test(shared, is_written_by_its_maker_alone_if_it_is_read_only)
{
    struct shared *own = NULL;
    struct shared_span span;
    cr_assert_eq(shared_create(SHARED_READ_ONLY, &own), TAPML_OK);
    cr_assert_eq(shared_take(own, 100, &span), TAPML_OK, "%s", status_message());
    const int descriptor = shared_descriptor(own, 0);
    const uint64_t bytes = shared_bytes(own, 0);
    unsigned char *other = mmap(NULL, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    cr_assert_neq(other, MAP_FAILED);
    span.memory[7] = 7;
    cr_assert_eq(other[span.offset + 7], 7);
    cr_assert_neq(mprotect(other, bytes, PROT_READ | PROT_WRITE), 0);
    cr_assert_eq(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), MAP_FAILED);
    cr_assert_eq(pwrite(descriptor, "x", 1, 0), -1);
    cr_assert_neq(ftruncate(descriptor, 0), 0);
    munmap(other, bytes);
    shared_destroy(own);
}

Test(shared, keeps_its_size)
{
    const struct shared_span span = take(100);
    const int descriptor = shared_descriptor(shared, span.region);
    cr_assert_neq(ftruncate(descriptor, 0), 0);
    cr_assert_neq(ftruncate(descriptor, (off_t)1 << 30), 0);
}

// What a worker can do to a region beside writing it.
Test(shared, reads_zeros_where_somebody_punched_a_hole)
{
    enum { PAGE = 1 << 12 };
    const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    const struct shared_span span = take(2 * PAGE);
    memset(span.memory, 1, span.bytes);
    cr_assert_eq(fallocate(shared_descriptor(shared, span.region), mode, 0, PAGE), 0);
    cr_expect_eq(span.memory[0], 0);
    cr_expect_eq(span.memory[PAGE], 1);

    struct shared *sealed = NULL;
    struct shared_span other;
    cr_assert_eq(shared_create(SHARED_READ_ONLY, &sealed), TAPML_OK);
    cr_assert_eq(shared_take(sealed, PAGE, &other), TAPML_OK);
    memset(other.memory, 1, other.bytes);
    cr_expect_neq(fallocate(shared_descriptor(sealed, other.region), mode, 0, PAGE), 0);
    cr_expect_eq(other.memory[0], 1);
    shared_destroy(sealed);
}

Test(shared, uses_again_what_was_given_back)
{
    const struct shared_span a = take(1000), b = take(1000), c = take(1000);
    shared_give_back(shared, &a);
    shared_give_back(shared, &b);
    const struct shared_span joined = take(2000);
    cr_assert_eq(joined.offset, a.offset);
    shared_give_back(shared, &joined);
    shared_give_back(shared, &c);
    cr_assert_eq(take(1 << 26).offset, 0, "all of the region is one part again");
    cr_assert_eq(shared_count(shared), 1);
}

Test(shared, gives_the_memory_of_a_large_span_to_the_system)
{
    enum { LARGE = 1 << 20, PAGE = 1 << 12 };
    const struct shared_span small = take(PAGE);
    const struct shared_span large = take(LARGE);
    struct stat before, after;
    memset(small.memory, 1, small.bytes);
    memset(large.memory, 1, large.bytes);
    cr_assert_eq(fstat(shared_descriptor(shared, large.region), &before), 0);
    shared_give_back(shared, &large);
    cr_assert_eq(fstat(shared_descriptor(shared, large.region), &after), 0);
    cr_expect_leq((after.st_blocks + (LARGE - PAGE) / 512), before.st_blocks);
    cr_expect_eq(small.memory[PAGE - 1], 1);
}

Test(shared, makes_another_region_where_one_is_full)
{
    const struct shared_span small = take(1), large = take((1u << 26) + 1);
    cr_assert_eq(small.region, 0);
    cr_assert_eq(large.region, 1);
    cr_assert_geq(shared_bytes(shared, 1), large.bytes);
    large.memory[large.bytes - 1] = 1;
}

Test(shared, refuses_sizes_that_cannot_be)
{
    struct shared_span span;
    cr_assert_eq(shared_take(shared, 0, &span), TAPML_INVALID);
    cr_assert_eq(shared_take(shared, UINT64_MAX, &span), TAPML_INVALID);
    cr_assert_eq(shared_take(shared, (uint64_t)1 << 62, &span), TAPML_NO_MEMORY);
    cr_assert_eq(shared_count(shared), 0);
}

Test(shared, keeps_spans_apart)
{
    enum { COUNT = 200, TURNS = 4000 };
    struct shared_span spans[COUNT] = {0};
    struct random random;
    random_init(&random, 1);
    for (int turn = 0; turn < TURNS; turn++) {
        const size_t at = (size_t)random_below(&random, COUNT);
        if (spans[at].memory) {
            for (uint64_t i = 0; i < spans[at].bytes; i++) {
                cr_assert_eq(spans[at].memory[i], (unsigned char)at);
            }
            shared_give_back(shared, &spans[at]);
            spans[at].memory = NULL;
        } else {
            spans[at] = take(1 + random_below(&random, 5000));
            memset(spans[at].memory, (int)at, spans[at].bytes);
        }
    }
}
