// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "link/message.h"
#include "remote/bulk.h"
#include "remote/expectation.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BYTES = 10 * EXPECTATION_BLOCK_BYTES + 100 };

static unsigned char expected[BYTES], found[BYTES];
static struct wire_writer writer;

static void setup(void)
{
    struct random random;

    random_init(&random, 1);
    for (size_t i = 0; i < BYTES; i++) {
        expected[i] = found[i] = (unsigned char)random_below(&random, 256);
    }
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    wire_writer_release(&writer);
}

TestSuite(expectation, .init = setup, .fini = teardown);

static tapml_status take(struct expectation *out_expectation)
{
    struct wire_frame frame;

    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    cr_assert_eq(frame.verb, BULK_EXPECT);
    return expectation_take(&frame, out_expectation);
}

// The runs of what was found: lengths, those that are as expected in front.
static void expect_runs(const uint32_t *lengths, size_t count)
{
    struct expectation taken = {.hashes = NULL};
    const struct expectation given = {.number = 3, .offset = 77, .bytes = BYTES};
    uint32_t at = 0;

    expectation_put(&writer, &given, expected);
    cr_assert_eq(take(&taken), TAPML_OK, "%s", status_message());
    cr_assert(taken.number == 3 && taken.offset == 77 && taken.bytes == BYTES);
    for (size_t i = 0; i < count; i++) {
        int is_same = 0;
        const uint32_t length = expectation_run(taken.hashes, at / EXPECTATION_BLOCK_BYTES,
                                                found + at, BYTES - at, &is_same);

        cr_assert_eq(is_same, i % 2 == 0, "run %zu", i);
        cr_assert_eq(length, lengths[i], "run %zu: %u", i, length);
        at += length;
    }
    cr_assert_eq(at, BYTES);
    expectation_release(&taken);
    cr_assert_null(taken.hashes);
}

Test(expectation, is_met_by_the_same_bytes)
{
    expect_runs((const uint32_t[]){BYTES}, 1);
}

Test(expectation, tells_the_blocks_that_differ)
{
    found[2 * EXPECTATION_BLOCK_BYTES] ^= 1;
    found[4 * EXPECTATION_BLOCK_BYTES - 1] ^= 1;
    expect_runs((const uint32_t[]){2 * EXPECTATION_BLOCK_BYTES, 2 * EXPECTATION_BLOCK_BYTES,
                                   BYTES - 4 * EXPECTATION_BLOCK_BYTES},
                3);
}

Test(expectation, tells_a_last_block_that_is_shorter)
{
    found[BYTES - 1] ^= 128;
    expect_runs((const uint32_t[]){10 * EXPECTATION_BLOCK_BYTES, 100}, 2);
}

static void expect_malformed(uint64_t bytes, size_t hashes)
{
    struct expectation taken = {.hashes = NULL};

    writer.size = 0;
    wire_begin(&writer, BULK_EXPECT, 0);
    wire_put_u32(&writer, 0);
    wire_put_u64(&writer, 0);
    wire_put_u64(&writer, bytes);
    for (size_t i = 0; i < hashes; i++) {
        wire_put_u64(&writer, i);
    }
    wire_end(&writer);
    cr_assert_eq(take(&taken), TAPML_INVALID);
    cr_assert_null(taken.hashes);
}

Test(expectation, is_refused_where_blocks_and_hashes_do_not_agree)
{
    expect_malformed(0, 0);
    expect_malformed(EXPECTATION_BLOCK_BYTES, 0);
    expect_malformed(EXPECTATION_BLOCK_BYTES, 2);
    expect_malformed(EXPECTATION_BLOCK_BYTES + 1, 1);
    expect_malformed(UINT64_MAX, 0);
    expect_malformed((uint64_t)EXPECTATION_BYTES_MAX + 1, 1);
}
