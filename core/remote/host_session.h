// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a gateway (remote/gateway.h) has for each host: the end of a stream that outlives its
// connections, and somebody who works with what comes over it. Of which kind it is decides who has
// made it: remote/far_session.h for a host that wants a worker, run/case_session.h for one that
// wants cases.
//
// One thread.
#pragma once

#include "remote/greeting.h"
#include "remote/stream.h"

struct host_session;

struct host_session_kind {
    // What both sides name in their greetings, beside what every build names; NULL: nothing. A
    // host that does not is refused, with `who`: "it serves cases, and has no devices".
    const char *feature, *who;

    // Works for some tenths of a second, or until `wake` can be read. TAPML_CANCELLED where the
    // host has closed the session; any other failure ends it, too.
    tapml_status (*work)(struct host_session *session, int wake);

    void (*destroy)(struct host_session *session); // Calls host_session_release.
};

// The first member of what a kind has. Read alone outside of this module.
struct host_session {
    const struct host_session_kind *kind;
    struct greeting_session id; // Random.
    struct stream *stream;
    uint64_t detached_ns; // 0: there is a connection.
};

enum { HOST_SESSION_SLICE_MS = 200 }; // That a session works, at most.

// Begins a session without a connection; `kind` is static. The caller releases it, also after a
// failure.
tapml_status host_session_init(struct host_session *session,
                               const struct host_session_kind *kind) STATUS_USED;
void host_session_release(struct host_session *session);

// Goes on over a connection, which is the session's from now on. `greeting` is what the host has
// said; it is answered here. TAPML_PRECONDITION where the host is refused.
tapml_status host_session_attach(struct host_session *session,
                                 struct tls *connection,
                                 const struct greeting *greeting) STATUS_USED;

// Sends and receives for a slice, or until one of `others` is ready. A cut is no failure:
// TAPML_NO_MEMORY alone.
tapml_status host_session_exchange(struct host_session *session,
                                   struct pollfd *others,
                                   size_t count) STATUS_USED;

// The time since there was a connection; 0 while there is one.
uint64_t host_session_idle_ns(const struct host_session *session);

// By its kind.
tapml_status host_session_work(struct host_session *session, int wake) STATUS_USED;
void host_session_destroy(struct host_session *session); // NULL is allowed.
