// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Addresses of other machines: `tapml://HOST:PORT`, and HOST:PORT to listen at. HOST is a name or a
// number, one of IPv6 in brackets; an empty one stands for all of this machine's.
#pragma once

#include "base/status.h"

enum { ADDRESS_HOST_BYTES = 256, ADDRESS_PORT_BYTES = 6 };

struct address {
    char host[ADDRESS_HOST_BYTES]; // Without brackets.
    char port[ADDRESS_PORT_BYTES]; // Digits, 0 to 65535.
};

// TAPML_INVALID names the text and what is expected.
tapml_status address_parse_url(const char *text, struct address *out_address) STATUS_USED;
tapml_status address_parse(const char *text, struct address *out_address) STATUS_USED;

// A socket that is connected within `timeout_ms`, which the caller owns. TAPML_UNAVAILABLE with
// what the system says of the last address that was tried.
tapml_status
address_connect(const struct address *address, int timeout_ms, int *out_socket) STATUS_USED;

// For a socket that a machine has connected to this one: small messages are not held back, and a
// machine that is gone is noticed. `address_connect` has done so.
void address_set_up(int socket);

// A socket that listens, which the caller owns. `out_port` is the port, also where the system has
// chosen it (port 0).
tapml_status
address_listen(const struct address *address, int *out_socket, unsigned *out_port) STATUS_USED;
