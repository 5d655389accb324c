// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/random.h"
#include "harness/paired.h"
#include "link/message.h"
#include "remote/stream.h"

static struct paired paired;
static struct stream *streams[2];
static struct wire_writer writer;

static void setup(void)
{
    paired_open(&paired);
    for (int i = 0; i < 2; i++) {
        PAIRED_MUST(stream_create(&streams[i]));
    }
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    for (int i = 0; i < 2; i++) {
        stream_destroy(streams[i]);
    }
    wire_writer_release(&writer);
    paired_close(&paired);
}

TestSuite(stream, .init = setup, .fini = teardown);

// What both sides say to each other over a new connection.
static void connect_both(int buffer_bytes)
{
    struct tls *ends[2];
    uint64_t received[2];

    paired_connect(&paired, ends);
    for (int i = 0; i < 2; i++) {
        received[i] = stream_received(streams[i]);
        if (buffer_bytes > 0) {
            (void)setsockopt(tls_socket(ends[i]), SOL_SOCKET, SO_SNDBUF, &buffer_bytes,
                             sizeof(buffer_bytes));
        }
    }
    for (int i = 0; i < 2; i++) {
        PAIRED_MUST(stream_attach(streams[i], ends[i], received[1 - i]));
        cr_assert(stream_is_attached(streams[i]));
    }
}

static void work_both(void)
{
    for (int i = 0; i < 2; i++) {
        PAIRED_MUST(stream_work(streams[i], NULL, 0, 0));
    }
}

static void settle(void)
{
    for (int i = 0; i < 1000 && stream_backlog(streams[0]) + stream_backlog(streams[1]) > 0; i++) {
        work_both();
    }
    cr_assert_eq(stream_backlog(streams[0]), 0);
    cr_assert_eq(stream_backlog(streams[1]), 0);
}

// The frame of a number: its size and bytes follow from that.
static void write_frame(uint64_t number, size_t most)
{
    struct random random;

    random_init(&random, number);
    const size_t words = random_below(&random, most / 8);

    wire_begin(&writer, 9, (uint32_t)number);
    for (size_t i = 0; i < words; i++) {
        wire_put_u64(&writer, random_u64(&random));
    }
    wire_end(&writer);
    cr_assert_not(writer.is_failed);
}

static void put_frame(int side, uint64_t number, size_t most)
{
    writer.size = 0;
    write_frame(number, most);
    PAIRED_MUST(stream_put(streams[side], writer.data, writer.size));
}

// Takes the frames that have come and compares them. Returns the number of the next one.
static uint64_t take_frames(int side, uint64_t next, size_t most)
{
    struct wire_frame frame;

    while (stream_next(streams[side], &frame) == WIRE_FRAME) {
        struct wire_frame expected;

        writer.size = 0;
        write_frame(next, most);
        cr_assert_eq(wire_read(writer.data, writer.size, &expected), WIRE_FRAME);
        cr_assert_eq(frame.number, expected.number);
        cr_assert_eq(frame.size, expected.size);
        cr_assert_eq(memcmp(frame.data, expected.data, frame.size), 0);
        next++;
    }
    return next;
}

Test(stream, carries_frames_both_ways)
{
    uint64_t next[2] = {0, 0};

    connect_both(0);
    for (uint64_t i = 0; i < 50; i++) {
        put_frame(0, i, 4000);
        put_frame(1, i, 4000);
    }
    settle();
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(take_frames(i, next[i], 4000), 50);
    }
    struct wire_frame frame;

    cr_assert_eq(stream_next(streams[0], &frame), WIRE_MORE);
    cr_assert_gt(stream_received(streams[0]), 50 * WIRE_HEADER_BYTES);
    cr_assert_eq(stream_received(streams[0]), stream_received(streams[1]));
}

Test(stream, keeps_what_is_sent_without_a_connection)
{
    cr_assert_not(stream_is_attached(streams[0]));
    put_frame(0, 0, 40000);
    put_frame(0, 1, 40000);
    PAIRED_MUST(stream_work(streams[0], NULL, 0, 0));
    cr_assert_gt(stream_backlog(streams[0]), 0);
    PAIRED_MUST(stream_put(streams[0], NULL, 0));
    connect_both(0);
    settle();
    cr_assert_eq(take_frames(1, 0, 40000), 2);
}

