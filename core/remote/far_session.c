// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/far_session.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "link/child.h"
#include "remote/bulk.h"
#include "remote/expectation.h"
#include "remote/mirror.h"
#include "remote/piece_cache.h"
#include "remote/reads.h"

#include <stdio.h>
#include <string.h>

enum {
    HAVE_COUNT = 4096, // Hashes of a message.
    HASH_BYTES = 16
};

struct far_session {
    struct host_session base;
    struct far_session_options given;
    struct piece_cache *pieces;
    struct bulk_packer *packer;
    struct mirror mirror;
    struct reads reads;
    struct expectation expectation; // Of the next read.
    uint64_t awaited;               // The number of a wait that is not answered, 0: none,
    uint64_t awaited_end;           // and the end of the reads that stand in front of it.
    struct wire_writer answer;      // That waits for bytes that were read to go; or empty.
    uint64_t answer_end;            // Of these reads.
    struct channel *worker;         // NULL before the first start.
    int is_up;
    int is_closing;      // The host has said its last word.
    uint32_t generation; // As the host counts workers.
    struct wire_writer to_worker, to_host;
};

// -- Messages to the host ----------------------------------------------------------------------

static tapml_status push(struct far_session *session)
{
    if (session->to_host.is_failed) {
        return status_no_memory();
    }
    TAPML_TRY(stream_put(session->base.stream, session->to_host.data, session->to_host.size));
    session->to_host.size = 0;
    return TAPML_OK;
}

static tapml_status put_hashes(struct far_session *session, const struct hash *hashes, size_t count)
{
    wire_begin(&session->to_host, BULK_HAVE, 0);
    for (size_t i = 0; i < count; i++) {
        wire_put_u64(&session->to_host, hashes[i].high);
        wire_put_u64(&session->to_host, hashes[i].low);
    }
    wire_end(&session->to_host);
    return push(session);
}

static tapml_status put_have(struct far_session *session)
{
    size_t count = 0;
    const struct hash *hashes = piece_cache_list(session->pieces, &count);

    for (size_t at = 0; at < count; at += HAVE_COUNT) {
        TAPML_TRY(
            put_hashes(session, hashes + at, count - at < HAVE_COUNT ? count - at : HAVE_COUNT));
    }
    return TAPML_OK;
}

// Something that was kept is not any more, and so may be others: the host hears what there is.
static tapml_status put_have_anew(struct far_session *session)
{
    struct piece_cache *pieces = NULL;

    TAPML_TRY(piece_cache_open(session->given.cache_folder, session->given.cache_bytes, &pieces));
    piece_cache_close(session->pieces);
    session->pieces = pieces;
    wire_begin(&session->to_host, BULK_LOST, 0);
    wire_end(&session->to_host);
    TAPML_TRY(push(session));
    return put_have(session);
}

// The worker is no more: nothing of it is answered or read.
static void forget_worker(struct far_session *session)
{
    session->is_up = 0;
    session->awaited = 0;
    session->answer.size = 0;
    reads_clear(&session->reads);
    expectation_release(&session->expectation);
}

// How the worker has ended, and what it was at.
static tapml_status put_end(struct far_session *session, int was_killed, const char *how)
{
    const unsigned char *control = mirror_span(&session->mirror, 0, 0, sizeof(uint64_t));
    uint64_t progress = 0;

    if (control != NULL) {
        memcpy(&progress, control, sizeof(progress));
    }
    forget_worker(session);
    wire_begin(&session->to_host, BULK_END, 0);
    wire_put_u32(&session->to_host, session->generation);
    wire_put_u32(&session->to_host, (uint32_t)was_killed);
    wire_put_u64(&session->to_host, progress);
    wire_put_text(&session->to_host, how);
    wire_put_text(&session->to_host,
                  session->worker != NULL ? channel_last_words(session->worker) : "");
    wire_end(&session->to_host);
    return push(session);
}

static tapml_status put_ended(struct far_session *session)
{
    char how[512];

    (void)snprintf(how, sizeof(how), "%s", status_message());
    return put_end(session, channel_was_killed(session->worker), how);
}

