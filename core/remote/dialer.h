// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The way back, for a machine that hosts cannot reach: it dials a host that waits (remote/lobby.h),
// and offers itself. Who is connected changes nothing about who greets: the host speaks first.
//
// There is always one connection more than hosts use, as long as something listens there. So a host
// that has lost its connection finds the next one, and another host beside it has one too. What
// fails is tried again with pauses that grow.
#pragma once

#include "remote/greeting.h"

enum { DIALER_PATIENCE_MS = 60000 }; // A connection that nobody has greeted is made anew after it.

struct dialer_options {
    const char *url;    // `tapml://HOST:PORT`.
    const char *folder; // Of the own key and of the peers.

    // A host has greeted: takes the connection over, and returns at once.
    void (*receive)(void *user, struct tls *connection, const struct greeting *greeting);
    void *user;
};

struct dialer;

// Reads the address and the keys; connects nowhere. TAPML_INVALID names what is wrong with them.
// The caller destroys it.
tapml_status dialer_create(const struct dialer_options *options,
                           struct dialer **out_dialer) STATUS_USED;
void dialer_destroy(struct dialer *dialer); // NULL is allowed.

// Dials until `stop` can be read, which it leaves as it is; in one thread. Failures are lines of
// the log, of equal ones behind each other the first one alone.
void dialer_run(struct dialer *dialer, int stop);

// Ends the pause that there may be: a host has lost its connection, or has ended. [any]
void dialer_hurry(struct dialer *dialer);
