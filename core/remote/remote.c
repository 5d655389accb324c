// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/remote.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "link/message.h"
#include "remote/bulk.h"
#include "remote/expectation.h"
#include "remote/known.h"
#include "remote/mirror.h"
#include "remote/reach.h"
#include "remote/reads.h"
#include "remote/shadow.h"
#include "remote/tracer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    START_PATIENCE_S = 30, // For a worker to be started.
    SLICE_MS = 50,
    HASHED_BYTES_MIN = 4096, // Fewer are sent without a hash.
    EXPECTED_BYTES_MIN = 64, // Fewer are read without a word.
    ENDING_BYTES = 256,
    WORDS_BYTES = 1024
};

static const uint64_t SECOND_NS = UINT64_C(1000000000);

// An answer to a wait, in front of which the bytes of reads come.
struct awaited {
    uint64_t number; // Of the message; 0: none is awaited.
    uint64_t end;    // Of the reads.
};

struct remote {
    struct channel channel; // First.
    struct reach *reach;
    struct stream *stream;
    struct mirror mirror;
    struct shadow shadow;
    struct reads reads;
    struct awaited awaited;
    struct known known;
    struct bulk_packer *packer;
    struct wire_writer out;
    uint64_t memory_bytes;
    uint32_t generation; // Of the worker.
    int is_started;      // It is there, as far as is known.
    int has_answered;    // To the start of this generation.
    int was_killed;
    int takes_expectations;    // The other side does.
    char ending[ENDING_BYTES]; // How the last one ended.
    char words[WORDS_BYTES];
    struct remote_traffic traffic;
    struct tracer *tracer; // Or NULL.
};

static struct remote *own(struct channel *channel)
{
    return (struct remote *)channel;
}

struct remote_traffic remote_traffic(const struct channel *channel)
{
    return ((const struct remote *)channel)->traffic;
}

// -- The end of a worker -----------------------------------------------------------------------

static tapml_status report_end(struct remote *remote)
{
    remote->is_started = 0;
    return status_fail(TAPML_UNAVAILABLE, "%s",
                       remote->ending[0] != '\0' ? remote->ending : "has ended");
}

// What the other side had is gone, whoever is to blame for it: no work at hand is.
static tapml_status lose(struct remote *remote, const char *how)
{
    (void)snprintf(remote->ending, sizeof(remote->ending), "%s", how);
    remote->words[0] = '\0';
    remote->was_killed = 1;
    return report_end(remote);
}

// -- The connection ----------------------------------------------------------------------------

// A new stream for a new session. Nothing of the old one is of use.
static tapml_status begin_session(struct remote *remote)
{
    struct stream *stream = NULL;

    TAPML_TRY(stream_create(&stream));
    reach_forget_session(remote->reach);
    stream_destroy(remote->stream);
    remote->stream = stream;
    known_release(&remote->known);
    return TAPML_OK;
}

// A new session, since the old one cannot go on.
static tapml_status lose_session(struct remote *remote, const char *how)
{
    TAPML_TRY(begin_session(remote));
    return lose(remote, how);
}

// Tries to get a connection, where there is none.
static tapml_status reconnect(struct remote *remote)
{
    char how[ENDING_BYTES];

    switch (reach_try(remote->reach, remote->stream)) {
    case REACH_BEGAN_ANEW:
        return lose_session(remote, "is gone: its machine, or its program there, was started anew");
    case REACH_LOST:
        (void)snprintf(how, sizeof(how), "%s", status_message());
        return lose_session(remote, how);
    case REACH_REFUSED:
        return status_fail(TAPML_DEVICE_LOST, "%s", status_message());
    case REACH_THERE:
        remote->takes_expectations = reach_knows(remote->reach, "expect");
        remote->channel.lacks_stamps = !reach_knows(remote->reach, "stamp");
        break;
    case REACH_NOT_YET:
        break;
    }
    return TAPML_OK;
}

// Sends and receives for at most a slice, over a new connection if there is none.
static tapml_status work(struct remote *remote, int slice_ms)
{
    if (!stream_is_attached(remote->stream)) {
        TAPML_TRY(reconnect(remote));
    }
    if (!stream_is_attached(remote->stream)) {
        (void)poll(NULL, 0, slice_ms);
        return TAPML_OK;
    }
    const tapml_status status = stream_work(remote->stream, NULL, 0, slice_ms);

    return status == TAPML_NO_MEMORY ? status : TAPML_OK; // A cut is mended by the next one.
}

