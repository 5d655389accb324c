// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which shapes and value ranges the kept calls of a run have, to decide whether another call adds
// something.
//
// One thread. Failures are TAPML_NO_MEMORY, and of a store that is read.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "base/table.h"
#include "store/call_line.h"

struct seen {
    double growth;         // A magnitude that many times the largest one is wider.
    struct table classes;  // "phase instance class"
    struct table range_at; // "instance param" to position in `ranges`.
    struct seen_range *ranges;
    size_t range_count, range_capacity;
};

// Makes an empty set; `seen_release` frees its memory. Magnitudes are wider from SEEN_GROWTH on.
//
// A set of a part of the calls, in their order, is given a `growth` of 1: then all calls are new to
// it that are new to the set of all of them. For a call that is new to all is larger than all
// before: one as large would have been new itself, or within SEEN_GROWTH of what was.
enum { SEEN_GROWTH = 2 };
void seen_init(struct seen *seen);
void seen_release(struct seen *seen);

// Whether a kept call has the instance, phase and shape class of this one: without one the call is
// kept. Known before the call runs.
tapml_status
seen_has_class(struct seen *seen, const struct call_line *call, int *out_has_class) STATUS_USED;

// Whether the call widens the range of values of an output: twice the largest magnitude, a new kind
// of non-finite. Then it is kept too.
tapml_status
seen_is_wider(struct seen *seen, const struct call_line *call, int *out_is_wider) STATUS_USED;

// Adds a kept call.
tapml_status seen_add(struct seen *seen, const struct call_line *call) STATUS_USED;

// Adds the kept calls of a store, whose calls were seen before: of the prompts whose index is below
// `prompts_end`, of all if that is 0. After a failure some of them are there.
tapml_status seen_recall(struct seen *seen, struct store *store, int64_t prompts_end) STATUS_USED;

// Adds a call if it is new to the set; whether it was.
tapml_status
seen_add_new(struct seen *seen, const struct call_line *call, int *out_is_new) STATUS_USED;
