// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_reach.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "link/message.h"
#include "remote/case_message.h"
#include "remote/reach.h"
#include "remote/remote.h"
#include "run/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SLICE_MS = 50, CLOSING_MS = 1000, SENTENCE_TEXT = 512, MESSAGE_TEXT = 2048 };

static const uint64_t MILLISECOND_NS = 1000000;

struct case_reach {
    struct reach *reach;
    struct stream *stream;
    struct wire_writer question;

    // Of the answer at hand.
    const char *path;
    int file;      // -1: there is none yet.
    uint64_t left; // Bytes that are to come.
    int is_answered;
    struct case_reach_answer answer;
};

static const char *where(const struct case_reach *reach)
{
    return reach_where(reach->reach);
}

// -- Opening -------------------------------------------------------------------------------------

tapml_status case_reach_open(const char *url, struct case_reach **out_reach)
{
    struct case_reach *reach = alloc_new(sizeof(*reach));

    if (reach == NULL) {
        return status_no_memory();
    }
    *reach = (struct case_reach){.file = -1, .question = MESSAGE_WRITER};
    tapml_status status = reach_create(
        &(struct reach_options){.url = url,
                                .patience_ns = REMOTE_PATIENCE_S * 1000 * MILLISECOND_NS,
                                .feature = CASE_FEATURE,
                                .lack = "a worker, which has no cases: 'tapml-host serve' has"},
        &reach->reach);

    status = status == TAPML_OK ? stream_create(&reach->stream) : status;
    if (status != TAPML_OK) {
        case_reach_close(reach);
        return status;
    }
    *out_reach = reach;
    return TAPML_OK;
}

static tapml_status put_question(struct case_reach *reach)
{
    return reach->question.is_failed
               ? status_no_memory()
               : stream_put(reach->stream, reach->question.data, reach->question.size);
}

// The session ends there, too, if the other side hears of it.
static void say_goodbye(struct case_reach *reach)
{
    const uint64_t end_ns = clock_now_ns() + CLOSING_MS * MILLISECOND_NS;

    reach->question.size = 0;
    wire_begin(&reach->question, CASE_END, 0);
    wire_end(&reach->question);
    if (!stream_is_attached(reach->stream) || put_question(reach) != TAPML_OK) {
        return;
    }
    while (stream_is_attached(reach->stream) && stream_backlog(reach->stream) > 0 &&
           clock_now_ns() < end_ns && stream_work(reach->stream, NULL, 0, SLICE_MS) == TAPML_OK) {
    }
}

static void close_file(struct case_reach *reach)
{
    if (reach->file >= 0) {
        (void)close(reach->file);
        reach->file = -1;
    }
}

void case_reach_close(struct case_reach *reach)
{
    char message[MESSAGE_TEXT]; // Of a failure that the caller has yet to tell.

    if (reach == NULL) {
        return;
    }
    (void)snprintf(message, sizeof(message), "%s", status_message());
    if (reach->stream != NULL) {
        say_goodbye(reach);
    }
    close_file(reach);
    wire_writer_release(&reach->question);
    stream_destroy(reach->stream);
    reach_destroy(reach->reach);
    alloc_free(reach);
    (void)status_fail(TAPML_UNAVAILABLE, "%s", message);
}

// -- The answer ----------------------------------------------------------------------------------

static tapml_status malformed(const struct case_reach *reach)
{
    return status_fail(TAPML_UNAVAILABLE, "what %s sends is no answer", where(reach));
}

static tapml_status take_refusal(const struct case_reach *reach, struct wire_reader *reader)
{
    const char *words = wire_take_text(reader);
    char why[SENTENCE_TEXT];

    if (words == NULL || !wire_is_done(reader)) {
        return malformed(reach);
    }
    (void)snprintf(why, sizeof(why), "%s", words);
    utf8_make_plain(why);
    return status_fail(TAPML_PRECONDITION, "%s refuses: %s", where(reach), why);
}

static tapml_status take_none(struct case_reach *reach, struct wire_reader *reader)
{
    struct case_reach_answer *answer = &reach->answer;

    answer->is_carving = wire_take_u32(reader) != 0;
    const char *who = wire_take_text(reader);

    if (who == NULL || !wire_is_done(reader)) {
        return malformed(reach);
    }
    (void)snprintf(answer->who, sizeof(answer->who), "%s", who);
    utf8_make_plain(answer->who);
    reach->is_answered = 1;
    return TAPML_OK;
}