// What the host sends cannot be done: its worker is ended, and the host hears why.
static tapml_status refuse(struct far_session *session, int was_killed)
{
    char how[512];

    (void)snprintf(how, sizeof(how), "was ended by its machine: %s", status_message());
    channel_stop(session->worker);
    return put_end(session, was_killed, how);
}

// -- Starting and ending a worker --------------------------------------------------------------

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static tapml_status begin_worker(struct far_session *session, uint64_t memory_bytes)
{
    struct channel *worker = NULL;
    const uint64_t asked = memory_bytes > 0 ? memory_bytes : UINT64_MAX;
    const struct child_options options = {.program = session->given.program,
                                          .memory_bytes =
                                              least(asked, session->given.memory_bytes)};

    if (session->worker != NULL) {
        channel_release(session->worker);
        session->worker = NULL;
    }
    forget_worker(session);
    mirror_release(&session->mirror);
    session->to_worker.size = 0;
    TAPML_TRY(child_create(&options, &worker));
    session->worker = worker;
    TAPML_TRY(channel_start(worker));
    session->is_up = 1;
    return TAPML_OK;
}

static tapml_status take_start(struct far_session *session, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    session->generation = wire_take_u32(&reader);
    const uint64_t memory_bytes = wire_take_u64(&reader);

    if (!wire_is_done(&reader)) {
        return status_fail(TAPML_INVALID, "a start is malformed");
    }
    const tapml_status status = begin_worker(session, memory_bytes);

    wire_begin(&session->to_host, BULK_STARTED, 0);
    wire_put_u32(&session->to_host, session->generation);
    wire_put_text(&session->to_host, status == TAPML_OK ? "" : status_message());
    wire_end(&session->to_host);
    return push(session);
}

// What this machine is asked is asked by one session at a time.
static void take_turn(const struct far_session *session)
{
    if (session->given.settling != NULL) {
        (void)pthread_mutex_lock(session->given.settling);
    }
}

static void end_turn(const struct far_session *session)
{
    if (session->given.settling != NULL) {
        (void)pthread_mutex_unlock(session->given.settling);
    }
}

static tapml_status take_list(struct far_session *session)
{
    struct text lines;

    text_init(&lines);
    take_turn(session);
    tapml_status status = session->given.list(session->given.user, &lines);

    end_turn(session);
    status = status == TAPML_OK ? text_status(&lines) : status;
    wire_begin(&session->to_host, BULK_DEVICES, 0);
    wire_put_i64(&session->to_host, status);
    wire_put_text(&session->to_host, status == TAPML_OK ? lines.data : status_message());
    wire_end(&session->to_host);
    text_release(&lines);
    return push(session);
}

static void take_stop(struct far_session *session, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    if (wire_take_u32(&reader) == session->generation && session->is_up) {
        channel_stop(session->worker);
        forget_worker(session);
    }
}

// -- Messages to the worker --------------------------------------------------------------------

static tapml_status flush(struct far_session *session, int descriptor)
{
    if (session->to_worker.is_failed) {
        return status_no_memory();
    }
    if (session->to_worker.size == 0) {
        return TAPML_OK;
    }
    const tapml_status status =
        channel_send(session->worker, session->to_worker.data, session->to_worker.size, descriptor);

    session->to_worker.size = 0;
    return status == TAPML_OK ? TAPML_OK : put_ended(session);
}

static void forward(struct far_session *session, const struct wire_frame *frame)
{
    wire_begin(&session->to_worker, frame->verb, frame->number);
    wire_put_bytes(&session->to_worker, frame->data, frame->size);
    wire_end(&session->to_worker);
}

static tapml_status forward_memory(struct far_session *session,
                                   const struct wire_frame *frame,
                                   struct wire_reader *reader)
{
    const uint32_t number = frame->verb == MESSAGE_REGION
                                ? mirror_next_region(&session->mirror)
                                : wire_take_u32(reader) | MESSAGE_IS_IMPORT;
    const uint64_t bytes = wire_take_u64(reader);
    int descriptor = -1;

