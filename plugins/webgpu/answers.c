// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include <tapml/wire/wire.h>

#include <stdio.h>
#include <string.h>

// A text of the page, as one plain line.
static void take_text(struct wire_reader *reader, char *out_text, size_t text_size)
{
    const char *text = wire_take_text(reader);

    (void)snprintf(out_text, text_size, "%s", text != NULL ? text : ""); // Cut where it is long.
    for (char *at = out_text; *at != '\0'; at++) {
        *at = (char)(*at >= ' ' && *at <= '~' ? *at : '?');
    }
}

static void fail(struct answers *answers, const char *message)
{
    answers->failure = ANSWERS_WRONG;
    (void)snprintf(answers->message, sizeof(answers->message), "%s", message);
}

static void take_hello(struct answers *answers, struct wire_reader *reader)
{
    struct answers_limits limits = {.buffer_bytes = wire_take_u64(reader)};
    uint32_t *const words[] = {&limits.group_items,  &limits.shared_bytes, &limits.grid,
                               &limits.subgroup_min, &limits.subgroup_max, &limits.is_cpu,
                               &limits.has_f16};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        *words[i] = wire_take_u32(reader);
    }
    take_text(reader, answers->name, sizeof(answers->name));
    take_text(reader, answers->driver, sizeof(answers->driver));
    if (answers->has_hello) {
        fail(answers, "the page introduces itself twice");
    }
    answers->limits = limits;
    answers->has_hello = 1;
}

static void take_made(struct answers *answers, uint64_t number, struct wire_reader *reader)
{
    if (number != answers->asked || answers->made == answers->asked) {
        fail(answers, "the page answers what was not asked");
        return;
    }
    take_text(reader, answers->refusal, sizeof(answers->refusal));
    answers->made = number;
}

static void take_data(struct answers *answers, uint64_t number, struct wire_reader *reader)
{
    const struct answers_read *read = &answers->reads[answers->first];
    const size_t size = wire_left(reader);

    if (answers->count == 0 || number != read->number || size != read->size) {
        fail(answers, "the page sends data that was not asked for");
        return;
    }
    memcpy(read->target, wire_take_bytes(reader, size), size);
    answers->first = (answers->first + 1) % ANSWERS_READ_MAX;
    answers->count--;
}

static void take_reached(struct answers *answers, struct wire_reader *reader)
{
    const uint32_t stream = wire_take_u32(reader);
    const uint64_t ticket = wire_take_u64(reader);

    if (stream >= ANSWERS_STREAM_MAX || ticket <= answers->reached[stream] ||
        ticket > answers->signalled[stream]) {
        fail(answers, "the page reaches a ticket that was not given");
        return;
    }
    answers->reached[stream] = ticket;
}

static void take_taken(struct answers *answers, struct wire_reader *reader)
{
    const uint64_t taken = wire_take_u64(reader);

    if (taken <= answers->taken || taken > answers->sent) {
        fail(answers, "the page takes messages that were not sent");
        return;
    }
    answers->taken = taken;
}

static void take_failed(struct answers *answers, struct wire_reader *reader)
{
    const uint32_t failure = wire_take_u32(reader);

    answers->culprit = wire_take_u64(reader);
    take_text(reader, answers->message, sizeof(answers->message));
    if (answers->message[0] == '\0') {
        (void)snprintf(answers->message, sizeof(answers->message), "the page does not say why");
    }
    answers->failure = failure == ANSWERS_NO_DEVICE ? ANSWERS_NO_DEVICE
                       : failure == ANSWERS_LOST    ? ANSWERS_LOST
                                                    : ANSWERS_WRONG;
}

static void take_frame(struct answers *answers, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    switch (frame->verb) {
    case ANSWERS_HELLO:
        take_hello(answers, &reader);
        break;
    case ANSWERS_MADE:
        take_made(answers, frame->number, &reader);
        break;
    case ANSWERS_DATA:
        take_data(answers, frame->number, &reader);
        break;
    case ANSWERS_REACHED:
        take_reached(answers, &reader);
        break;
    case ANSWERS_TAKEN:
        take_taken(answers, &reader);
        break;
    case ANSWERS_FAILED:
        take_failed(answers, &reader);
        break;
    default:
        fail(answers, "the page answers with an unknown verb");
    }
    if (answers->failure == ANSWERS_FINE && !wire_is_done(&reader)) {
        fail(answers, "the page sends an answer of a wrong length");
    }
}

// The first failure stays: what comes behind it may be for memory that the host has taken back.
void answers_take(struct answers *answers, const void *message, size_t size)
{
    const unsigned char *at = message;
    struct wire_frame frame;
    enum wire_result result = WIRE_FRAME;

    while (size > 0 && result == WIRE_FRAME && answers->failure == ANSWERS_FINE) {
        result = wire_read(at, size, &frame);
        if (result == WIRE_FRAME) {
            take_frame(answers, &frame);
            at += wire_frame_bytes(&frame);
            size -= wire_frame_bytes(&frame);
        }
    }
    if (result == WIRE_MORE) {
        fail(answers, "the page sends half a frame");
    } else if (result != WIRE_FRAME) {
        char sentence[128];

        wire_explain(result, &frame, sentence, sizeof(sentence));
        fail(answers, sentence);
    }
}

void answers_expect(struct answers *answers, const struct answers_read *read)
{
    answers->reads[(answers->first + answers->count++) % ANSWERS_READ_MAX] = *read;
}
