// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The last op calls of a queue, by number, to find the call of an error of queued work. One thread;
// nothing allocates or fails.
#pragma once

#include "device/backend.h"

enum { RECENT_CALLS_MAX = 2048, RECENT_CALLS_INSTANCE_BYTES = 96, RECENT_CALLS_TEXT = 256 };

// All zero to begin with.
struct recent_calls {
    uint64_t count; // Calls so far: the number of the last one.
    struct recent_call {
        const tapml_op *op;
        char instance[RECENT_CALLS_INSTANCE_BYTES]; // Cut.
    } calls[RECENT_CALLS_MAX];
};

// Forgets all calls: the next one has number 1.
void recent_calls_clear(struct recent_calls *recent);

// Notes a call; its number is then `count`. The op is borrowed.
void recent_calls_add(struct recent_calls *recent, const struct backend_call *call);

// "rms_norm at 'layers.0/norm'", or "op call 17" if that call is not among the last ones.
void recent_calls_print(const struct recent_calls *recent,
                        uint64_t number,
                        char out_text[RECENT_CALLS_TEXT]);
