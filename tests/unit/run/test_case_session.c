// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "link/message.h"
#include "remote/case_message.h"
#include "run/case_session.h"
#include "run/run_lock.h"

#include <sys/eventfd.h>

// A folder in which nothing was carved: what is served of one that was, test_case_reach sees.
static struct paired paired;
static struct host_session *session;
static struct stream *host;
static struct wire_writer writer;
static int wake;

static void setup(void)
{
    const char *folder = NULL;

    paired_open(&paired);
    folder = paired.sides[PAIRED_WORKER].scratch.folder;
    PAIRED_MUST(case_session_create(
        &(struct case_session_options){.folder = folder, .name = "small", .scratch = folder},
        &session));
    PAIRED_MUST(stream_create(&host));
    writer = MESSAGE_WRITER;
    wake = eventfd(1, EFD_CLOEXEC);
}

static void teardown(void)
{
    host_session_destroy(session);
    stream_destroy(host);
    wire_writer_release(&writer);
    close(wake);
    paired_close(&paired);
}

TestSuite(case_session, .init = setup, .fini = teardown, .timeout = 60);

static void connect_host(void)
{
    struct greeting greeting = greeting_of_build();
    struct greeting_answer answer;
    struct tls *ends[2];

    greeting_add(&greeting, CASE_FEATURE);
    paired_connect(&paired, ends);
    PAIRED_MUST(host_session_attach(session, ends[1], &greeting));
    PAIRED_MUST(greeting_receive_answer(ends[0], &answer));
    PAIRED_MUST(stream_attach(host, ends[0], answer.received));
}

static void put(uint16_t verb)
{
    wire_begin(&writer, verb, 0);
    wire_end(&writer);
    PAIRED_MUST(stream_put(host, writer.data, writer.size));
    writer.size = 0;
}

// Both ends work until the session ends, or a frame has come.
static tapml_status work(struct wire_frame *out_frame)
{
    tapml_status status = TAPML_OK;

    for (int i = 0; i < 200 && status == TAPML_OK; i++) {
        (void)stream_work(host, NULL, 0, 5);
        status = host_session_work(session, wake);
        if (stream_next(host, out_frame) == WIRE_FRAME) {
            return TAPML_OK;
        }
    }
    return status;
}

static void ask(void)
{
    case_message_put_ask(&writer, "key", NULL, 0);
    PAIRED_MUST(stream_put(host, writer.data, writer.size));
    writer.size = 0;
}

static void expect_none(int is_carving)
{
    struct wire_frame frame;
    struct wire_reader reader;

    PAIRED_MUST(work(&frame));
    cr_assert_eq(frame.verb, CASE_NONE);
    wire_reader_init(&reader, &frame);
    cr_expect_eq(wire_take_u32(&reader), (uint32_t)is_carving);
    cr_expect_not_null(wire_take_text(&reader));
    cr_expect(wire_is_done(&reader));
}

Test(case_session, nothing_is_there_and_nobody_carves)
{
    connect_host();
    ask();
    expect_none(0);
}

Test(case_session, what_is_no_store_is_nothing)
{
    FILE *file = fopen(scratch_path(&paired.sides[PAIRED_WORKER].scratch, "run.tapmlrun"), "wb");

    cr_assert_not_null(file);
    cr_assert_gt(fputs("no store", file), 0);
    cr_assert_eq(fclose(file), 0);
    connect_host();
    ask();
    expect_none(0);
}

Test(case_session, ends_when_the_host_has_all)
{
    struct wire_frame frame;

    connect_host();
    put(CASE_END);
    cr_expect_eq(work(&frame), TAPML_CANCELLED);
}

Test(case_session, ends_with_a_host_that_asks_for_something_else)
{
    struct wire_frame frame;

    connect_host();
    put(MESSAGE_OPEN);
    cr_expect_eq(work(&frame), TAPML_INVALID);
}

Test(case_session, ends_with_a_question_that_is_malformed)
{
    struct wire_frame frame;

    connect_host();
    put(CASE_ASK);
    cr_expect_eq(work(&frame), TAPML_INVALID);
}
