// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/stream.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"

#include <string.h>

// What goes over a connection is records: a type, three zeros, the bytes that follow (u32,
// little-endian), and these bytes.
enum record_type {
    RECORD_BYTES = 1, // Of the stream.
    RECORD_ACK,       // u64: all that was received.
    RECORD_PING,      // u64: comes back as it is.
    RECORD_PONG
};

enum {
    HEADER_BYTES = 8,
    RECORD_MAX = 1 << 14,   // Of the bytes of a record.
    RECEIVED_MAX = 1 << 25, // That nobody has taken: then no more is read.
    ACK_BYTES = 1 << 16,    // Received bytes after which an acknowledgement is due at once.
    MILLISECOND_NS = 1000000
};

// Bytes from `begin` to `end`.
struct span {
    unsigned char *data;
    size_t begin, end, capacity;
};

struct stream {
    struct tls *tls;
    struct span out;   // From the first byte that is not acknowledged.
    size_t sent;       // Of them, over this connection.
    uint64_t acked;    // Of all.
    struct span in;    // That nobody has taken.
    uint64_t received; // Of all,
    uint64_t told;     // as the other side knows.
    unsigned char writing[HEADER_BYTES + RECORD_MAX]; // A record on its way.
    size_t writing_begin, writing_end;
    unsigned char reading[HEADER_BYTES + RECORD_MAX];
    size_t reading_end;
    uint64_t pong;     // To be sent back,
    int has_pong;      // if there is one.
    uint64_t heard_ns; // When something came,
    uint64_t spoke_ns; // and when something went.
    uint64_t round_trip_ns;
};

// -- Spans -------------------------------------------------------------------------------------

static tapml_status span_append(struct span *span, const void *bytes, size_t size)
{
    if (span->capacity - span->end < size) {
        const size_t used = span->end - span->begin;

        if (size > SIZE_MAX / 4 - used) {
            return status_no_memory();
        }
        if (used + size > span->capacity / 2) {
            const size_t capacity = 2 * (used + size);
            unsigned char *data = alloc_raw(capacity);

            if (data == NULL) {
                return status_no_memory();
            }
            if (used > 0) {
                memcpy(data, span->data + span->begin, used);
            }
            alloc_free(span->data);
            span->data = data;
            span->capacity = capacity;
        } else {
            memmove(span->data, span->data + span->begin, used);
        }
        span->begin = 0;
        span->end = used;
    }
    memcpy(span->data + span->end, bytes, size);
    span->end += size;
    return TAPML_OK;
}

static size_t span_size(const struct span *span)
{
    return span->end - span->begin;
}

static void put_number(unsigned char *bytes, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (unsigned char)(number >> 8 * i);
    }
}

static uint64_t take_number(const unsigned char *bytes, size_t size)
{
    uint64_t number = 0;

    for (size_t i = 0; i < size; i++) {
        number |= (uint64_t)bytes[i] << 8 * i;
    }
    return number;
}

// -- The stream --------------------------------------------------------------------------------

tapml_status stream_create(struct stream **out_stream)
{
    struct stream *stream = alloc_new(sizeof(*stream));

    if (stream == NULL) {
        return status_no_memory();
    }
    *out_stream = stream;
    return TAPML_OK;
}

void stream_detach(struct stream *stream)
{
    tls_close(stream->tls);
    stream->tls = NULL;
    stream->sent = 0;
    stream->writing_begin = stream->writing_end = 0;
    stream->reading_end = 0;
    stream->has_pong = 0;
}

void stream_destroy(struct stream *stream)
{
    if (stream != NULL) {
        stream_detach(stream);
        alloc_free(stream->out.data);
        alloc_free(stream->in.data);
        alloc_free(stream);
    }
}

// The other side has all in front of `received`.
static tapml_status note_received(struct stream *stream, uint64_t received)
{
    const uint64_t most = stream->acked + span_size(&stream->out);

    if (received < stream->acked || received > most) {
        return status_fail(TAPML_INVALID,
                           "the other side has %llu bytes, %llu to %llu are possible",
                           (unsigned long long)received, (unsigned long long)stream->acked,
                           (unsigned long long)most);
    }
    const size_t gone = (size_t)(received - stream->acked);

    stream->out.begin += gone;
    stream->sent -= gone < stream->sent ? gone : stream->sent;
    stream->acked = received;
    return TAPML_OK;
}

tapml_status stream_attach(struct stream *stream, struct tls *connection, uint64_t received)
{
    stream_detach(stream);
    const tapml_status status = note_received(stream, received);

    if (status != TAPML_OK) {
        tls_close(connection);
        return status;
    }
    stream->tls = connection;
    stream->told = stream->received;
    stream->heard_ns = stream->spoke_ns = clock_now_ns();
    return TAPML_OK;
}

