// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The channel to a worker on another machine, over a stream that outlives its connections
// (remote/stream.h). It takes the messages of a link as they are, and sends the bytes that they
// name in shared memory along, in pieces: those that the other side has kept go by their hash, the
// rest is compressed where that pays.
//
// The time of an answer counts from when the other side has all of what it is to answer. While
// there is no connection no time counts but that of the patience; what was sent is not lost by a
// cut. One that waits for a worker says so in a line, with the address and the patience. One
// thread, that of the channel's owner.
#pragma once

#include "base/timeline.h"
#include "link/channel.h"

enum { REMOTE_PATIENCE_S = 600, REMOTE_PATIENCE_MAX_S = 604800 };

struct remote_options {
    const char *url;           // `tapml://HOST:PORT`. Copied. Or NULL:
    const char *listen;        // HOST:PORT, at which it waits for a worker that dials. Copied.
    const char *folder;        // Of keys and peers; NULL: that of remote/identity.h.
    uint64_t memory_bytes;     // What the worker may take; 0: three quarters of its machine's.
    uint64_t patience_ns;      // Without a connection for longer, the worker counts as lost.
    struct timeline *timeline; // Draws the messages (remote/tracer.h); borrowed; or NULL.
};

// Bytes over the connection so far, and what they would have been.
struct remote_traffic {
    uint64_t sent_bytes, received_bytes; // Of frames, as they went.
    uint64_t named_bytes;                // Of memory, that messages named both ways,
    uint64_t placed_bytes;               // and those of them that went by a hash.
};

// Reads keys and address; connects when it is started. TAPML_INVALID and TAPML_UNAVAILABLE name
// the address or the file. The caller owns the channel.
tapml_status remote_create(const struct remote_options *options,
                           struct channel **out_channel) STATUS_USED;

struct remote_traffic remote_traffic(const struct channel *channel);