static tapml_status cannot_write(const struct case_reach *reach)
{
    return status_fail(TAPML_UNAVAILABLE, "cannot write '%s': %s", reach->path, strerror(errno));
}

static tapml_status take_store(struct case_reach *reach, struct wire_reader *reader)
{
    reach->left = wire_take_u64(reader);
    if (!wire_is_done(reader) || reach->left == 0 || reach->left > CASE_STORE_MAX) {
        return malformed(reach);
    }
    close_file(reach);
    reach->file = open(reach->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    return reach->file >= 0 ? TAPML_OK : cannot_write(reach);
}

static tapml_status take_bytes(struct case_reach *reach, const struct wire_frame *frame)
{
    const char *bytes = frame->data;

    if (reach->file < 0 || frame->size > reach->left) {
        return malformed(reach);
    }
    for (size_t at = 0; at < frame->size;) {
        const ssize_t size = write(reach->file, bytes + at, frame->size - at);

        if (size < 0 && errno != EINTR) {
            return cannot_write(reach);
        }
        at += size > 0 ? (size_t)size : 0;
    }
    reach->left -= frame->size;
    if (reach->left == 0) {
        close_file(reach);
        reach->answer.has_store = reach->is_answered = 1;
    }
    return TAPML_OK;
}

static tapml_status take_frame(struct case_reach *reach, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    switch (frame->verb) {
    case CASE_REFUSE:
        return take_refusal(reach, &reader);
    case CASE_NONE:
        return take_none(reach, &reader);
    case CASE_STORE:
        return take_store(reach, &reader);
    case CASE_BYTES:
        return take_bytes(reach, frame);
    default:
        return malformed(reach);
    }
}

static tapml_status take_frames(struct case_reach *reach)
{
    struct wire_frame frame;
    enum wire_result result = WIRE_MORE;

    while (!reach->is_answered && (result = stream_next(reach->stream, &frame)) == WIRE_FRAME) {
        TAPML_TRY(take_frame(reach, &frame));
    }
    return result == WIRE_FRAME || result == WIRE_MORE ? TAPML_OK : malformed(reach);
}

// -- Asking --------------------------------------------------------------------------------------

// The other side knows nothing of the session any more: it is asked again.
static tapml_status begin_anew(struct case_reach *reach)
{
    close_file(reach);
    stream_destroy(reach->stream);
    reach->stream = NULL;
    reach->left = 0;
    reach_forget_session(reach->reach);
    TAPML_TRY(stream_create(&reach->stream));
    return put_question(reach);
}

static tapml_status connect(struct case_reach *reach)
{
    char how[SENTENCE_TEXT];

    switch (reach_try(reach->reach, reach->stream)) {
    case REACH_BEGAN_ANEW:
        return begin_anew(reach);
    case REACH_LOST:
        (void)snprintf(how, sizeof(how), "%s", status_message());
        return status_fail(TAPML_UNAVAILABLE, "%s %s", where(reach), how);
    case REACH_REFUSED:
        (void)snprintf(how, sizeof(how), "%s", status_message());
        return status_fail(TAPML_PRECONDITION, "%s", how);
    case REACH_THERE:
    case REACH_NOT_YET:
        break;
    }
    return TAPML_OK;
}

// Sends and receives for at most a slice. A cut is mended by the next one.
static tapml_status work(struct case_reach *reach)
{
    TAPML_TRY(interrupt_check());
    if (!stream_is_attached(reach->stream)) {
        TAPML_TRY(connect(reach));
    }
    if (!stream_is_attached(reach->stream)) {
        (void)poll(NULL, 0, SLICE_MS);
        return TAPML_OK;
    }
    const tapml_status status = stream_work(reach->stream, NULL, 0, SLICE_MS);

    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

tapml_status case_reach_ask(struct case_reach *reach,
                            const char *key,
                            const struct hash *prompts,
                            size_t count,
                            const char *path,
                            struct case_reach_answer *out_answer)
{
    tapml_status status = TAPML_OK;

    if (count > CASE_PROMPTS_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d prompts, found %zu",
                           where(reach), (int)CASE_PROMPTS_MAX, count);
    }
    reach->question.size = 0;
    reach->path = path;
    reach->is_answered = 0;
    reach->answer = (struct case_reach_answer){.has_store = 0};
    case_message_put_ask(&reach->question, key, prompts, count);
    TAPML_TRY(put_question(reach));
    while (status == TAPML_OK && !reach->is_answered) {
        status = work(reach);
        status = status == TAPML_OK ? take_frames(reach) : status;
    }
    close_file(reach);
    *out_answer = reach->answer;
    return status;
}