int stream_is_attached(const struct stream *stream)
{
    return stream->tls != NULL;
}

tapml_status stream_put(struct stream *stream, const void *bytes, size_t size)
{
    return size > 0 ? span_append(&stream->out, bytes, size) : TAPML_OK;
}

size_t stream_backlog(const struct stream *stream)
{
    return span_size(&stream->out);
}

int stream_is_full(const struct stream *stream)
{
    return span_size(&stream->out) > STREAM_WINDOW_BYTES;
}

uint64_t stream_received(const struct stream *stream)
{
    return stream->received;
}

uint64_t stream_round_trip_ns(const struct stream *stream)
{
    return stream->round_trip_ns;
}

// -- Sending -----------------------------------------------------------------------------------

static void
write_record(struct stream *stream, enum record_type type, const void *bytes, size_t size)
{
    unsigned char *header = stream->writing;

    ASSERT(size <= RECORD_MAX && stream->writing_begin == stream->writing_end);
    memset(header, 0, HEADER_BYTES);
    header[0] = (unsigned char)type;
    put_number(header + 4, size, 4);
    memcpy(header + HEADER_BYTES, bytes, size);
    stream->writing_begin = 0;
    stream->writing_end = HEADER_BYTES + size;
}

static void write_number(struct stream *stream, enum record_type type, uint64_t number)
{
    unsigned char bytes[8];

    put_number(bytes, number, sizeof(bytes));
    write_record(stream, type, bytes, sizeof(bytes));
}

// Writes the next record, if there is anything to say. Returns 0 if not.
static int next_record(struct stream *stream, uint64_t now_ns)
{
    const size_t left = span_size(&stream->out) - stream->sent;
    const uint64_t untold = stream->received - stream->told;

    if (stream->has_pong) {
        write_number(stream, RECORD_PONG, stream->pong);
        stream->has_pong = 0;
    } else if (untold >= ACK_BYTES || (untold > 0 && left == 0)) {
        write_number(stream, RECORD_ACK, stream->received);
        stream->told = stream->received;
    } else if (left > 0) {
        const size_t size = left < RECORD_MAX ? left : RECORD_MAX;

        write_record(stream, RECORD_BYTES, stream->out.data + stream->out.begin + stream->sent,
                     size);
        stream->sent += size;
    } else if (now_ns - stream->spoke_ns >= (uint64_t)STREAM_PING_MS * MILLISECOND_NS) {
        write_number(stream, RECORD_PING, now_ns);
    } else {
        return 0;
    }
    return 1;
}

// Sends what the connection takes. `*out_is_done` is 0 if it takes no more.
static tapml_status send_all(struct stream *stream, int *out_is_done)
{
    const uint64_t now_ns = clock_now_ns();

    *out_is_done = 0;
    while (stream->writing_begin < stream->writing_end || next_record(stream, now_ns)) {
        size_t written = 0;

        TAPML_TRY(tls_write(stream->tls, stream->writing + stream->writing_begin,
                            stream->writing_end - stream->writing_begin, &written));
        if (written == 0) {
            return TAPML_OK;
        }
        stream->writing_begin += written;
        stream->spoke_ns = now_ns;
    }
    *out_is_done = 1;
    return TAPML_OK;
}

// -- Receiving ---------------------------------------------------------------------------------

static tapml_status take_record(struct stream *stream, const unsigned char *bytes, size_t size)
{
    const uint64_t number = size == 8 ? take_number(bytes, 8) : 0;
    const unsigned type = stream->reading[0];

    if (type == RECORD_BYTES && size > 0) {
        TAPML_TRY(span_append(&stream->in, bytes, size));
        stream->received += size;
        return TAPML_OK;
    }
    if (type < RECORD_ACK || type > RECORD_PONG || size != 8) {
        return status_fail(TAPML_INVALID, "a record of the type %u with %zu bytes", type, size);
    }
    if (type == RECORD_ACK) {
        return note_received(stream, number);
    }
    if (type == RECORD_PING) {
        stream->pong = number;
        stream->has_pong = 1;
    } else {
        const uint64_t now_ns = clock_now_ns();

        stream->round_trip_ns = number < now_ns ? now_ns - number : 0;
    }
    return TAPML_OK;
}