// Hands what was written to the stream, and waits while that is full.
static tapml_status push(struct remote *remote)
{
    if (remote->out.is_failed) {
        return status_no_memory();
    }
    TAPML_TRY(stream_put(remote->stream, remote->out.data, remote->out.size));
    remote->traffic.sent_bytes += remote->out.size;
    remote->out.size = 0;
    TAPML_TRY(work(remote, 0));
    while (stream_is_full(remote->stream)) {
        TAPML_TRY(work(remote, SLICE_MS));
    }
    return TAPML_OK;
}

// -- What is sent ------------------------------------------------------------------------------

static void put_piece(struct remote *remote, const struct bulk_span *span, const void *bytes)
{
    const struct hash hash =
        span->bytes >= HASHED_BYTES_MIN ? hash_bytes(bytes, span->bytes) : (struct hash){0, 0};

    if (span->bytes < HASHED_BYTES_MIN) {
        bulk_put_data(remote->packer, &remote->out, span, NULL, bytes);
    } else if (known_has(&remote->known, hash)) {
        bulk_put_place(&remote->out, span, hash);
        remote->traffic.placed_bytes += span->bytes;
    } else {
        bulk_put_data(remote->packer, &remote->out, span, &hash, bytes); // If it is kept, we hear.
    }
}

// The bytes of a span go in front of the message that names it.
static tapml_status
put_bytes(struct remote *remote, uint32_t number, uint64_t offset, uint64_t bytes)
{
    const unsigned char *memory = mirror_span(&remote->mirror, number, offset, bytes);

    ASSERT(memory != NULL); // It is our own message.
    for (uint64_t at = 0; at < bytes; at += PIECE_BYTES_MAX) {
        const uint64_t left = bytes - at;
        const struct bulk_span span = {number, offset + at,
                                       (uint32_t)(left < PIECE_BYTES_MAX ? left : PIECE_BYTES_MAX)};

        put_piece(remote, &span, memory + at);
        TAPML_TRY(remote->out.size > STREAM_WINDOW_BYTES / 4 ? push(remote) : TAPML_OK);
    }
    remote->traffic.named_bytes += bytes;
    return TAPML_OK;
}

// Where it is known what a buffer should hold, that is what its machine need not send.
static void expect(struct remote *remote, struct reads_span *read)
{
    const struct shadow_part part = {read->buffer, read->buffer_offset, read->bytes};
    const struct expectation expectation = {read->number, read->offset, read->bytes, NULL};
    const unsigned char *held = shadow_find(&remote->shadow, &part);
    unsigned char *memory = mirror_span(&remote->mirror, read->number, read->offset, read->bytes);

    if (held == NULL || memory == NULL || !remote->takes_expectations ||
        read->bytes < EXPECTED_BYTES_MIN || read->bytes > EXPECTATION_BYTES_MAX) {
        return;
    }
    memcpy(memory, held, read->bytes);
    expectation_put(&remote->out, &expectation, memory);
    read->changes = shadow_changes(&remote->shadow, read->buffer);
    read->is_expected = 1;
}

// A transfer names a part of a buffer, then a span of memory.
static tapml_status see_transfer(struct remote *remote, uint16_t verb, struct wire_reader *reader)
{
    struct reads_span span = {0};

    span.buffer = wire_take_u32(reader);
    span.buffer_offset = wire_take_u64(reader);
    span.bytes = wire_take_u64(reader);
    span.number = wire_take_u32(reader);
    span.offset = wire_take_u64(reader);
    if (verb == MESSAGE_WRITE) {
        return put_bytes(remote, span.number, span.offset, span.bytes);
    }
    remote->traffic.named_bytes += span.bytes;
    expect(remote, &span);
    return reads_add(&remote->reads, &span);
}

static tapml_status see_stamp(struct remote *remote, struct wire_reader *reader)
{
    struct reads_span span = {.number = wire_take_u32(reader)};

    span.offset = wire_take_u64(reader);
    span.bytes = sizeof(uint64_t);
    return reads_add(&remote->reads, &span);
}

static tapml_status
see_memory(struct remote *remote, uint16_t verb, struct wire_reader *reader, int descriptor)
{
    const uint32_t number = verb == MESSAGE_REGION ? mirror_next_region(&remote->mirror)
                                                   : wire_take_u32(reader) | MESSAGE_IS_IMPORT;

    return mirror_map(&remote->mirror, number, descriptor, wire_take_u64(reader));
}

static void await(struct remote *remote, uint64_t number, uint64_t end)
{
    remote->awaited = (struct awaited){number, end};
}

