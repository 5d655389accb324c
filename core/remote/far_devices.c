// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/far_devices.h"

#include "base/clock.h"
#include "base/text.h"
#include "base/utf8.h"
#include "link/message.h"
#include "remote/bulk.h"

#include <poll.h>
#include <stdio.h>

enum {
    PATIENCE_S = 300, // For the answer: a plugin that hangs takes 20 s of it.
    CLOSING_MS = 1000,
    SLICE_MS = 50,
    SENTENCE_BYTES = 512
};

static const uint64_t MILLISECOND_NS = 1000000;

struct far_devices {
    struct reach *reach;
    struct stream *stream;
    struct text *lines; // NULL: they are there.
};

static tapml_status connect(struct far_devices *asked)
{
    const char *where = reach_where(asked->reach);
    char how[SENTENCE_BYTES];

    switch (reach_try(asked->reach, asked->stream)) {
    case REACH_BEGAN_ANEW:
        return status_fail(TAPML_UNAVAILABLE, "%s was started anew meanwhile", where);
    case REACH_LOST:
        (void)snprintf(how, sizeof(how), "%s", status_message());
        return status_fail(TAPML_UNAVAILABLE, "%s %s", where, how);
    case REACH_REFUSED:
        return status_fail(TAPML_UNAVAILABLE, "%s", status_message());
    case REACH_THERE:
    case REACH_NOT_YET:
        break;
    }
    return TAPML_OK;
}

// Sends and receives for at most a slice. A cut is mended by the next one.
static tapml_status work(struct far_devices *asked)
{
    if (!stream_is_attached(asked->stream)) {
        TAPML_TRY(connect(asked));
    }
    if (!stream_is_attached(asked->stream)) {
        (void)poll(NULL, 0, SLICE_MS);
        return TAPML_OK;
    }
    const tapml_status status = stream_work(asked->stream, NULL, 0, SLICE_MS);

    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

static tapml_status put(struct far_devices *asked, uint16_t verb)
{
    struct wire_writer writer = MESSAGE_WRITER;

    wire_begin(&writer, verb, 0);
    wire_end(&writer);
    const tapml_status status =
        writer.is_failed ? status_no_memory() : stream_put(asked->stream, writer.data, writer.size);

    wire_writer_release(&writer);
    return status;
}

static tapml_status take_devices(struct far_devices *asked, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    const int64_t status = wire_take_i64(&reader);
    const char *words = wire_take_text(&reader);

    if (words == NULL || !wire_is_done(&reader)) {
        return status_fail(TAPML_UNAVAILABLE, "%s lists devices in a message that is malformed",
                           reach_where(asked->reach));
    }
    if (status != TAPML_OK) {
        return status_fail(TAPML_UNAVAILABLE, "%s lists no devices: %s", reach_where(asked->reach),
                           words);
    }
    text_append(asked->lines, words);
    TAPML_TRY(text_status(asked->lines));
    utf8_make_plain(asked->lines->data);
    asked->lines = NULL;
    return TAPML_OK;
}

// What is said of pieces in a cache is passed over: none is sent.
static tapml_status take_frames(struct far_devices *asked)
{
    struct wire_frame frame;
    enum wire_result result = WIRE_FRAME;

    while (asked->lines != NULL && (result = stream_next(asked->stream, &frame)) == WIRE_FRAME) {
        TAPML_TRY(frame.verb == BULK_DEVICES ? take_devices(asked, &frame) : TAPML_OK);
    }
    return result == WIRE_FRAME || result == WIRE_MORE
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "what %s sends is no message",
                             reach_where(asked->reach));
}

// The time of the answer counts from when the other side has the question.
static tapml_status await_devices(struct far_devices *asked)
{
    uint64_t waited_ns = 0;

    while (asked->lines != NULL) {
        const uint64_t begin_ns = clock_now_ns();
        const int is_asked =
            stream_is_attached(asked->stream) && stream_backlog(asked->stream) == 0;

        TAPML_TRY(work(asked));
        TAPML_TRY(take_frames(asked));
        waited_ns += is_asked ? clock_now_ns() - begin_ns : 0;
        if (asked->lines != NULL && waited_ns > PATIENCE_S * 1000 * MILLISECOND_NS) {
            return status_fail(TAPML_UNAVAILABLE, "%s has not listed its devices within %d s",
                               reach_where(asked->reach), PATIENCE_S);
        }
    }
    return TAPML_OK;
}

// The session ends there, too, if the other side hears of it.
static tapml_status close_session(struct far_devices *asked)
{
    const uint64_t end_ns = clock_now_ns() + CLOSING_MS * MILLISECOND_NS;

    TAPML_TRY(put(asked, MESSAGE_CLOSE));
    while (stream_is_attached(asked->stream) && stream_backlog(asked->stream) > 0 &&
           clock_now_ns() < end_ns) {
        (void)stream_work(asked->stream, NULL, 0, SLICE_MS);
    }
    return TAPML_OK;
}

static tapml_status ask(struct far_devices *asked)
{
    TAPML_TRY(put(asked, BULK_LIST));
    TAPML_TRY(await_devices(asked));
    return close_session(asked);
}

tapml_status far_devices_ask(const struct reach_options *options, struct text *out_lines)
{
    struct far_devices asked = {.lines = out_lines};

    TAPML_TRY(reach_create(options, &asked.reach));
    tapml_status status = stream_create(&asked.stream);

    status = status == TAPML_OK ? ask(&asked) : status;
    stream_destroy(asked.stream);
    reach_destroy(asked.reach);
    return status;
}