    if (!wire_is_done(reader)) {
        return status_fail(TAPML_INVALID, "a message about memory is malformed");
    }
    TAPML_TRY(flush(session, -1)); // The descriptor belongs to the first message.
    TAPML_TRY(
        mirror_make(&session->mirror, number, bytes, session->given.memory_bytes, &descriptor));
    forward(session, frame);
    return session->is_up ? flush(session, descriptor) : TAPML_OK;
}

// An answer that is not the worker's.
static tapml_status put_refusal(struct far_session *session, uint64_t number, tapml_status status)
{
    wire_begin(&session->to_host, MESSAGE_REPLY, number);
    wire_put_i64(&session->to_host, status);
    wire_put_text(&session->to_host, status_message());
    wire_end(&session->to_host);
    return push(session);
}

static tapml_status forward_open(struct far_session *session,
                                 const struct wire_frame *frame,
                                 struct wire_reader *reader)
{
    struct arena *arena = arena_create();
    struct message_setting *asked = NULL, *settings = NULL;
    size_t asked_count = 0, count = 0;
    tapml_status status = arena != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        status = message_take_settings(reader, arena, &asked, &asked_count);
    }
    if (status == TAPML_OK) {
        take_turn(session);
        status = session->given.settle(session->given.user, asked, asked_count, arena, &settings,
                                       &count);
        end_turn(session);
    }
    if (status == TAPML_OK) {
        wire_begin(&session->to_worker, frame->verb, frame->number);
        message_put_settings(&session->to_worker, settings, count);
        wire_end(&session->to_worker);
    } else {
        status = put_refusal(session, frame->number, status);
    }
    arena_destroy(arena);
    return status;
}

static tapml_status take_expectation(struct far_session *session, const struct wire_frame *frame)
{
    expectation_release(&session->expectation);
    return expectation_take(frame, &session->expectation);
}

static tapml_status add_read(struct far_session *session, struct reads_span *span)
{
    struct expectation *expectation = &session->expectation;
    const int is_expected = expectation->hashes != NULL;

    if (is_expected && (expectation->number != span->number ||
                        expectation->offset != span->offset || expectation->bytes != span->bytes)) {
        return status_fail(TAPML_INVALID, "a read of which something else is expected");
    }
    span->hashes = expectation->hashes;
    TAPML_TRY(reads_add(&session->reads, span));
    *expectation = (struct expectation){.hashes = NULL}; // They are the read's.
    return TAPML_OK;
}

static tapml_status note_read(struct far_session *session, struct wire_reader *reader, int is_stamp)
{
    struct reads_span span = {.bytes = sizeof(uint64_t)};

    if (!is_stamp) {
        (void)wire_take_u32(reader);
        (void)wire_take_u64(reader);
        span.bytes = wire_take_u64(reader);
    }
    span.number = wire_take_u32(reader);
    span.offset = wire_take_u64(reader);
    if (!wire_is_done(reader) || span.bytes == 0 ||
        mirror_span(&session->mirror, span.number, span.offset, span.bytes) == NULL) {
        return status_fail(TAPML_INVALID, "a read into memory that is not there");
    }
    return add_read(session, &span);
}

static tapml_status take_bytes(struct far_session *session, const struct wire_frame *frame)
{
    struct bulk_data data;
    int is_kept = 0;

    TAPML_TRY(bulk_take(frame, &data));
    unsigned char *memory =
        mirror_span(&session->mirror, data.span.number, data.span.offset, data.span.bytes);

    if (memory == NULL) {
        return status_fail(TAPML_INVALID, "%u bytes for memory that is not there", data.span.bytes);
    }
    if (frame->verb == BULK_PLACE) {
        return piece_cache_get(session->pieces, data.hash, memory, data.span.bytes);
    }
    TAPML_TRY(bulk_unpack(&data, memory));
    if (frame->verb == BULK_DATA) {
        return TAPML_OK;
    }
    if (!hash_equal(hash_bytes(memory, data.span.bytes), data.hash)) {
        return status_fail(TAPML_INVALID, "a piece has not the hash that it comes with");
    }
    TAPML_TRY(piece_cache_put(session->pieces, data.hash, memory, data.span.bytes, &is_kept));
    return is_kept ? put_hashes(session, &data.hash, 1) : TAPML_OK;
}

