// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Frames and descriptors over a connected Unix socket, for both of its ends. A socket and its inbox
// belong to one thread.
#pragma once

#include "base/status.h"

#include <tapml/wire/wire.h>

#include <stddef.h>

enum { SOCKET_DESCRIPTORS_MAX = 16 }; // In flight at the same time.

// Sends all of `bytes`; a descriptor (-1: none) is attached to the first of them. It may block.
// TAPML_UNAVAILABLE if the other side is gone.
tapml_status socket_send(int socket, const void *bytes, size_t size, int descriptor) STATUS_USED;

// Received data that is not read yet. Zeroed at first.
struct socket_inbox {
    unsigned char *data;
    size_t begin, end, capacity;
    int descriptors[SOCKET_DESCRIPTORS_MAX]; // In the order in which they came.
    size_t descriptor_count;
};

// Frees the data and closes descriptors that were not taken.
void socket_inbox_release(struct socket_inbox *inbox);

// Sets the time that socket_receive waits, which is unlimited at first.
void socket_set_timeout(int socket, int timeout_ms);

// Waits for data and appends it to the inbox. TAPML_UNAVAILABLE if the other side is gone,
// TAPML_DEADLINE, without a message, if nothing came in time.
tapml_status socket_receive(int socket, struct socket_inbox *inbox) STATUS_USED;

// Reads the next frame of the inbox. If the result is WIRE_FRAME, the frame is removed from the
// inbox and lives until the next socket_receive.
enum wire_result socket_next(struct socket_inbox *inbox, struct wire_frame *out_frame);

// Returns the oldest received descriptor, or -1. The caller owns it.
int socket_take_descriptor(struct socket_inbox *inbox);