// Does what a message needs on this side.
static tapml_status see(struct remote *remote, const struct wire_frame *frame, int descriptor)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    shadow_follow(&remote->shadow, &remote->mirror, frame);
    switch (frame->verb) {
    case MESSAGE_REGION:
    case MESSAGE_SHARE:
        return see_memory(remote, frame->verb, &reader, descriptor);
    case MESSAGE_UNSHARE:
        mirror_drop(&remote->mirror, wire_take_u32(&reader) | MESSAGE_IS_IMPORT);
        return TAPML_OK;
    case MESSAGE_WRITE:
    case MESSAGE_READ:
        return see_transfer(remote, frame->verb, &reader);
    case MESSAGE_STAMP:
        return see_stamp(remote, &reader);
    case MESSAGE_SIGNAL:
        return reads_mark(&remote->reads, wire_take_u64(&reader));
    case MESSAGE_WAIT:
        await(remote, frame->number, reads_end(&remote->reads));
        return TAPML_OK;
    case MESSAGE_WAIT_FOR:
        await(remote, frame->number, reads_end_of(&remote->reads, wire_take_u64(&reader)));
        return TAPML_OK;
    default:
        return TAPML_OK;
    }
}

// Bytes that were written so far, sent or not.
static uint64_t written_bytes(const struct remote *remote)
{
    return remote->traffic.sent_bytes + remote->out.size;
}

static tapml_status
put_message(struct remote *remote, const struct wire_frame *frame, int descriptor)
{
    const uint64_t begin_ns = tracer_begin(remote->tracer), before = written_bytes(remote);

    TAPML_TRY(see(remote, frame, descriptor));
    wire_begin(&remote->out, frame->verb, frame->number);
    wire_put_bytes(&remote->out, frame->data, frame->size);
    wire_end(&remote->out);
    tracer_sent(remote->tracer, frame, begin_ns, written_bytes(remote) - before);
    return TAPML_OK;
}

static tapml_status
remote_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    struct remote *remote = own(channel);
    const unsigned char *at = bytes;
    struct wire_frame frame = {0};

    if (!remote->is_started) {
        return report_end(remote);
    }
    while (size > 0 && wire_read(at, size, &frame) == WIRE_FRAME) {
        const size_t whole = wire_frame_bytes(&frame);

        TAPML_TRY(put_message(remote, &frame, descriptor));
        at += whole;
        size -= whole;
    }
    ASSERT(size == 0);
    return push(remote);
}

// -- What is received --------------------------------------------------------------------------

static tapml_status distrust(struct remote *remote, const char *what)
{
    (void)snprintf(remote->ending, sizeof(remote->ending), "cannot be understood: %s", what);
    remote->words[0] = '\0';
    remote->was_killed = 0;
    (void)begin_session(remote);
    return report_end(remote);
}

// Bytes of the oldest read that is awaited, and of no other memory.
static tapml_status take_data(struct remote *remote, const struct wire_frame *frame)
{
    struct reads_span *read = reads_first(&remote->reads, remote->awaited.end);
    struct bulk_data data;

    if (remote->awaited.number == 0 || read == NULL || bulk_take(frame, &data) != TAPML_OK ||
        data.span.number != read->number || data.span.offset != read->offset ||
        data.span.bytes > read->bytes) {
        return distrust(remote, "it sends bytes that nobody has asked for");
    }
    unsigned char *memory =
        mirror_span(&remote->mirror, read->number, read->offset, data.span.bytes);

    ASSERT(memory != NULL);
    if (frame->verb == BULK_SAME ? !read->is_expected : bulk_unpack(&data, memory) != TAPML_OK) {
        return distrust(remote, "the bytes that it sends are damaged");
    }
    if (read->is_expected) {
        const struct shadow_part part = {read->buffer, read->buffer_offset + read->taken,
                                         data.span.bytes};

        shadow_learn(&remote->shadow, &part, memory, read->changes);
    }
    reads_take(&remote->reads, data.span.bytes);
    return TAPML_OK;
}

static void take_have(struct remote *remote, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    while (wire_left(&reader) >= 16) {
        struct hash hash = {0, 0};

        hash.high = wire_take_u64(&reader);
        hash.low = wire_take_u64(&reader);
        known_add(&remote->known, hash);
    }
}

// The worker has ended, there.
static tapml_status take_end(struct remote *remote, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    if (wire_take_u32(&reader) != remote->generation) {
        return TAPML_OK; // One that was stopped.
    }
    remote->was_killed = wire_take_u32(&reader) != 0;
    const uint64_t progress = wire_take_u64(&reader);
    const char *how = wire_take_text(&reader);
    const char *words = wire_take_text(&reader);
    unsigned char *control = mirror_span(&remote->mirror, 0, 0, sizeof(progress));

    if (!wire_is_done(&reader) || how == NULL) {
        return distrust(remote, "what it says of an end is malformed");
    }
    if (control != NULL) {
        memcpy(control, &progress, sizeof(progress));
    }
    (void)snprintf(remote->ending, sizeof(remote->ending), "%s", how);
    (void)snprintf(remote->words, sizeof(remote->words), "%s", words != NULL ? words : "");
    return report_end(remote);
}

