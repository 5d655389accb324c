// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The transport of frames between the host's side of the link and a server, in both directions. A
// channel belongs to one thread at a time; its owner releases it once.
#pragma once

#include "base/status.h"

#include <tapml/wire/wire.h>

#include <stddef.h>

struct channel;

struct channel_vt {
    void (*release)(struct channel *channel);

    // Starts the server, or restarts one that has ended.
    tapml_status (*start)(struct channel *channel);

    // Sends complete frames. A descriptor (-1: none) is attached to the first.
    tapml_status (*send)(struct channel *channel, const void *bytes, size_t size, int descriptor);

    // Returns the next answer, which lives until the next call. TAPML_DEADLINE if none came in
    // time, with 0 if none is there; any other failure means that the server has ended, and the
    // message says how: "was killed by SIGSEGV".
    tapml_status (*receive)(struct channel *channel,
                            uint64_t timeout_ns,
                            struct wire_frame *out_frame);

    // Kills the server.
    void (*stop)(struct channel *channel);

    // Returns the last lines that the server wrote to its standard streams, or ""; they live until
    // the next call.
    const char *(*last_words)(struct channel *channel);

    // Whether the last server was killed by SIGKILL, and not by this side: whoever did it, the work
    // at hand may have nothing to do with it. NULL: that cannot be.
    int (*was_killed)(const struct channel *channel);
};

// First member of every channel.
struct channel {
    const struct channel_vt *vt;
    int is_far;       // The server is on another machine, which sees no memory of this one.
    int lacks_stamps; // It is of a build that sends no stamps back.
};

// Each of these calls the function of the same name in the table; `struct channel_vt` describes
// them.
void channel_release(struct channel *channel);
tapml_status channel_start(struct channel *channel) STATUS_USED;
tapml_status
channel_send(struct channel *channel, const void *bytes, size_t size, int descriptor) STATUS_USED;
tapml_status channel_receive(struct channel *channel,
                             uint64_t timeout_ns,
                             struct wire_frame *out_frame) STATUS_USED;
void channel_stop(struct channel *channel);
const char *channel_last_words(struct channel *channel);
int channel_was_killed(const struct channel *channel);
