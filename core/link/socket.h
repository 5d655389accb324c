// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Frames and descriptors over a connected Unix socket, as both of its ends use it.
#pragma once

#include "base/status.h"

#include <tapml/wire/wire.h>

#include <stddef.h>

enum { SOCKET_DESCRIPTORS_MAX = 16 }; // On their way at once.

// Sends all of `bytes`; a descriptor (-1: none) goes along with the first of them.
// TAPML_UNAVAILABLE where the other side is gone.
tapml_status socket_send(int socket, const void *bytes, size_t size, int descriptor) STATUS_USED;

// What has come and is not yet read. Zeroed to begin with.
struct socket_inbox {
    unsigned char *data;
    size_t begin, end, capacity;
    int descriptors[SOCKET_DESCRIPTORS_MAX]; // In the order in which they came.
    size_t descriptor_count;
};

void socket_inbox_release(struct socket_inbox *inbox);

// How long socket_receive waits; for ever where this was never said.
void socket_set_timeout(int socket, int timeout_ms);

// Waits for more and takes it in. TAPML_UNAVAILABLE where the other side is gone, TAPML_DEADLINE,
// without a message, where nothing came in time.
tapml_status socket_receive(int socket, struct socket_inbox *inbox) STATUS_USED;

// The next frame of the inbox; it lives until the next socket_receive. WIRE_FRAME takes it out.
enum wire_result socket_next(struct socket_inbox *inbox, struct wire_frame *out_frame);

// The oldest descriptor that came, which is the caller's from now on, or -1.
int socket_take_descriptor(struct socket_inbox *inbox);