// -- Cuts --------------------------------------------------------------------------------------

enum { CUT_FRAME = 60000, CUTS = 120 };

// One side, or both, close the connection with whatever is on its way. Sometimes only one of them
// has noticed when the next one comes.
static void cut(struct random *random)
{
    const uint64_t how = random_below(random, 4);

    if (how != 1) {
        stream_detach(streams[0]);
    }
    if (how == 1 || how == 2) {
        stream_detach(streams[1]);
    }
    if (how == 3) { // It reads what is there, and finds the end.
        for (int i = 0; i < 10 && stream_is_attached(streams[1]); i++) {
            (void)stream_work(streams[1], NULL, 0, 1);
        }
        cr_assert_not(stream_is_attached(streams[1]));
    }
}

// Sends at random and works at random, with cuts, until each has `CUTS` times lost a connection.
static void exchange(uint64_t seed, int buffer_bytes)
{
    struct random random;
    uint64_t put[2] = {0, 0}, taken[2] = {0, 0};

    random_init(&random, seed);
    for (int turn = 0; turn < CUTS; turn++) {
        connect_both(buffer_bytes);
        for (uint64_t steps = random_below(&random, 12); steps > 0; steps--) {
            const int side = (int)random_below(&random, 2);

            if (random_below(&random, 2) == 0) {
                put_frame(side, put[side]++, CUT_FRAME);
            }
            PAIRED_MUST(stream_work(streams[side], NULL, 0, 0));
            if (random_below(&random, 3) == 0) {
                taken[side] = take_frames(side, taken[side], CUT_FRAME);
            }
        }
        cut(&random);
    }
    connect_both(0);
    settle();
    for (int i = 0; i < 2; i++) {
        cr_assert_gt(put[i], 50);
        cr_assert_eq(take_frames(i, taken[i], CUT_FRAME), put[1 - i]);
    }
}

Test(stream, brings_every_byte_once_and_in_order_over_cuts)
{
    exchange(1, 0);
}

// Records go in parts, so most cuts are in the middle of one.
Test(stream, brings_every_byte_once_over_cuts_of_narrow_connections)
{
    exchange(2, 2048);
}

Test(stream, notices_that_the_other_side_is_gone)
{
    connect_both(0);
    stream_detach(streams[0]);
    tapml_status status = TAPML_OK;

    for (int i = 0; i < 10 && status == TAPML_OK; i++) {
        status = stream_work(streams[1], NULL, 0, 100);
    }
    cr_assert_eq(status, TAPML_UNAVAILABLE);
    cr_assert_not(stream_is_attached(streams[1]));
    PAIRED_MUST(stream_work(streams[1], NULL, 0, 0));
}

// -- Counts that cannot be ---------------------------------------------------------------------

static void refuse_count(uint64_t received)
{
    struct tls *ends[2];
    char byte;
    size_t size = 0;

    paired_connect(&paired, ends);
    cr_assert_eq(stream_attach(streams[0], ends[0], received), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "are possible"), "%s", status_message());
    cr_assert_not(stream_is_attached(streams[0]));
    cr_assert_eq(tls_read(ends[1], &byte, 1, &size), TAPML_UNAVAILABLE, "it is closed");
    tls_close(ends[1]);
}

Test(stream, refuses_counts_that_cannot_be)
{
    refuse_count(1);
    connect_both(0);
    put_frame(0, 0, 40000);
    settle();
    put_frame(0, 1, 40000);
    const uint64_t acknowledged = stream_received(streams[1]);
    const uint64_t all = acknowledged + stream_backlog(streams[0]);

    cr_assert_gt(acknowledged, 0);
    refuse_count(acknowledged - 1);
    refuse_count(all + 1);
    refuse_count(UINT64_MAX);
    cr_assert_eq(stream_backlog(streams[0]), all - acknowledged, "nothing is lost by that");
    connect_both(0);
    settle();
    cr_assert_eq(take_frames(1, 0, 40000), 2);
}

