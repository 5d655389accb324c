// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which instances have crashed the worker, how often, and how first: one that has done it
// CRASHES_MAX times is not called again. A worker that somebody else has killed is no crash of the
// instance at hand, unless it happens KILLS_MAX times to calls of that one with no call of another
// between them. One thread.
#pragma once

#include "base/table.h"
#include "link/backlog.h"

enum { CRASHES_MAX = 2, CRASHES_KILLS_MAX = 3 };

struct crash {
    size_t count;
    char *first; // The message of the first one; NULL where all were excused.
};

struct crashes {
    struct table places; // Of instances, in
    struct crash *items;
    size_t count, capacity;
    char *killed; // The instance at which the worker was killed last, or NULL,
    size_t kills; // and how often there, one after the other.

    // What the last end has added: an excuse takes it away.
    size_t last, last_count; // To the crashes of `items[last]`,
    size_t last_kills;       // and to `kills`.
};

void crashes_init(struct crashes *crashes);
void crashes_release(struct crashes *crashes);

// Counts a crash to an instance that is known to be the cause; of any other nothing is noted.
void crashes_note(struct crashes *crashes,
                  const struct backlog_culprit *culprit,
                  const char *message);

// The same where the worker was killed by somebody else.
void crashes_note_kill(struct crashes *crashes,
                       const struct backlog_culprit *culprit,
                       const char *message);

// The last end counts for nothing: what brought it about is done again. Once for each end.
void crashes_excuse(struct crashes *crashes);

// A call of `instance` (or NULL) is made.
void crashes_note_call(struct crashes *crashes, const char *instance);

// Before a call of `instance` (or NULL). TAPML_INTERNAL where it is not called again; the message
// names `component`, and says how it crashed first.
tapml_status crashes_check(const struct crashes *crashes,
                           const char *component,
                           const char *instance) STATUS_USED;

// Instances may be called again: a search looks for the call that crashes.
void crashes_forgive(struct crashes *crashes);