// Takes the record that is there, if it is whole. `*out_taken` is whether it was.
static tapml_status take_if_whole(struct stream *stream, int *out_taken)
{
    *out_taken = 0;
    if (stream->reading_end < HEADER_BYTES) {
        return TAPML_OK;
    }
    const size_t size = (size_t)take_number(stream->reading + 4, 4);

    if (size > RECORD_MAX || take_number(stream->reading + 1, 3) != 0) {
        return status_fail(TAPML_INVALID, "what it sends is no record of a stream");
    }
    if (stream->reading_end < HEADER_BYTES + size) {
        return TAPML_OK;
    }
    TAPML_TRY(take_record(stream, stream->reading + HEADER_BYTES, size));
    stream->reading_end -= HEADER_BYTES + size;
    memmove(stream->reading, stream->reading + HEADER_BYTES + size, stream->reading_end);
    *out_taken = 1;
    return TAPML_OK;
}

static tapml_status take_whole_ones(struct stream *stream)
{
    int taken = 1;

    while (taken) {
        TAPML_TRY(take_if_whole(stream, &taken));
    }
    return TAPML_OK;
}

static tapml_status receive_all(struct stream *stream)
{
    while (span_size(&stream->in) < RECEIVED_MAX) {
        size_t size = 0;

        TAPML_TRY(tls_read(stream->tls, stream->reading + stream->reading_end,
                           sizeof(stream->reading) - stream->reading_end, &size));
        if (size == 0) {
            return TAPML_OK;
        }
        stream->reading_end += size;
        stream->heard_ns = clock_now_ns();
        TAPML_TRY(take_whole_ones(stream));
    }
    return TAPML_OK;
}

tapml_status stream_take(struct stream *stream, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    while (size > 0) {
        const size_t room = sizeof(stream->reading) - stream->reading_end;
        const size_t part = size < room ? size : room;

        memcpy(stream->reading + stream->reading_end, at, part);
        stream->reading_end += part;
        at += part;
        size -= part;
        TAPML_TRY(take_whole_ones(stream));
    }
    return TAPML_OK;
}

enum wire_result stream_next(struct stream *stream, struct wire_frame *out_frame)
{
    struct span *in = &stream->in;

    if (in->begin == in->end) {
        return WIRE_MORE;
    }
    const enum wire_result result = wire_read(in->data + in->begin, span_size(in), out_frame);

    if (result == WIRE_FRAME) {
        in->begin += wire_frame_bytes(out_frame);
    }
    return result;
}

// -- Both --------------------------------------------------------------------------------------

static tapml_status work_once(struct stream *stream, int *out_is_done)
{
    TAPML_TRY(receive_all(stream));
    TAPML_TRY(send_all(stream, out_is_done));
    return clock_now_ns() - stream->heard_ns < (uint64_t)STREAM_SILENCE_MS * MILLISECOND_NS
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "the other side was silent for %d s",
                             STREAM_SILENCE_MS / 1000);
}

// Polls the connection, and `others`. Events are left there.
static void wait_for_events(
    struct stream *stream, struct pollfd *others, size_t other_count, short events, int timeout_ms)
{
    struct pollfd all[4];

    ASSERT(other_count < sizeof(all) / sizeof(*all));
    for (size_t i = 0; i < other_count; i++) { // There may be none: NULL.
        all[i] = others[i];
    }
    all[other_count] =
        (struct pollfd){.fd = stream->tls != NULL ? tls_socket(stream->tls) : -1, .events = events};
    if (poll(all, (nfds_t)other_count + 1, timeout_ms) < 0) {
        return; // By a signal: nothing has happened.
    }
    for (size_t i = 0; i < other_count; i++) {
        others[i].revents = all[i].revents;
    }
}

tapml_status
stream_work(struct stream *stream, struct pollfd *others, size_t other_count, int timeout_ms)
{
    const size_t in_before = span_size(&stream->in);
    tapml_status status = TAPML_OK;
    int is_done = 1;

    for (size_t i = 0; i < other_count; i++) {
        others[i].revents = 0;
    }
    if (stream->tls != NULL) {
        status = work_once(stream, &is_done);
    }
    if (status == TAPML_OK && span_size(&stream->in) == in_before) {
        const short events =
            (short)((span_size(&stream->in) < RECEIVED_MAX ? POLLIN : 0) | (is_done ? 0 : POLLOUT));
        const int ping_ms = timeout_ms < STREAM_PING_MS ? timeout_ms : STREAM_PING_MS;

        wait_for_events(stream, others, other_count, events, ping_ms);
        status = stream->tls != NULL ? work_once(stream, &is_done) : TAPML_OK;
    } else if (status == TAPML_OK) {
        wait_for_events(stream, others, other_count, POLLIN, 0);
    }
    if (status != TAPML_OK) {
        stream_detach(stream);
        return status == TAPML_NO_MEMORY ? status : TAPML_UNAVAILABLE;
    }
    return TAPML_OK;
}
