// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/channel.h"

#include <criterion/criterion.h>

// Writes down what it is asked for.
struct notebook {
    struct channel channel; // First.
    char calls[8];
    size_t count;
};

static void note(struct channel *channel, char letter)
{
    struct notebook *notebook = (struct notebook *)channel;
    notebook->calls[notebook->count++] = letter;
}

static void note_release(struct channel *channel)
{
    note(channel, 'e');
}

static tapml_status note_start(struct channel *channel)
{
    note(channel, 's');
    return TAPML_UNAVAILABLE;
}

static tapml_status
note_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    note(channel, size == 3 && descriptor == -1 ? 'w' : '?');
    return TAPML_OK;
}

static tapml_status
note_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    note(channel, timeout_ns == 5 ? 'r' : '?');
    return TAPML_DEADLINE;
}

static void note_stop(struct channel *channel)
{
    note(channel, 'k');
}

static const char *note_words(struct channel *channel)
{
    note(channel, 'l');
    return "words";
}

Test(channel, calls_through_its_table)
{
    static const struct channel_vt vt = {.release = note_release,
                                         .start = note_start,
                                         .send = note_send,
                                         .receive = note_receive,
                                         .stop = note_stop,
                                         .last_words = note_words};
    struct notebook notebook = {.channel = {.vt = &vt}};
    struct channel *channel = &notebook.channel;
    struct wire_frame frame;
    cr_assert_eq(channel_start(channel), TAPML_UNAVAILABLE);
    cr_assert_eq(channel_send(channel, "abc", 3, -1), TAPML_OK);
    cr_assert_eq(channel_receive(channel, 5, &frame), TAPML_DEADLINE);
    channel_stop(channel);
    cr_assert_str_eq(channel_last_words(channel), "words");
    channel_release(channel);
    cr_assert_str_eq(notebook.calls, "swrkle");
}
