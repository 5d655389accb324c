// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where hosts on other machines come in: listens (remote/reception.h), dials those that wait
// (remote/dialer.h), greets hosts whose key is paired, and has a session (remote/host_session.h)
// for each, in a thread of its own.
//
// Nothing is answered to a key that is not known. A session that has no connection is kept for some
// time, so that its host can go on with it; it ends before the same key begins a new one, because
// then that host has most likely ended.
#pragma once

#include "remote/host_session.h"

enum {
    GATEWAY_SESSIONS_MAX = 32,
    GATEWAY_DIALS_MAX = 16,
    GATEWAY_LINGER_S = 900 // For which a session without a connection is kept.
};

struct gateway_options {
    const char *address;      // HOST:PORT; port 0: the system's choice; or NULL.
    const char *const *dials; // URLs of hosts that wait: `dial_count` of them,
    size_t dial_count;        // GATEWAY_DIALS_MAX at most.
    const char *folder;       // Of the own key and the peers.
    const char *caches;       // Of all hosts: each has a folder there, named by its key.

    // Makes a session for the host of this name, whose cache is in that folder: both outlive it.
    // Called in the thread of the session.
    tapml_status (*create)(void *user,
                           const char *name,
                           const char *cache_folder,
                           struct host_session **out_session);

    void (*ready)(void *user, unsigned port); // Called once it listens.
    void *user;
};

// Serves until `stop` can be read. TAPML_UNAVAILABLE if it cannot listen; TAPML_INVALID for what is
// no address.
tapml_status gateway_run(const struct gateway_options *options, int stop) STATUS_USED;
