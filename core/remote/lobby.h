// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where workers wait that have dialled a host (remote/dialer.h): it listens, takes in those whose
// key is paired, and keeps them until they are wanted. It says nothing to them; who is wanted is
// greeted by the taker.
//
// A lobby belongs to one thread; it has threads of its own while it is open.
#pragma once

#include "remote/tls.h"

enum { LOBBY_WAITING_MAX = 16 }; // Workers; what comes then is closed, and dials again.

struct lobby_options {
    const char *address; // HOST:PORT. Copied.
    const char *folder;  // Of the own key and of the peers. Copied.
};

struct lobby;

// Reads the address and the keys; listens nowhere. TAPML_INVALID names what is wrong with them.
tapml_status lobby_create(const struct lobby_options *options,
                          struct lobby **out_lobby) STATUS_USED;
void lobby_destroy(struct lobby *lobby); // Closes it, too. NULL is allowed.

// Listens. TAPML_UNAVAILABLE where that cannot be, as where another process does.
tapml_status lobby_open(struct lobby *lobby) STATUS_USED;

// Listens no more; who waits is sent away, and dials again.
void lobby_close(struct lobby *lobby);
int lobby_is_open(const struct lobby *lobby);

// The port of an open lobby; and its address, of a port 0 with the one that the system has chosen.
unsigned lobby_port(const struct lobby *lobby);
const char *lobby_address(const struct lobby *lobby);

// The worker that has waited longest, or the one with `key` where it is not NULL, once there is
// one; waits for `timeout_ms` at most. The connection is the caller's. TAPML_UNAVAILABLE where
// nobody has come, with why that may be.
tapml_status lobby_take(struct lobby *lobby,
                        const struct identity_hash *key,
                        int timeout_ms,
                        struct tls **out_tls) STATUS_USED;
