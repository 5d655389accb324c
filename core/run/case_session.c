// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_session.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/table.h"
#include "link/message.h"
#include "remote/case_message.h"
#include "run/carved_copy.h"
#include "run/run_lock.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROMPTS_AT_ONCE = 16, WHO_TEXT = RUN_LOCK_NAME_TEXT + 32 };

struct case_session {
    struct host_session base;
    struct case_session_options given;
    int file;      // What is sent; -1: nothing.
    uint64_t left; // Bytes of it.
    struct wire_writer writer;
    char digits[HASH_TEXT]; // Of its id, for a file of its own.
    int is_told;            // That nothing can be read.
};

// -- Messages ------------------------------------------------------------------------------------

static tapml_status push(struct case_session *session)
{
    struct wire_writer *writer = &session->writer;

    if (writer->is_failed) {
        return status_no_memory();
    }
    TAPML_TRY(stream_put(session->base.stream, writer->data, writer->size));
    writer->size = 0;
    return TAPML_OK;
}

static tapml_status put_refusal(struct case_session *session, const char *why)
{
    log_line(LOG_INFO, "%s: refused: %s", session->given.name, why);
    wire_begin(&session->writer, CASE_REFUSE, 0);
    wire_put_text(&session->writer, why);
    wire_end(&session->writer);
    return push(session);
}

// There is nothing new; somebody may be carving.
static tapml_status put_none(struct case_session *session)
{
    struct run_lock_state state;
    char who[WHO_TEXT];

    TAPML_TRY(run_lock_read(session->given.folder, &state));
    (void)snprintf(who, sizeof(who), "process %" PRId64 " on '%s'", state.process, state.machine);
    wire_begin(&session->writer, CASE_NONE, 0);
    wire_put_u32(&session->writer, state.is_held != 0);
    wire_put_text(&session->writer, who);
    wire_end(&session->writer);
    return push(session);
}

// -- Sending -------------------------------------------------------------------------------------

static void end_sending(struct case_session *session)
{
    if (session->file >= 0) {
        (void)close(session->file);
        session->file = -1;
    }
    session->left = 0;
}

// As much as the stream has room for.
static tapml_status send_some(struct case_session *session)
{
    char piece[CASE_PIECE_BYTES];

    while (session->left > 0 && !stream_is_full(session->base.stream)) {
        const size_t most = session->left < sizeof(piece) ? (size_t)session->left : sizeof(piece);
        const ssize_t size = read(session->file, piece, most);

        if (size <= 0) {
            return status_fail(TAPML_UNAVAILABLE, "what is to be sent cannot be read: %s",
                               size < 0 ? strerror(errno) : "it has become shorter");
        }
        session->left -= (uint64_t)size;
        wire_begin(&session->writer, CASE_BYTES, 0);
        wire_put_bytes(&session->writer, piece, (size_t)size);
        wire_end(&session->writer);
        TAPML_TRY(push(session));
    }
    if (session->left == 0) {
        end_sending(session);
    }
    return TAPML_OK;
}

// The file has no name any more when it is sent.
static tapml_status begin_sending(struct case_session *session, const char *path)
{
    struct stat about;

    session->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int is_there = session->file >= 0 && fstat(session->file, &about) == 0;
    const int error = errno;

    (void)unlink(path);
    if (!is_there) {
        return status_fail(TAPML_UNAVAILABLE, "'%s': %s", path, strerror(error));
    }
    session->left = (uint64_t)about.st_size;
    wire_begin(&session->writer, CASE_STORE, 0);
    wire_put_u64(&session->writer, session->left);
    wire_end(&session->writer);
    return push(session);
}

// -- Questions -----------------------------------------------------------------------------------

// Which of the prompts that the run has carved the host lacks, as many as go at once.
static tapml_status find_lacking(const struct case_question *question,
                                 const struct hash *carved,
                                 size_t count,
                                 struct hash *out_lacking,
                                 size_t *out_count)
{
    struct table known;
    tapml_status status = TAPML_OK;
    char key[HASH_TEXT];
    size_t at = 0;

    *out_count = 0;
    table_init(&known);
    for (size_t i = 0; status == TAPML_OK && i < question->count; i++) {
        hash_text(question->prompts[i], key);
        status = table_set(&known, key, i);
    }
    for (size_t i = 0; status == TAPML_OK && i < count && *out_count < PROMPTS_AT_ONCE; i++) {
        hash_text(carved[i], key);
        if (!table_find(&known, key, &at)) {
            out_lacking[(*out_count)++] = carved[i];
        }
    }
    table_release(&known);
    return status;
}

