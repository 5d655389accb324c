// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "harness/paired.h"
#include "remote/bulk.h"
#include "remote/expectation.h"
#include "remote/far_session.h"

static struct paired paired;
static struct far_session_options options;
static struct host_session *session;
static struct stream *host;
static struct wire_writer writer;
static char program[2 * SCRATCH_PATH], folder[2 * SCRATCH_PATH];

static tapml_status list(void *user, struct text *out_lines)
{
    (void)user;
    text_append(out_lines, "first:0  one\n");
    return TAPML_OK;
}

// This machine opens nothing: its worker only refuses.
static tapml_status settle(void *user,
                           const struct message_setting *asked,
                           size_t asked_count,
                           struct arena *arena,
                           struct message_setting **out_settings,
                           size_t *out_count)
{
    return status_fail(TAPML_NOT_FOUND, "'%s' is not here", asked[0].value);
}

static void setup(void)
{
    paired_open(&paired);
    (void)snprintf(program, sizeof(program), "%s",
                   scratch_join("TAPML_TEST_BUILD", "tapml-worker"));
    (void)snprintf(folder, sizeof(folder), "%s",
                   scratch_path(&paired.sides[PAIRED_WORKER].scratch, "cache"));
    options = (struct far_session_options){.program = program,
                                           .cache_folder = folder,
                                           .cache_bytes = 1 << 20,
                                           .memory_bytes = 1 << 24,
                                           .settle = settle,
                                           .list = list};
    PAIRED_MUST(far_session_create(&options, &session));
    PAIRED_MUST(stream_create(&host));
    writer = MESSAGE_WRITER;
}

static void teardown(void)
{
    host_session_destroy(session);
    stream_destroy(host);
    wire_writer_release(&writer);
    paired_close(&paired);
}

TestSuite(far_session, .init = setup, .fini = teardown);

static struct greeting_answer connect_host(const struct greeting_session *id)
{
    struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;
    struct tls *ends[2];

    greeting.session = *id;
    greeting.received = stream_received(host);
    paired_connect(&paired, ends);
    PAIRED_MUST(host_session_attach(session, ends[1], &greeting));
    PAIRED_MUST(greeting_receive_answer(ends[0], &answer));
    PAIRED_MUST(stream_attach(host, ends[0], answer.received));
    return answer;
}

static void begin(void)
{
    (void)connect_host(&(struct greeting_session){{0}});
}

// Sends what was written, and lets the session work until the next message has come.
static struct wire_frame exchange(void)
{
    struct wire_frame frame = {0};

    PAIRED_MUST(stream_put(host, writer.data, writer.size));
    writer.size = 0;
    for (int i = 0; i < 200; i++) {
        PAIRED_MUST(stream_work(host, NULL, 0, 0));
        PAIRED_MUST(host_session_work(session, -1));
        PAIRED_MUST(stream_work(host, NULL, 0, 5));
        if (stream_next(host, &frame) == WIRE_FRAME) {
            return frame;
        }
    }
    cr_assert_fail("no answer");
    return frame;
}

static void write_start(uint32_t generation)
{
    wire_begin(&writer, BULK_START, 0);
    wire_put_u32(&writer, generation);
    wire_put_u64(&writer, 0);
    wire_end(&writer);
}

static void expect_started(uint32_t generation)
{
    struct wire_reader reader;
    const struct wire_frame frame = exchange();

    cr_assert_eq(frame.verb, BULK_STARTED);
    wire_reader_init(&reader, &frame);
    cr_assert_eq(wire_take_u32(&reader), generation);
    cr_assert_str_eq(wire_take_text(&reader), "");
    cr_assert(wire_is_done(&reader));
}

static void start(void)
{
    begin();
    write_start(1);
    expect_started(1);
}

// The worker was ended, and why.
static void expect_end(int was_killed, const char *piece)
{
    struct wire_reader reader;
    const struct wire_frame frame = exchange();

    cr_assert_eq(frame.verb, BULK_END);
    wire_reader_init(&reader, &frame);
    (void)wire_take_u32(&reader);
    cr_assert_eq(wire_take_u32(&reader), (uint32_t)was_killed);
    (void)wire_take_u64(&reader);
    const char *how = wire_take_text(&reader);

    cr_assert_not_null(how);
    cr_assert_not_null(strstr(how, piece), "%s", how);
}

static void write_region(uint64_t bytes)
{
    wire_begin(&writer, MESSAGE_REGION, 7);
    wire_put_u64(&writer, bytes);
    wire_end(&writer);
}

static void write_transfer(enum message_verb verb, uint64_t bytes, uint32_t region, uint64_t at)
{
    wire_begin(&writer, verb, 8);
    wire_put_u32(&writer, 1);
    wire_put_u64(&writer, 0);
    wire_put_u64(&writer, bytes);
    wire_put_u32(&writer, region);
    wire_put_u64(&writer, at);
    wire_end(&writer);
}

