// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A stream of bytes in both directions that outlives its connections.
//
// Each side keeps what it has sent until the other one has acknowledged it. Where a connection is
// cut, another one is attached, both sides say how much they have received, and the rest is sent
// again: every byte arrives once and in order. While nothing is to be sent, both sides send a sign
// of life; a connection that is silent for longer is given up.
//
// A stream belongs to one thread.
#pragma once

#include "remote/tls.h"

#include <tapml/wire/wire.h>

#include <poll.h>

enum {
    STREAM_SILENCE_MS = 10000, // After which a connection counts as cut.
    STREAM_PING_MS = 2000,     // Without anything to send, a sign of life follows.
    STREAM_WINDOW_BYTES = 1 << 25
};

struct stream;

tapml_status stream_create(struct stream **out_stream) STATUS_USED;
void stream_destroy(struct stream *stream); // With its connection. NULL is allowed.

// Goes on over a new connection, which is the stream's from now on; an older one is closed.
// `received` is how much the other side has, as it says: TAPML_INVALID if that cannot be.
tapml_status
stream_attach(struct stream *stream, struct tls *connection, uint64_t received) STATUS_USED;
int stream_is_attached(const struct stream *stream);

// Closes the connection; the stream waits for another one.
void stream_detach(struct stream *stream);

// Appends bytes to what is sent. They are copied. TAPML_NO_MEMORY.
tapml_status stream_put(struct stream *stream, const void *bytes, size_t size) STATUS_USED;

// Bytes that the other side has not acknowledged, and whether there are so many that the caller
// should wait.
size_t stream_backlog(const struct stream *stream);
int stream_is_full(const struct stream *stream);

// All that has ever been received, and sent with the other side's word for it.
uint64_t stream_received(const struct stream *stream);

// Sends and receives what is possible, waiting for at most `timeout_ms` until something is, or
// until one of `others` is ready, whose `revents` are set. TAPML_UNAVAILABLE if the connection is
// lost: the stream is detached then. Without a connection it only waits for `others`.
tapml_status stream_work(struct stream *stream,
                         struct pollfd *others,
                         size_t other_count,
                         int timeout_ms) STATUS_USED;

// Takes bytes as they come over a connection, without one: for tests. TAPML_INVALID if they are no
// records of a stream.
tapml_status stream_take(struct stream *stream, const void *bytes, size_t size) STATUS_USED;

// Takes the next whole frame that was received, if there is one; it lives until the next call of
// `stream_work`. The results are those of wire_read.
enum wire_result stream_next(struct stream *stream, struct wire_frame *out_frame);

// The time between a sign of life and its answer, of the last one; 0 if it is not known.
uint64_t stream_round_trip_ns(const struct stream *stream);