// A message for the worker, which is there.
static tapml_status pass(struct far_session *session, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    switch (frame->verb) {
    case MESSAGE_REGION:
    case MESSAGE_SHARE:
        return forward_memory(session, frame, &reader);
    case MESSAGE_OPEN:
        return forward_open(session, frame, &reader);
    case BULK_DATA:
    case BULK_PIECE:
    case BULK_PLACE:
        return take_bytes(session, frame);
    case BULK_EXPECT:
        return take_expectation(session, frame);
    case MESSAGE_READ:
    case MESSAGE_STAMP:
        TAPML_TRY(note_read(session, &reader, frame->verb == MESSAGE_STAMP));
        break;
    case MESSAGE_SIGNAL:
        TAPML_TRY(reads_mark(&session->reads, wire_take_u64(&reader)));
        break;
    case MESSAGE_WAIT:
        session->awaited = frame->number;
        session->awaited_end = reads_end(&session->reads);
        break;
    case MESSAGE_WAIT_FOR:
        session->awaited = frame->number;
        session->awaited_end = reads_end_of(&session->reads, wire_take_u64(&reader));
        break;
    case MESSAGE_UNSHARE:
        mirror_drop(&session->mirror, wire_take_u32(&reader) | MESSAGE_IS_IMPORT);
        break;
    case MESSAGE_CLOSE:
        session->is_closing = 1;
        break;
    default:
        break; // The worker knows which ones there are.
    }
    forward(session, frame);
    return TAPML_OK;
}

static tapml_status take_host_frame(struct far_session *session, const struct wire_frame *frame)
{
    if (frame->verb == BULK_START) {
        return take_start(session, frame);
    }
    if (frame->verb == BULK_STOP) {
        take_stop(session, frame);
        return TAPML_OK;
    }
    if (frame->verb == BULK_LIST) {
        return take_list(session);
    }
    if (!session->is_up) { // It was sent before the host knew.
        session->is_closing = session->is_closing || frame->verb == MESSAGE_CLOSE;
        return TAPML_OK;
    }
    const tapml_status status = pass(session, frame);

    if (status == TAPML_OK || status == TAPML_NO_MEMORY) {
        return status;
    }
    // What this side has lost is not the host's fault.
    TAPML_TRY(refuse(session, status == TAPML_NOT_FOUND));
    return status == TAPML_NOT_FOUND ? put_have_anew(session) : TAPML_OK;
}

static tapml_status take_host_frames(struct far_session *session)
{
    struct wire_frame frame;
    enum wire_result result = WIRE_MORE;

    while (session->answer.size == 0 && !stream_is_full(session->base.stream) &&
           (result = stream_next(session->base.stream, &frame)) == WIRE_FRAME) {
        TAPML_TRY(take_host_frame(session, &frame));
    }
    TAPML_TRY(session->is_up ? flush(session, -1) : TAPML_OK);
    return result == WIRE_FRAME || result == WIRE_MORE
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "what the host sends is no message");
}

// -- Messages of the worker --------------------------------------------------------------------

// The next bytes of a read: those that are as the host expects, or those that are not.
static tapml_status send_read(struct far_session *session, const struct reads_span *read)
{
    struct bulk_span span = {read->number, read->offset,
                             (uint32_t)least(read->bytes, PIECE_BYTES_MAX)};
    const unsigned char *memory =
        mirror_span(&session->mirror, span.number, span.offset, span.bytes);
    int is_same = 0;

    ASSERT(memory != NULL);
    if (read->hashes != NULL) {
        span.bytes = expectation_run(read->hashes, read->taken / EXPECTATION_BLOCK_BYTES, memory,
                                     span.bytes, &is_same);
    }
    if (is_same) {
        bulk_put_same(&session->to_host, &span);
    } else {
        bulk_put_data(session->packer, &session->to_host, &span, NULL, memory);
    }
    reads_take(&session->reads, span.bytes);
    return push(session);
}