Test(far_session, starts_a_worker_and_ends_it)
{
    start();
    wire_begin(&writer, BULK_STOP, 0);
    wire_put_u32(&writer, 1);
    wire_end(&writer);
    write_start(2);
    expect_started(2);
    write_start(3); // Without a stop, too.
    expect_started(3);
}

// Without a worker, and beside one.
Test(far_session, lists_devices)
{
    begin();
    for (int i = 0; i < 2; i++) {
        struct wire_reader reader;

        wire_begin(&writer, BULK_LIST, 0);
        wire_end(&writer);
        const struct wire_frame frame = exchange();

        cr_assert_eq(frame.verb, BULK_DEVICES);
        wire_reader_init(&reader, &frame);
        cr_assert_eq(wire_take_i64(&reader), TAPML_OK);
        cr_assert_str_eq(wire_take_text(&reader), "first:0  one\n");
        cr_assert(wire_is_done(&reader));
        write_start(1);
        expect_started(1);
    }
}

Test(far_session, answers_an_opening_that_is_refused_by_itself)
{
    const struct message_setting setting = {"worker", "backend", "none"};
    struct wire_reader reader;

    start();
    wire_begin(&writer, MESSAGE_OPEN, 77);
    message_put_settings(&writer, &setting, 1);
    wire_end(&writer);
    const struct wire_frame frame = exchange();

    cr_assert_eq(frame.verb, MESSAGE_REPLY);
    cr_assert_eq(frame.number, 77);
    wire_reader_init(&reader, &frame);
    cr_assert_eq(wire_take_i64(&reader), TAPML_NOT_FOUND);
    cr_assert_str_eq(wire_take_text(&reader), "'none' is not here");
}

// A host can ask for anything: its worker is ended, nothing else.
Test(far_session, ends_a_worker_whose_host_asks_for_what_cannot_be)
{
    start();
    write_region(UINT64_C(1) << 40);
    expect_end(0, "was ended by its machine: more than 16777216 bytes of memory for a host");
    write_start(2);
    expect_started(2);
    write_region(0);
    expect_end(0, "cannot be");
    write_start(3);
    expect_started(3);
    write_transfer(MESSAGE_READ, 64, 0, 0);
    expect_end(0, "a read into memory that is not there");
    write_start(4);
    expect_started(4);
    write_region(4096);
    write_transfer(MESSAGE_READ, 4097, 0, 0);
    expect_end(0, "a read into memory that is not there");
    write_start(5);
    expect_started(5);
    wire_begin(&writer, MESSAGE_READ, 8);
    wire_put_u32(&writer, 1);
    wire_end(&writer);
    expect_end(0, "a read into memory that is not there");
    write_start(6);
    expect_started(6);
    wire_begin(&writer, MESSAGE_SHARE, 8);
    wire_put_u32(&writer, 1 << 20);
    wire_put_u64(&writer, 4096);
    wire_end(&writer);
    expect_end(0, "cannot be");
}

static void put_expectation(uint64_t offset, uint64_t bytes)
{
    static const unsigned char memory[4096];

    expectation_put(&writer, &(struct expectation){0, offset, bytes, NULL}, memory);
}

Test(far_session, ends_a_worker_of_which_something_else_is_expected)
{
    start();
    write_region(4096);
    put_expectation(0, 1024);
    write_transfer(MESSAGE_READ, 1024, 0, 64);
    expect_end(0, "a read of which something else is expected");
    write_start(2);
    expect_started(2);
    write_region(4096);
    put_expectation(0, 1024);
    write_transfer(MESSAGE_READ, 2048, 0, 0);
    expect_end(0, "a read of which something else is expected");
    write_start(3);
    expect_started(3);
    wire_begin(&writer, BULK_EXPECT, 0);
    wire_put_u32(&writer, 0);
    wire_end(&writer);
    expect_end(0, "what is expected of a read is malformed");
    write_start(4);
    expect_started(4);
    write_region(4096);
    wire_begin(&writer, MESSAGE_STAMP, 8);
    wire_put_u32(&writer, 0);
    wire_put_u64(&writer, 4089);
    wire_end(&writer);
    expect_end(0, "a read into memory that is not there");
}

static void put_bytes(uint32_t region, uint64_t offset, const struct hash *hash)
{
    static const unsigned char bytes[4096];
    struct bulk_packer *packer = bulk_packer_create();

    bulk_put_data(packer, &writer, &(struct bulk_span){region, offset, sizeof(bytes)}, hash, bytes);
    bulk_packer_destroy(packer);
}

Test(far_session, ends_a_worker_whose_bytes_are_wrong)
{
    const struct hash wrong = {1, 2};

    start();
    put_bytes(0, 0, NULL);
    expect_end(0, "4096 bytes for memory that is not there");
    write_start(2);
    expect_started(2);
    write_region(8192);
    put_bytes(0, 4096, NULL);
    put_bytes(0, 4097, NULL);
    expect_end(0, "4096 bytes for memory that is not there");
    write_start(3);
    expect_started(3);
    write_region(8192);
    put_bytes(0, 0, &wrong);
    expect_end(0, "a piece has not the hash that it comes with");
    write_start(4);
    expect_started(4);
    wire_begin(&writer, BULK_DATA, 0);
    wire_put_u32(&writer, 0);
    wire_end(&writer);
    expect_end(0, "malformed");
}

