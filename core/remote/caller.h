// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The connections of a host to a worker on another machine: the first, and those that follow a cut,
// tried again with pauses that grow. One thread.
#pragma once

#include "remote/stream.h"

struct caller_options {
    const char *url;    // `tapml://HOST:PORT`.
    const char *folder; // Of the own key and of the peers (remote/identity.h).
};

struct caller;

// Reads the address and the keys; connects nowhere. The caller of this function destroys it.
tapml_status caller_create(const struct caller_options *options,
                           struct caller **out_caller) STATUS_USED;
void caller_destroy(struct caller *caller);

enum caller_result {
    CALLER_CONNECTED,  // The stream is attached, and goes on.
    CALLER_BEGAN_ANEW, // The same, but the other side knows nothing of an earlier session.
    CALLER_NOT_YET,    // It did not work, or it is too early to try again.
    CALLER_REFUSED     // It will not work: the message says why.
};

// Tries once, if it is time to; for some seconds at most. Each failure leaves a message.
enum caller_result caller_try(struct caller *caller, struct stream *stream);

// The next session is a new one.
void caller_forget_session(struct caller *caller);
const char *caller_url(const struct caller *caller);
