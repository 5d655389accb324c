// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include <tapml/wire/wire.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 8, NUMBER = 7, TICKET = 5 };

static struct answers answers;
static struct wire_writer frames;
static unsigned char target[2][SIZE];

static void *grow(void *data, size_t used, size_t size)
{
    void *grown = size > 0 ? realloc(data, size) : NULL;

    if (size == 0) {
        free(data);
    }
    return grown;
}

static void end(void)
{
    wire_writer_release(&frames);
}

// A page of which something was asked: to make number 6, and two reads.
static void begin(void)
{
    if (frames.grow != NULL) { // A test may begin again.
        end();
    }
    answers = (struct answers){.asked = 6, .sent = 2, .signalled = {[1] = TICKET}};
    frames = (struct wire_writer){.grow = grow};
    for (uint32_t i = 0; i < 2; i++) {
        answers_expect(&answers, &(struct answers_read){NUMBER + i, SIZE, target[i]});
    }
}

TestSuite(webgpu_answers, .init = begin, .fini = end);

// Takes what was written, in one message.
static void take(void)
{
    cr_assert_not(frames.is_failed);
    answers_take(&answers, frames.data, frames.size);
    frames.size = 0;
}

static void put_data(uint32_t number, const char *bytes)
{
    wire_begin(&frames, ANSWERS_DATA, number);
    wire_put_bytes(&frames, bytes, strlen(bytes));
    wire_end(&frames);
}

static void put_made(uint32_t number, const char *refusal)
{
    wire_begin(&frames, ANSWERS_MADE, number);
    wire_put_text(&frames, refusal);
    wire_end(&frames);
}

static void put_reached(uint32_t stream, uint64_t ticket)
{
    wire_begin(&frames, ANSWERS_REACHED, 0);
    wire_put_u32(&frames, stream);
    wire_put_u64(&frames, ticket);
    wire_end(&frames);
}

static void put_taken(uint64_t count)
{
    wire_begin(&frames, ANSWERS_TAKEN, 0);
    wire_put_u64(&frames, count);
    wire_end(&frames);
}

static void put_failed(uint32_t failure, const char *message)
{
    wire_begin(&frames, ANSWERS_FAILED, 0);
    wire_put_u32(&frames, failure);
    wire_put_u64(&frames, 12);
    wire_put_text(&frames, message);
    wire_end(&frames);
}

static void put_hello(void)
{
    wire_begin(&frames, ANSWERS_HELLO, 0);
    wire_put_u64(&frames, UINT64_C(5) << 30);
    for (uint32_t i = 1; i <= 7; i++) {
        wire_put_u32(&frames, i);
    }
    wire_put_text(&frames, "a \x1b[31mdevice\n");
    wire_put_text(&frames, "a browser");
    wire_end(&frames);
}

static void expect_wrong(const char *message)
{
    take();
    cr_expect_eq(answers.failure, ANSWERS_WRONG);
    cr_expect_str_eq(answers.message, message);
}

Test(webgpu_answers, a_hello_is_taken_in)
{
    put_hello();
    take();
    cr_expect_eq(answers.failure, ANSWERS_FINE);
    cr_expect(answers.has_hello);
    cr_expect_eq(answers.limits.buffer_bytes, UINT64_C(5) << 30);
    cr_expect_eq(answers.limits.group_items, 1);
    cr_expect_eq(answers.limits.is_cpu, 6);
    cr_expect_eq(answers.limits.has_f16, 7);
    cr_expect_str_eq(answers.name, "a ?[31mdevice?");
    cr_expect_str_eq(answers.driver, "a browser");
    put_hello();
    expect_wrong("the page introduces itself twice");
}

Test(webgpu_answers, what_was_asked_is_answered_in_one_message)
{
    put_made(6, "");
    put_data(NUMBER, "12345678");
    put_data(NUMBER + 1, "abcdefgh");
    put_reached(1, TICKET);
    put_taken(2);
    take();
    cr_expect_eq(answers.failure, ANSWERS_FINE, "%s", answers.message);
    cr_expect_eq(answers.made, 6);
    cr_expect_str_eq(answers.refusal, "");
    cr_expect_arr_eq(target[0], "12345678", SIZE);
    cr_expect_arr_eq(target[1], "abcdefgh", SIZE);
    cr_expect_eq(answers.count, 0);
    cr_expect_eq(answers.reached[1], TICKET);
    cr_expect_eq(answers.taken, 2);
}

Test(webgpu_answers, the_ring_of_reads_goes_round)
{
    answers.count = 0;
    for (uint32_t i = 0; i < 3 * ANSWERS_READ_MAX; i++) {
        answers_expect(&answers, &(struct answers_read){i, SIZE, target[i % 2]});
        put_data(i, "12345678");
        take();
        cr_assert_eq(answers.failure, ANSWERS_FINE);
        cr_assert_eq(answers.count, 0);
    }
}

Test(webgpu_answers, a_refusal_has_its_reason)
{
    put_made(6, "line 3: no such type");
    take();
    cr_expect_eq(answers.failure, ANSWERS_FINE);
    cr_expect_str_eq(answers.refusal, "line 3: no such type");
}

Test(webgpu_answers, failures_are_distinguished_and_the_first_stays)
{
    put_failed(ANSWERS_LOST, "gone");
    put_failed(ANSWERS_WRONG, "later");
    put_data(NUMBER, "12345678");
    take();
    cr_expect_eq(answers.failure, ANSWERS_LOST);
    cr_expect_eq(answers.culprit, 12);
    cr_expect_str_eq(answers.message, "gone");
    cr_expect_eq(answers.count, 2); // Nothing is written any more: the memory may be gone.
    begin();
    put_failed(77, "");
    expect_wrong("the page does not say why");
}

Test(webgpu_answers, what_was_not_asked_is_a_failure)
{
    put_made(5, "");
    expect_wrong("the page answers what was not asked");
    begin();
    put_made(6, "");
    put_made(6, "");
    expect_wrong("the page answers what was not asked");
    begin();
    put_data(NUMBER + 1, "12345678");
    expect_wrong("the page sends data that was not asked for");
    begin();
    put_data(NUMBER, "123456789");
    expect_wrong("the page sends data that was not asked for");
    begin();
    put_reached(1, TICKET + 1);
    expect_wrong("the page reaches a ticket that was not given");
    begin();
    put_reached(ANSWERS_STREAM_MAX, 1);
    expect_wrong("the page reaches a ticket that was not given");
    begin();
    put_taken(3);
    expect_wrong("the page takes messages that were not sent");
}

Test(webgpu_answers, what_is_no_answer_is_a_failure)
{
    wire_begin(&frames, 99, 0);
    wire_end(&frames);
    expect_wrong("the page answers with an unknown verb");
    begin();
    wire_begin(&frames, ANSWERS_TAKEN, 0);
    wire_put_u64(&frames, 1);
    wire_put_u32(&frames, 1);
    wire_end(&frames);
    expect_wrong("the page sends an answer of a wrong length");
    begin();
    put_hello();
    frames.size--;
    expect_wrong("the page sends half a frame");
    begin();
    wire_put_bytes(&frames, "GET / HTTP/1.1\r\n", 16);
    expect_wrong("what it sends are no frames of the wire");
}