Test(far_session, does_not_blame_a_host_for_what_it_has_lost_itself)
{
    start();
    write_region(8192);
    bulk_put_place(&writer, &(struct bulk_span){0, 0, 4096}, (struct hash){3, 4});
    expect_end(1, "is not there");
}

Test(far_session, ignores_what_was_sent_before_the_host_knew)
{
    start();
    put_bytes(0, 0, NULL);
    put_bytes(0, 0, NULL);
    write_transfer(MESSAGE_READ, 64, 0, 0);
    expect_end(0, "memory that is not there");
    write_start(2);
    expect_started(2);
}

Test(far_session, tells_what_it_has_kept)
{
    static const unsigned char bytes[4096];
    const struct hash hash = hash_bytes(bytes, sizeof(bytes));
    struct wire_reader reader;

    start();
    write_region(8192);
    put_bytes(0, 0, &hash);
    write_start(2);
    struct wire_frame frame = exchange();

    while (frame.verb == BULK_HAVE) { // As it keeps it.
        frame = exchange();
    }
    cr_assert_eq(frame.verb, BULK_STARTED);
    host_session_destroy(session);
    stream_destroy(host);
    PAIRED_MUST(far_session_create(&options, &session));
    PAIRED_MUST(stream_create(&host));
    begin();
    frame = exchange();
    cr_assert_eq(frame.verb, BULK_HAVE);
    wire_reader_init(&reader, &frame);
    cr_assert_eq(wire_take_u64(&reader), hash.high);
    cr_assert_eq(wire_take_u64(&reader), hash.low);
    cr_assert(wire_is_done(&reader));
}

static tapml_status work_until_it_ends(void)
{
    tapml_status status = TAPML_OK;

    PAIRED_MUST(stream_put(host, writer.data, writer.size));
    writer.size = 0;
    for (int i = 0; i < 20 && status == TAPML_OK; i++) {
        (void)stream_work(host, NULL, 0, 0);
        status = host_session_work(session, -1);
    }
    return status;
}

Test(far_session, ends_with_a_host_that_says_no_message)
{
    begin();
    PAIRED_MUST(stream_put(host, "this is no message", 18));
    cr_assert_eq(work_until_it_ends(), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "what the host sends is no message");
}

Test(far_session, ends_with_a_start_that_is_malformed)
{
    begin();
    wire_begin(&writer, BULK_START, 0);
    wire_put_u32(&writer, 1);
    wire_end(&writer);
    cr_assert_eq(work_until_it_ends(), TAPML_INVALID);
}

Test(far_session, ends_when_the_host_closes_it)
{
    start();
    wire_begin(&writer, MESSAGE_CLOSE, 1);
    wire_end(&writer);
    cr_assert_eq(work_until_it_ends(), TAPML_CANCELLED);
}

Test(far_session, goes_on_over_another_connection)
{
    cr_assert_gt(host_session_idle_ns(session), 0);
    const struct greeting_answer first = connect_host(&(struct greeting_session){{0}});

    cr_assert_eq(first.state, GREETING_NEW);
    cr_assert_not(greeting_session_is_none(&first.session));
    cr_assert(greeting_session_equal(&first.session, (&session->id)));
    cr_assert_eq(host_session_idle_ns(session), 0);
    write_start(1);
    PAIRED_MUST(stream_put(host, writer.data, writer.size / 2)); // The rest follows behind the cut.
    for (int i = 0; i < 5; i++) {
        PAIRED_MUST(stream_work(host, NULL, 0, 0));
        PAIRED_MUST(host_session_work(session, -1));
    }
    stream_detach(host);
    for (int i = 0; i < 5 && host_session_idle_ns(session) == 0; i++) {
        PAIRED_MUST(host_session_work(session, -1));
    }
    cr_assert_gt(host_session_idle_ns(session), 0);
    const struct greeting_answer second = connect_host(&first.session);

    cr_assert_eq(second.state, GREETING_RESUMED);
    cr_assert_eq(second.received, writer.size / 2);
    PAIRED_MUST(stream_put(host, writer.data + writer.size / 2, writer.size - writer.size / 2));
    writer.size = 0;
    expect_started(1);
}

Test(far_session, needs_a_cache)
{
    struct host_session *another = NULL;
    struct far_session_options wrong = options;

    wrong.cache_folder = "/dev/null/x";
    cr_assert_neq(far_session_create(&wrong, &another), TAPML_OK);
    cr_assert_null(another);
    host_session_destroy(NULL);
}

Test(far_session, survives_a_lack_of_memory)
{
    struct host_session *another = NULL;

    SCRATCH_SWEEP(far_session_create(&options, &another));
    host_session_destroy(another);
}
