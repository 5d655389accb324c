// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/paired.h"
#include "remote/greeting.h"

#include <tapml/wire/wire.h>

static struct paired paired;
static struct tls *ends[2];

static void setup(void)
{
    paired_open(&paired);
    paired_connect(&paired, ends);
}

static void teardown(void)
{
    tls_close(ends[0]);
    tls_close(ends[1]);
    paired_close(&paired);
}

TestSuite(greeting, .init = setup, .fini = teardown);

static void send_bytes(const void *bytes, size_t size)
{
    size_t written = 0;

    PAIRED_MUST(tls_write(ends[0], bytes, size, &written));
    cr_assert_eq(written, size);
}

Test(greeting, arrives_as_it_was_sent)
{
    struct greeting sent = {.version_least = 2, .version_most = 500, .received = UINT64_MAX - 5};
    struct greeting found;

    PAIRED_MUST(greeting_session_make(&sent.session));
    memset(sent.features, 'f', GREETING_TEXT_BYTES - 1);
    PAIRED_MUST(greeting_send(ends[0], &sent));
    PAIRED_MUST(greeting_receive(ends[1], &found));
    cr_assert_eq(found.version_least, 2);
    cr_assert_eq(found.version_most, 500);
    cr_assert_eq(found.received, sent.received);
    cr_assert(greeting_session_equal(&sent.session, &found.session));
    cr_assert_str_eq(found.features, sent.features);
}

Test(greeting, is_answered)
{
    static const enum greeting_state states[] = {GREETING_NEW, GREETING_RESUMED, GREETING_REFUSED};
    struct greeting_answer sent = {.version = 7, .received = 1, .text = "some words"};
    struct greeting_answer found;

    PAIRED_MUST(greeting_session_make(&sent.session));
    for (int i = 0; i < 3; i++) {
        sent.state = states[i];
        PAIRED_MUST(greeting_send_answer(ends[1], &sent));
        PAIRED_MUST(greeting_receive_answer(ends[0], &found));
        cr_assert_eq(found.version, 7);
        cr_assert_eq(found.state, states[i]);
        cr_assert_eq(found.received, 1);
        cr_assert(greeting_session_equal(&sent.session, &found.session));
        cr_assert_str_eq(found.text, "some words");
    }
}

// The bytes are those that docs/wire.md has; other versions send the same ones.
Test(greeting, has_one_form)
{
    unsigned char bytes[GREETING_BYTES + 1], expected[GREETING_BYTES] = "TAPSTRM1";
    struct greeting sent = {
        .version_least = 0x0102, .version_most = 0x0304, .received = 0x1122, .features = "ab"};
    size_t size = 0;

    memset(sent.session.bytes, 9, GREETING_SESSION_BYTES);
    memcpy(expected + 8, "\x02\x01\x04\x03\0\0\0\0", 8);
    memset(expected + 16, 9, GREETING_SESSION_BYTES);
    memcpy(expected + 32,
           "\x22\x11\0\0\0\0\0\0"
           "ab",
           10);
    PAIRED_MUST(greeting_send(ends[0], &sent));
    PAIRED_MUST(tls_read(ends[1], bytes, sizeof(bytes), &size));
    cr_assert_eq(size, GREETING_BYTES);
    cr_assert_eq(memcmp(bytes, expected, GREETING_BYTES), 0);
}

Test(greeting, may_come_in_parts)
{
    unsigned char bytes[GREETING_BYTES] = "TAPSTRM1";
    struct greeting found;

    for (size_t i = 0; i < sizeof(bytes); i += 8) {
        send_bytes(bytes + i, 8);
    }
    send_bytes("x", 1); // Of what follows it.
    PAIRED_MUST(greeting_receive(ends[1], &found));
    cr_assert(greeting_session_is_none(&found.session));
    size_t size = 0;

    PAIRED_MUST(tls_read(ends[1], bytes, sizeof(bytes), &size));
    cr_assert_eq(size, 1, "what follows is left");
}

Test(greeting, is_refused_if_it_is_none)
{
    unsigned char bytes[GREETING_BYTES] = "GET / HTTP/1.1";
    struct greeting found;

    send_bytes(bytes, sizeof(bytes));
    cr_assert_eq(greeting_receive(ends[1], &found), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "the other side does not greet as a host or a worker");
    memcpy(bytes, "TAPSTRM2", 8);
    send_bytes(bytes, sizeof(bytes));
    cr_assert_eq(greeting_receive(ends[1], &found), TAPML_INVALID);
}

Test(greeting, is_refused_with_a_state_that_there_is_not)
{
    unsigned char bytes[GREETING_BYTES] = "TAPSTRM1";
    struct greeting_answer found;

    bytes[10] = GREETING_REFUSED + 1;
    send_bytes(bytes, sizeof(bytes));
    cr_assert_eq(greeting_receive_answer(ends[1], &found), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "the other side answers a greeting with 3");
}

Test(greeting, that_ends_early_is_a_lost_connection)
{
    struct greeting found;

    send_bytes("TAPSTRM1", 8);
    tls_close(ends[0]);
    ends[0] = NULL;
    cr_assert_eq(greeting_receive(ends[1], &found), TAPML_UNAVAILABLE);
}

// Texts are printed: nothing in them steers a terminal, and they end.
Test(greeting, has_texts_that_can_be_printed)
{
    unsigned char bytes[GREETING_BYTES] = "TAPSTRM1";
    struct greeting_answer found;

    memset(bytes + 40, 'y', GREETING_TEXT_BYTES);
    bytes[43] = 27;
    send_bytes(bytes, sizeof(bytes));
    PAIRED_MUST(greeting_receive_answer(ends[1], &found));
    cr_assert_str_eq(found.text, "yyy");
    cr_assert_eq(found.text[GREETING_TEXT_BYTES - 1], '\0');
    memset(bytes + 40, 0xff, GREETING_TEXT_BYTES);
    send_bytes(bytes, sizeof(bytes));
    PAIRED_MUST(greeting_receive_answer(ends[1], &found));
    cr_assert_str_eq(found.text, "");
}

Test(greeting, finds_the_version_that_both_speak)
{
    struct greeting greeting = greeting_of_build();

    cr_assert_eq(greeting_choose_version(&greeting), WIRE_VERSION);
    greeting.version_least = 0;
    greeting.version_most = UINT16_MAX;
    cr_assert_eq(greeting_choose_version(&greeting), WIRE_VERSION);
    greeting.version_least = WIRE_VERSION + 1;
    cr_assert_eq(greeting_choose_version(&greeting), 0);
    greeting.version_least = 0;
    greeting.version_most = WIRE_VERSION - 1;
    cr_assert_eq(greeting_choose_version(&greeting), 0);
    cr_assert_not_null(strstr(greeting_of_build().features, "resume"));
}

Test(greeting, has_sessions_that_nobody_guesses)
{
    struct greeting_session a = {{0}}, b = {{0}};

    cr_assert(greeting_session_is_none(&a));
    cr_assert(greeting_session_equal(&a, &b));
    PAIRED_MUST(greeting_session_make(&a));
    PAIRED_MUST(greeting_session_make(&b));
    cr_assert_not(greeting_session_equal(&a, &b));
    cr_assert_not(greeting_session_is_none(&a));
}