static tapml_status answer_from(struct case_session *session,
                                const struct case_question *question,
                                struct store *store,
                                struct arena *arena)
{
    const char *key = metadata_get(store, CARVED_COPY_KEY);
    struct hash lacking[PROMPTS_AT_ONCE], *carved = NULL;
    size_t count = 0, carved_count = 0;

    if (key != NULL && strcmp(key, question->key) != 0) {
        return put_refusal(session, "the run there is another one: model, weights, prompts, "
                                    "lengths, groups and [source] backend have to be the same");
    }
    TAPML_TRY(prompt_list_carved(store, arena, &carved, &carved_count));
    TAPML_TRY(find_lacking(question, carved, carved_count, lacking, &count));
    if (key == NULL || count == 0) {
        return put_none(session);
    }
    const char *path =
        arena_format(arena, "%s/%s.tapmlrun", session->given.scratch, session->digits);

    TAPML_TRY(path != NULL ? carved_copy_write(store, lacking, count, path) : status_no_memory());
    log_line(LOG_INFO, "%s: %zu prompts go", session->given.name, count);
    return begin_sending(session, path);
}

static tapml_status
answer_in(struct case_session *session, const struct case_question *question, struct arena *arena)
{
    const char *path = arena_format(arena, "%s/run.tapmlrun", session->given.folder);
    struct store *store = NULL;

    if (path == NULL) {
        return status_no_memory();
    }
    if (!file_exists(path)) { // It has only begun.
        return put_none(session);
    }
    tapml_status status = store_open_to_read(path, &store);

    // It is being made, or what a host that was killed has left needs another one.
    if (status != TAPML_OK && status != TAPML_NO_MEMORY) {
        if (!session->is_told) {
            log_line(LOG_WARNING, "nothing is served by now: %s", status_message());
        }
        session->is_told = 1;
        return put_none(session);
    }
    status = status == TAPML_OK ? answer_from(session, question, store, arena) : status;
    store_close(store);
    return status;
}

// What is wrong on this machine the host hears in a sentence.
static tapml_status answer(struct case_session *session, const struct case_question *question)
{
    struct arena *arena = arena_create();
    char why[512];

    if (arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = answer_in(session, question, arena);

    arena_destroy(arena);
    if (status == TAPML_OK || status == TAPML_NO_MEMORY) {
        return status;
    }
    (void)snprintf(why, sizeof(why), "%s", status_message());
    return put_refusal(session, why);
}

static tapml_status take_frame(struct case_session *session, const struct wire_frame *frame)
{
    struct case_question question;

    if (frame->verb == CASE_END) {
        return status_fail(TAPML_CANCELLED, "the host has all that it wants");
    }
    if (frame->verb != CASE_ASK) {
        return status_fail(TAPML_INVALID, "the host sends verb %u, which is none of these",
                           (unsigned)frame->verb);
    }
    TAPML_TRY(case_message_take_ask(frame, &question));
    const tapml_status status = answer(session, &question);

    alloc_free(question.prompts);
    return status;
}

static tapml_status take_frames(struct case_session *session)
{
    struct wire_frame frame;
    enum wire_result result = WIRE_MORE;

    while (session->file < 0 && !stream_is_full(session->base.stream) &&
           (result = stream_next(session->base.stream, &frame)) == WIRE_FRAME) {
        TAPML_TRY(take_frame(session, &frame));
    }
    return result == WIRE_FRAME || result == WIRE_MORE
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "what the host sends is no message");
}

// -- The session ---------------------------------------------------------------------------------

static tapml_status work(struct host_session *base, int wake)
{
    struct case_session *session = (struct case_session *)base;
    struct pollfd others[] = {{.fd = wake, .events = POLLIN}};

    TAPML_TRY(host_session_exchange(base, others, 1));
    TAPML_TRY(session->file >= 0 ? send_some(session) : TAPML_OK);
    return take_frames(session);
}

static void destroy(struct host_session *base)
{
    struct case_session *session = (struct case_session *)base;

    end_sending(session);
    wire_writer_release(&session->writer);
    host_session_release(base);
    alloc_free(session);
}

tapml_status case_session_create(const struct case_session_options *options,
                                 struct host_session **out_session)
{
    static const struct host_session_kind kind = {
        .feature = CASE_FEATURE,
        .who = "it is 'tapml-host serve', which has cases and no device",
        .work = work,
        .destroy = destroy};
    struct case_session *session = alloc_new(sizeof(*session));

    if (session == NULL) {
        return status_no_memory();
    }
    *session = (struct case_session){.given = *options, .file = -1, .writer = MESSAGE_WRITER};
    const tapml_status status = host_session_init(&session->base, &kind);

    if (status != TAPML_OK) {
        destroy(&session->base);
        return status;
    }
    hash_text(hash_bytes(&session->base.id, sizeof(session->base.id)), session->digits);
    *out_session = &session->base;
    return TAPML_OK;
}