// -- Records that cannot be --------------------------------------------------------------------

static struct tls *raw; // The other end of stream 0.

static void connect_raw(void)
{
    struct tls *ends[2];

    paired_connect(&paired, ends);
    PAIRED_MUST(stream_attach(streams[0], ends[0], 0));
    raw = ends[1];
}

static void send_raw(const void *bytes, size_t size)
{
    size_t written = 0;

    PAIRED_MUST(tls_write(raw, bytes, size, &written));
    cr_assert_eq(written, size);
}

static void refuse_record(const void *bytes, size_t size)
{
    connect_raw();
    send_raw(bytes, size);
    cr_assert_eq(stream_work(streams[0], NULL, 0, 1000), TAPML_UNAVAILABLE);
    cr_assert_not(stream_is_attached(streams[0]));
    cr_assert_eq(stream_received(streams[0]), 0);
    tls_close(raw);
}

Test(stream, drops_a_connection_whose_records_are_malformed)
{
    static const struct {
        unsigned char bytes[17];
        size_t size;
    } records[] = {
        {{0, 0, 0, 0, 8}, 16},         // No type,
        {{5, 0, 0, 0, 8}, 16},         // one that there is not,
        {{1, 1, 0, 0, 8}, 16},         // what must be zeros is not,
        {{1, 0, 0, 1, 8}, 16},         // nor is this.
        {{1, 0, 0, 0, 0}, 8},          // Bytes, but none,
        {{1, 0, 0, 0, 1, 0x40}, 8},    // or too many,
        {{1, 0, 0, 0, 0, 0, 0, 1}, 8}, // or far too many.
        {{2, 0, 0, 0, 7}, 15},         // Numbers of other sizes.
        {{2, 0, 0, 0, 0}, 8},
        {{3, 0, 0, 0, 9}, 17},
        {{4, 0, 0, 0, 4}, 12},
        {{2, 0, 0, 0, 8, 0, 0, 0, 1}, 16}, // An acknowledgement of what was not sent.
        {{'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1'}, 12},
    };

    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
        refuse_record(records[i].bytes, records[i].size);
    }
}

Test(stream, takes_back_no_acknowledgement)
{
    unsigned char record[16] = {2, 0, 0, 0, 8};

    put_frame(0, 0, 40000);
    connect_raw();
    record[8] = 100;
    send_raw(record, sizeof(record));
    const size_t before = stream_backlog(streams[0]);

    PAIRED_MUST(stream_work(streams[0], NULL, 0, 1000));
    cr_assert_eq(stream_backlog(streams[0]), before - 100);
    send_raw(record, sizeof(record));
    PAIRED_MUST(stream_work(streams[0], NULL, 0, 1000));
    record[8] = 99;
    send_raw(record, sizeof(record));
    cr_assert_eq(stream_work(streams[0], NULL, 0, 1000), TAPML_UNAVAILABLE);
    tls_close(raw);
}

// What a record carries is a stream of frames; a stranger may send others.
Test(stream, says_what_is_no_frame)
{
    unsigned char record[24] = {1, 0, 0, 0, 16, 0, 0, 0, 'n', 'o', 'n', 'e'};
    struct wire_frame frame;

    connect_raw();
    send_raw(record, sizeof(record));
    PAIRED_MUST(stream_work(streams[0], NULL, 0, 1000));
    cr_assert_eq(stream_received(streams[0]), 16);
    cr_assert_eq(stream_next(streams[0], &frame), WIRE_BAD_MAGIC);
    tls_close(raw);
}

Test(stream, answers_a_sign_of_life)
{
    unsigned char record[16] = {3, 0, 0, 0, 8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}, answer[64];
    size_t size = 0;

    connect_raw();
    send_raw(record, sizeof(record));
    PAIRED_MUST(stream_work(streams[0], NULL, 0, 1000));
    PAIRED_MUST(tls_read(raw, answer, sizeof(answer), &size));
    record[0] = 4;
    cr_assert_eq(size, sizeof(record));
    cr_assert_eq(memcmp(answer, record, sizeof(record)), 0);
    tls_close(raw);
}

