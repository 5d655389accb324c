// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What follows from the messages that were sent and are not known to be done: which call is to
// blame if the far side has ended, and how long an answer may take.
//
// One thread; nothing allocates. Results point into the frames.
#pragma once

#include "link/message.h"

struct backlog {
    const unsigned char *frames; // Whole frames, as they were sent.
    size_t size;
    const struct compiled_op *const *ops; // By their index on the wire.
    uint32_t op_count;
};

// The call that the far side was at, or the last one before that.
struct backlog_culprit {
    const tapml_op *op;   // NULL: there is no call.
    const char *instance; // In the frames; "" where it has none.
    const char *doing;    // "while it ran"
    int is_sure;          // No other call can have been it.
    uint32_t queued;      // Calls up to there.
};

// `at` is the number of the message at which the far side was.
struct backlog_culprit backlog_find_culprit(const struct backlog *backlog, uint64_t at);

// " while it ran silu at 'layers.0/act'", or "".
void backlog_print(const struct backlog_culprit *culprit, char *out_text, size_t text_size);

// Whether one of them is a call of `op`.
int backlog_calls(const struct backlog *backlog, const tapml_op *op);

// What the calls may take by their own cost: 1 s for each 100 million operations, slower than any
// device that is worth waiting for.
uint64_t backlog_allowance_ns(const struct backlog *backlog);
