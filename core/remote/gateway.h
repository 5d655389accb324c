// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where hosts on other machines come in: listens, greets those whose key is paired, and has a
// session (remote/far_session.h) for each, in a thread of its own.
//
// Nothing is answered to a key that is not known. Connections that have not shown a key yet are
// few; the oldest gives way to a new one. A session that has no connection is kept for some time,
// so that its host can go on with it.
#pragma once

#include "remote/far_session.h"

enum {
    GATEWAY_SESSIONS_MAX = 32,
    GATEWAY_GUESTS_MAX = 64, // Connections that have not greeted yet.
    GATEWAY_LINGER_S = 900   // For which a session without a connection is kept.
};

struct gateway_options {
    const char *address;                // HOST:PORT; port 0: the system's choice.
    const char *folder;                 // Of the own key and the peers.
    const char *caches;                 // Of all hosts: each has a folder there, named by its key.
    struct far_session_options session; // But for the folder of the cache. `settle` is called by
                                        // one thread at a time.
    void (*ready)(void *user, unsigned port); // Called once it listens.
    void *user;
};

// Serves until `stop` can be read. TAPML_UNAVAILABLE if it cannot listen.
tapml_status gateway_run(const struct gateway_options *options, int stop) STATUS_USED;