// The side whose turn is first gives one; the answer is one of the other side.
Test(stream, gives_signs_of_life)
{
    const uint64_t begin_ns = clock_now_ns();
    uint64_t trip_ns = 0;

    connect_both(0);
    while (trip_ns == 0) {
        PAIRED_MUST(stream_work(streams[0], NULL, 0, 20));
        PAIRED_MUST(stream_work(streams[1], NULL, 0, 20));
        trip_ns = stream_round_trip_ns(streams[0]) + stream_round_trip_ns(streams[1]);
        cr_assert_lt(clock_now_ns() - begin_ns, 8000000000u);
    }
    cr_assert_geq(clock_now_ns() - begin_ns, STREAM_PING_MS * 900000u);
    cr_assert_lt(trip_ns, 2000000000u);
}

// -- Limits ------------------------------------------------------------------------------------

Test(stream, is_full_some_time)
{
    enum { FRAME = 1 << 20 };
    unsigned char *bytes = calloc(1, FRAME);
    uint64_t taken = 0;

    connect_both(0);
    while (!stream_is_full(streams[0])) {
        writer.size = 0;
        wire_begin(&writer, 9, 0);
        wire_put_bytes(&writer, bytes, FRAME);
        wire_end(&writer);
        PAIRED_MUST(stream_put(streams[0], writer.data, writer.size));
    }
    cr_assert_gt(stream_backlog(streams[0]), STREAM_WINDOW_BYTES);
    cr_assert_leq(stream_backlog(streams[0]), STREAM_WINDOW_BYTES + FRAME + 100);
    for (int i = 0; i < 16; i++) { // More than there is room for at the other side.
        PAIRED_MUST(stream_put(streams[0], writer.data, writer.size));
    }
    for (int i = 0; i < 2000; i++) {
        work_both();
    }
    const uint64_t held = stream_received(streams[1]);

    cr_assert_gt(stream_backlog(streams[0]), 0,
                 "the other side takes no more than it has room for");
    cr_assert_lt(held, STREAM_WINDOW_BYTES + FRAME);
    struct wire_frame frame;

    for (int i = 0; i < 1000 && stream_backlog(streams[0]) > 0; i++) {
        while (stream_next(streams[1], &frame) == WIRE_FRAME) {
            cr_assert_eq(frame.size, FRAME);
            taken++;
        }
        work_both();
    }
    while (stream_next(streams[1], &frame) == WIRE_FRAME) {
        taken++;
    }
    cr_assert_eq(stream_backlog(streams[0]), 0);
    cr_assert_not(stream_is_full(streams[0]));
    cr_assert_eq(taken * writer.size, stream_received(streams[1]));
    free(bytes);
}

Test(stream, waits_for_others_too)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    connect_both(0);
    struct pollfd other = {.fd = ends[0], .events = POLLIN};
    const uint64_t begin_ns = clock_now_ns();

    PAIRED_MUST(stream_work(streams[0], &other, 1, 50));
    cr_assert_eq(other.revents, 0);
    cr_assert_geq(clock_now_ns() - begin_ns, 40000000u);
    cr_assert_eq(write(ends[1], "x", 1), 1);
    PAIRED_MUST(stream_work(streams[0], &other, 1, 5000));
    cr_assert_eq(other.revents, POLLIN);
    stream_detach(streams[0]);
    other.revents = 0;
    PAIRED_MUST(stream_work(streams[0], &other, 1, 5000));
    cr_assert_eq(other.revents, POLLIN, "without a connection as well");
    cr_assert_lt(clock_now_ns() - begin_ns, 3000000000u);
    close(ends[0]);
    close(ends[1]);
}

Test(stream, survives_a_lack_of_memory)
{
    struct stream *another = NULL;

    SCRATCH_SWEEP(stream_create(&another));
    alloc_fail_at(1);
    cr_assert_eq(stream_put(another, "bytes", 5), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    cr_assert_eq(stream_backlog(another), 0);
    stream_destroy(another);
    stream_destroy(NULL);
}