// Sends what was read, as far as the stream takes it, then the answer that is held.
static tapml_status send_answer(struct far_session *session)
{
    const struct reads_span *read = NULL;

    while (!stream_is_full(session->base.stream) &&
           (read = reads_first(&session->reads, session->answer_end)) != NULL) {
        TAPML_TRY(send_read(session, read));
    }
    if (reads_first(&session->reads, session->answer_end) != NULL) {
        return TAPML_OK; // The rest goes when the host has taken some.
    }
    const tapml_status status =
        stream_put(session->base.stream, session->answer.data, session->answer.size);

    session->answer.size = 0;
    return status;
}

static tapml_status take_worker_frame(struct far_session *session, const struct wire_frame *frame)
{
    const int is_awaited = session->awaited != 0 && frame->number == session->awaited;
    struct wire_writer *writer = &session->answer;
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    session->answer_end = is_awaited ? session->awaited_end : 0;
    session->awaited = is_awaited ? 0 : session->awaited;
    if (is_awaited && wire_take_i64(&reader) != TAPML_OK) {
        reads_clear(&session->reads);
    }
    wire_begin(writer, frame->verb, frame->number);
    wire_put_bytes(writer, frame->data, frame->size);
    wire_end(writer);
    return writer->is_failed ? status_no_memory() : send_answer(session);
}

static tapml_status take_worker_frames(struct far_session *session)
{
    while (session->is_up && session->answer.size == 0) {
        struct wire_frame frame;
        const tapml_status status = channel_receive(session->worker, 0, &frame);

        if (status == TAPML_DEADLINE) {
            return TAPML_OK;
        }
        TAPML_TRY(status == TAPML_OK ? take_worker_frame(session, &frame) : put_ended(session));
    }
    return TAPML_OK;
}

// -- The session -------------------------------------------------------------------------------

static tapml_status work(struct host_session *base, int wake)
{
    struct far_session *session = (struct far_session *)base;
    struct pollfd others[] = {
        {.fd = wake, .events = POLLIN},
        {.fd = session->is_up ? child_socket(session->worker) : -1, .events = POLLIN}};

    TAPML_TRY(host_session_exchange(base, others, 2));
    TAPML_TRY(session->answer.size > 0 ? send_answer(session) : TAPML_OK);
    TAPML_TRY(take_worker_frames(session));
    TAPML_TRY(take_host_frames(session));
    return session->is_closing ? status_fail(TAPML_CANCELLED, "the host has ended the session")
                               : TAPML_OK;
}

static void destroy(struct host_session *base)
{
    struct far_session *session = (struct far_session *)base;

    if (session->worker != NULL) {
        channel_release(session->worker);
    }
    host_session_release(base);
    piece_cache_close(session->pieces);
    bulk_packer_destroy(session->packer);
    mirror_release(&session->mirror);
    reads_release(&session->reads);
    expectation_release(&session->expectation);
    wire_writer_release(&session->to_worker);
    wire_writer_release(&session->to_host);
    wire_writer_release(&session->answer);
    alloc_free(session);
}

static tapml_status begin(struct far_session *session)
{
    static const struct host_session_kind kind = {.work = work, .destroy = destroy};

    TAPML_TRY(host_session_init(&session->base, &kind));
    session->packer = bulk_packer_create();
    if (session->packer == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(piece_cache_open(session->given.cache_folder, session->given.cache_bytes,
                               &session->pieces));
    return put_have(session);
}

tapml_status far_session_create(const struct far_session_options *options,
                                struct host_session **out_session)
{
    struct far_session *session = alloc_new(sizeof(*session));

    if (session == NULL) {
        return status_no_memory();
    }
    session->given = *options;
    session->to_worker = session->to_host = session->answer = MESSAGE_WRITER;
    const tapml_status status = begin(session);

    if (status != TAPML_OK) {
        destroy(&session->base);
        return status;
    }
    *out_session = &session->base;
    return TAPML_OK;
}
