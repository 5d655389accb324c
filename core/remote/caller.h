// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The connections of a host to a worker on another machine: the first, and those that follow a cut.
// It connects to a worker that listens, again with pauses that grow; or it waits for one that dials
// (remote/dialer.h), and after a cut for the same one. Who has connected, the host greets. One
// thread.
#pragma once

#include "remote/stream.h"

struct caller_options {
    const char *url;    // `tapml://HOST:PORT`; or NULL:
    const char *listen; // HOST:PORT, at which it waits.
    const char *folder; // Of the own key and of the peers (remote/identity.h).

    // What the other side has to know beside what every build does (remote/host_session.h), and
    // what it is then: "no 'tapml-host serve'". NULL: nothing.
    const char *feature, *lack;
};

struct caller;

// Reads the address and the keys; connects and listens nowhere. The caller of this function
// destroys it.
tapml_status caller_create(const struct caller_options *options,
                           struct caller **out_caller) STATUS_USED;
void caller_destroy(struct caller *caller);

enum caller_result {
    CALLER_CONNECTED,  // The stream is attached, and goes on.
    CALLER_BEGAN_ANEW, // The same, but the other side knows nothing of an earlier session.
    CALLER_NOT_YET,    // It did not work, nobody has come, or it is too early to try again.
    CALLER_REFUSED     // It will not work: the message says why.
};

// Tries once, if it is time to; for some seconds at most. Each failure leaves a message.
enum caller_result caller_try(struct caller *caller, struct stream *stream);

// The next session is a new one.
void caller_forget_session(struct caller *caller);

// Whether the worker that was connected last names a feature (remote/greeting.h).
int caller_knows(const struct caller *caller, const char *feature);

// Where the worker is, for messages.
const char *caller_where(const struct caller *caller);

// Whether it waits for a worker, rather than connect to one; and where, if it listens there now:
// HOST:PORT with the port that it has; else NULL.
int caller_waits(const struct caller *caller);
const char *caller_listens_at(const struct caller *caller);
