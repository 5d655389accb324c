// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Pairing: two machines show each other their keys, and people compare a code of both.
//
// Somebody in between has other keys, so both sides show another code; the code itself never
// crosses the connection. Each side keeps the other's key once its own person has agreed.
#pragma once

#include "remote/identity.h"

struct pairing_options {
    const char *folder; // Of the own key and the peers.
    const char *name;   // The peer's from now on; NULL: made from its key.

    // Shows the code to a person and returns whether the other side has the same.
    int (*agrees)(void *user, const char *code);

    // Called once this side listens, with the port; or NULL.
    void (*ready)(void *user, unsigned port);
    void *user;
};

enum { PAIRING_NAME_BYTES = 48 };

// Connects to a machine that waits. `out_name` is the peer's name. TAPML_CANCELLED if the person
// has not agreed; TAPML_UNAVAILABLE if there is no connection.
tapml_status pairing_call(const char *url,
                          const struct pairing_options *options,
                          char out_name[PAIRING_NAME_BYTES]) STATUS_USED;

// Waits at HOST:PORT until a machine has shown a key.
tapml_status pairing_wait(const char *address,
                          const struct pairing_options *options,
                          char out_name[PAIRING_NAME_BYTES]) STATUS_USED;