static tapml_status take_started(struct remote *remote, const struct wire_frame *frame)
{
    struct wire_reader reader;

    wire_reader_init(&reader, frame);
    if (wire_take_u32(&reader) != remote->generation) {
        return TAPML_OK;
    }
    const char *why = wire_take_text(&reader);

    remote->has_answered = 1;
    if (why != NULL && why[0] != '\0') {
        (void)snprintf(remote->ending, sizeof(remote->ending), "%s", why);
        return report_end(remote);
    }
    return TAPML_OK;
}

// An answer of the worker. Where a wait has failed nothing is read.
static tapml_status take_reply(struct remote *remote, const struct wire_frame *frame)
{
    struct wire_reader reader;

    if (frame->number != remote->awaited.number || remote->awaited.number == 0) {
        return TAPML_OK;
    }
    wire_reader_init(&reader, frame);
    if (wire_take_i64(&reader) != TAPML_OK) {
        reads_clear(&remote->reads);
    } else if (reads_first(&remote->reads, remote->awaited.end) != NULL) {
        return distrust(remote, "it answers without the bytes that were read");
    }
    remote->awaited = (struct awaited){0, 0};
    return TAPML_OK;
}

// Takes what has come. `*out_is_reply` is 1 for an answer of the worker, which is then in
// `out_frame`; 0 where nothing is left.
static tapml_status
take_frames(struct remote *remote, struct wire_frame *out_frame, int *out_is_reply)
{
    enum wire_result result = WIRE_FRAME;

    *out_is_reply = 0;
    while ((result = stream_next(remote->stream, out_frame)) == WIRE_FRAME) {
        tapml_status status = TAPML_OK;

        remote->traffic.received_bytes += wire_frame_bytes(out_frame);
        tracer_received(remote->tracer, out_frame, wire_frame_bytes(out_frame));
        switch (out_frame->verb) {
        case MESSAGE_REPLY:
            *out_is_reply = remote->has_answered; // Else it is of an earlier worker.
            status = *out_is_reply ? take_reply(remote, out_frame) : TAPML_OK;
            break;
        case BULK_DATA:
        case BULK_SAME:
            status = remote->has_answered ? take_data(remote, out_frame) : TAPML_OK;
            break;
        case BULK_HAVE:
            take_have(remote, out_frame);
            break;
        case BULK_LOST:
            known_release(&remote->known);
            break;
        case BULK_STARTED:
            status = take_started(remote, out_frame);
            break;
        case BULK_END:
            status = take_end(remote, out_frame);
            break;
        default:
            status = distrust(remote, "it sends a message that no host knows");
            break;
        }
        if (status != TAPML_OK || *out_is_reply) {
            return status;
        }
    }
    return result == WIRE_MORE ? TAPML_OK : distrust(remote, "what it sends is no message");
}

// Whether the time of an answer runs: the other side has all that was sent, and is there.
static int is_its_turn(const struct remote *remote)
{
    return stream_is_attached(remote->stream) && stream_backlog(remote->stream) == 0;
}

// Works for a slice, which counts where it is the other side's turn.
static tapml_status work_counted(struct remote *remote, uint64_t *io_waited_ns)
{
    const uint64_t begin_ns = clock_now_ns();
    const int is_running = is_its_turn(remote);

    TAPML_TRY(work(remote, SLICE_MS));
    *io_waited_ns += is_running ? clock_now_ns() - begin_ns : 0;
    return TAPML_OK;
}

static tapml_status
remote_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    struct remote *remote = own(channel);
    uint64_t waited_ns = 0;
    uint64_t received = 0;

    for (;;) {
        int is_reply = 0;

        if (!remote->is_started) {
            return report_end(remote);
        }
        TAPML_TRY(timeout_ns == 0 ? work(remote, 0) : TAPML_OK);
        TAPML_TRY(take_frames(remote, out_frame, &is_reply));
        if (is_reply) {
            return TAPML_OK;
        }
        if (waited_ns >= timeout_ns) {
            return status_fail(TAPML_DEADLINE, "did not answer in time");
        }
        TAPML_TRY(work_counted(remote, &waited_ns));
        if (stream_received(remote->stream) != received) { // An answer is on its way.
            received = stream_received(remote->stream);
            waited_ns = 0;
        }
    }
}

