// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The side of a connection that connects: an address, the own key, and those that are paired. One
// thread.
#pragma once

#include "remote/tls.h"

struct connector_options {
    const char *url;    // `tapml://HOST:PORT`. Copied.
    const char *folder; // Of the own key and of the peers (remote/identity.h). Copied.
    const char *pairs;  // The command that pairs with an address, for messages. Borrowed.
};

struct connector;

// Reads the address and the keys; connects nowhere. TAPML_INVALID names what is wrong with them.
// The caller destroys the connector after its connections.
tapml_status connector_create(const struct connector_options *options,
                              struct connector **out_connector) STATUS_USED;
void connector_destroy(struct connector *connector); // NULL is allowed.

// Connects and shakes hands, for some seconds at most. TAPML_PRECONDITION where the other side
// shows a key that is not paired; TAPML_UNAVAILABLE and TAPML_DEADLINE where there is no
// connection.
tapml_status connector_connect(struct connector *connector, struct tls **out_tls) STATUS_USED;

const char *connector_url(const struct connector *connector);
