// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A host's way to a machine: connections for a stream (remote/caller.h), and the patience while
// there is none. A machine that should be there is waited for 10 s at first, one that dials for the
// whole patience, and so is each after it was connected. That a worker is waited for is a line,
// with the address and the patience, once for each time that nobody is connected. One thread.
#pragma once

#include "remote/stream.h"

struct reach_options {
    const char *url;            // `tapml://HOST:PORT`; or NULL:
    const char *listen;         // HOST:PORT, at which it waits for a worker that dials.
    const char *folder;         // Of keys and peers; NULL: that of remote/identity.h.
    uint64_t patience_ns;       // Without a connection for longer, the machine counts as lost.
    const char *feature, *lack; // As of remote/caller.h; static.
};

struct reach;

// Reads keys and address; connects and listens nowhere. TAPML_INVALID and TAPML_UNAVAILABLE name
// the address or the file. The caller destroys it.
tapml_status reach_create(const struct reach_options *options,
                          struct reach **out_reach) STATUS_USED;
void reach_destroy(struct reach *reach); // NULL is allowed.

enum reach_state {
    REACH_THERE,      // The stream is attached, and goes on.
    REACH_NOT_YET,    // There is no connection yet.
    REACH_BEGAN_ANEW, // The other side knows nothing of an earlier session.
    REACH_LOST,       // The patience is at its end: "was out of reach for 600 s: ...".
    REACH_REFUSED     // It will not work: the message says why.
};

// Tries to get a connection for a stream that has none.
enum reach_state reach_try(struct reach *reach, struct stream *stream);

// The next session is a new one.
void reach_forget_session(struct reach *reach);

// Whether the machine that was connected last names a feature (remote/greeting.h).
int reach_knows(const struct reach *reach, const char *feature);

// Where the machine is, for messages.
const char *reach_where(const struct reach *reach);
