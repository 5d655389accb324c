// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The side of connections that listens: each one that comes in shakes hands in a thread of its own,
// and those whose key is taken are handed on in that thread.
//
// To a key that is not known nothing is answered. Connections that have not been admitted yet are
// guests, of which there are few; the oldest gives way to a new one, so that silent ones keep
// nobody out.
#pragma once

#include "remote/tls.h"

enum {
    RECEPTION_GUESTS_MAX = 64,
    RECEPTION_HANDSHAKE_MS = 10000 // That a handshake may take.
};

struct reception_arrival; // A connection that has come in.

struct reception_options {
    const char *address;         // HOST:PORT; port 0: the system's choice.
    struct tls_context *context; // Which decides about keys. Borrowed.

    // A connection whose key was taken, which is the function's from now on. It is a guest until
    // the function calls `reception_admit`, and may be cut until then. Called in a thread of the
    // connection, which lasts as long as the call.
    void (*arrive)(void *user, struct reception_arrival *arrival, struct tls *connection);

    // Nothing comes in any more: the calls of `arrive` have to end. May be NULL.
    void (*end)(void *user);
    void *user;
};

struct reception;

// Listens from now on; what connects waits until `reception_run` is called. TAPML_INVALID for what
// is no address, TAPML_UNAVAILABLE where it cannot listen. The caller closes the reception.
tapml_status reception_open(const struct reception_options *options,
                            struct reception **out_reception) STATUS_USED;
void reception_close(struct reception *reception); // NULL is allowed.
unsigned reception_port(const struct reception *reception);

// Serves until `stop` can be read, which it leaves as it is. Returns when all its threads have
// ended.
tapml_status reception_run(struct reception *reception, int stop) STATUS_USED;

// The connection is a guest no more: none that comes later takes its place.
void reception_admit(struct reception_arrival *arrival);
