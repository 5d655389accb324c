// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What carries the frames of the link's near side to a server and back.
#pragma once

#include "base/status.h"

#include <tapml/wire/wire.h>

#include <stddef.h>

struct channel;

struct channel_vt {
    void (*release)(struct channel *channel);

    // Starts the far side, anew where it has ended.
    tapml_status (*start)(struct channel *channel);

    // Sends whole frames. A descriptor (-1: none) goes along with the first.
    tapml_status (*send)(struct channel *channel, const void *bytes, size_t size, int descriptor);

    // The next answer, which lives until the next call. TAPML_DEADLINE where none came in time; any
    // other failure means that the far side has ended, and the message says how: "was killed by
    // SIGSEGV".
    tapml_status (*receive)(struct channel *channel,
                            uint64_t timeout_ns,
                            struct wire_frame *out_frame);

    // Ends the far side by force.
    void (*stop)(struct channel *channel);

    // The last lines that the far side wrote for people, or "". Lives until the next call.
    const char *(*last_words)(struct channel *channel);
};

// First member of every channel.
struct channel {
    const struct channel_vt *vt;
};

// Calls through the table.
void channel_release(struct channel *channel);
tapml_status channel_start(struct channel *channel) STATUS_USED;
tapml_status
channel_send(struct channel *channel, const void *bytes, size_t size, int descriptor) STATUS_USED;
tapml_status channel_receive(struct channel *channel,
                             uint64_t timeout_ns,
                             struct wire_frame *out_frame) STATUS_USED;
void channel_stop(struct channel *channel);
const char *channel_last_words(struct channel *channel);