// -- Starting and ending -----------------------------------------------------------------------

// The time counts as that of an answer does: a worker may dial long after the host has begun to
// wait.
static tapml_status await_start(struct remote *remote)
{
    struct wire_frame frame;
    uint64_t waited_ns = 0;
    int is_reply = 0;

    for (;;) {
        TAPML_TRY(take_frames(remote, &frame, &is_reply));
        if (remote->has_answered) {
            return TAPML_OK;
        }
        if (waited_ns > START_PATIENCE_S * SECOND_NS) {
            return status_fail(TAPML_UNAVAILABLE, "was not started by %s within %d s",
                               reach_where(remote->reach), START_PATIENCE_S);
        }
        TAPML_TRY(work_counted(remote, &waited_ns));
    }
}

static tapml_status remote_start(struct channel *channel)
{
    struct remote *remote = own(channel);

    mirror_release(&remote->mirror);
    shadow_release(&remote->shadow);
    reads_clear(&remote->reads);
    remote->awaited = (struct awaited){0, 0};
    remote->out.size = 0;
    remote->has_answered = 0;
    remote->was_killed = 0;
    remote->ending[0] = remote->words[0] = '\0';
    remote->generation++;
    if (remote->stream == NULL) {
        TAPML_TRY(begin_session(remote));
    }
    wire_begin(&remote->out, BULK_START, 0);
    wire_put_u32(&remote->out, remote->generation);
    wire_put_u64(&remote->out, remote->memory_bytes);
    wire_end(&remote->out);
    remote->is_started = 1;
    TAPML_TRY(push(remote));
    return await_start(remote);
}

static void remote_stop(struct channel *channel)
{
    struct remote *remote = own(channel);

    if (remote->is_started && remote->stream != NULL) {
        wire_begin(&remote->out, BULK_STOP, 0);
        wire_put_u32(&remote->out, remote->generation);
        wire_end(&remote->out);
        (void)push(remote); // If it is not received, the next start ends the worker.
    }
    remote->is_started = 0;
}

// The last message, which ends the worker, is given some time.
static void remote_release(struct channel *channel)
{
    struct remote *remote = own(channel);
    const uint64_t end_ns = clock_now_ns() + SECOND_NS;

    while (remote->stream != NULL && stream_is_attached(remote->stream) &&
           stream_backlog(remote->stream) > 0 && clock_now_ns() < end_ns) {
        (void)stream_work(remote->stream, NULL, 0, SLICE_MS);
    }
    stream_destroy(remote->stream);
    reach_destroy(remote->reach);
    mirror_release(&remote->mirror);
    shadow_release(&remote->shadow);
    reads_release(&remote->reads);
    known_release(&remote->known);
    bulk_packer_destroy(remote->packer);
    wire_writer_release(&remote->out);
    tracer_destroy(remote->tracer);
    alloc_free(remote);
}

static const char *remote_last_words(struct channel *channel)
{
    return own(channel)->words;
}

static int remote_was_killed(const struct channel *channel)
{
    return ((const struct remote *)channel)->was_killed;
}

static const struct channel_vt remote_vt = {
    .release = remote_release,
    .start = remote_start,
    .send = remote_send,
    .receive = remote_receive,
    .stop = remote_stop,
    .last_words = remote_last_words,
    .was_killed = remote_was_killed,
};

static tapml_status make(const struct remote_options *options, struct remote *remote)
{
    remote->packer = bulk_packer_create();
    if (remote->packer == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(reach_create(&(struct reach_options){.url = options->url,
                                                   .listen = options->listen,
                                                   .folder = options->folder,
                                                   .patience_ns = options->patience_ns},
                           &remote->reach));
    return options->timeline == NULL
               ? TAPML_OK
               : tracer_create(options->timeline,
                               options->url != NULL ? options->url : options->listen,
                               &remote->tracer);
}

tapml_status remote_create(const struct remote_options *options, struct channel **out_channel)
{
    struct remote *remote = alloc_new(sizeof(*remote));

    if (remote == NULL) {
        return status_no_memory();
    }
    remote->channel = (struct channel){.vt = &remote_vt, .is_far = 1, .lacks_stamps = 1};
    remote->out = MESSAGE_WRITER;
    remote->memory_bytes = options->memory_bytes;
    const tapml_status status = make(options, remote);

    if (status != TAPML_OK) {
        reach_destroy(remote->reach);
        bulk_packer_destroy(remote->packer);
        alloc_free(remote);
        return status;
    }
    *out_channel = &remote->channel;
    return TAPML_OK;
}
