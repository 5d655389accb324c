// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the kept calls of a run have shown, and so what another call would add.
//
// One thread. TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "base/table.h"
#include "store/call_line.h"

struct seen {
    struct table classes;  // "phase instance class"
    struct table range_at; // "instance param" to position in `ranges`.
    struct seen_range *ranges;
    size_t range_count, range_capacity;
};

void seen_init(struct seen *seen);
void seen_release(struct seen *seen);

// A call is worth keeping where it is the first of its instance, phase and shape class, which is
// known before it,
tapml_status
seen_has_class(struct seen *seen, const struct call_line *call, int *out_has_class) STATUS_USED;

// or where it widens the range of values of an output: twice the largest magnitude, a new kind of
// non-finite.
tapml_status
seen_is_wider(struct seen *seen, const struct call_line *call, int *out_is_wider) STATUS_USED;

// Takes a kept call into account.
tapml_status seen_add(struct seen *seen, const struct call_line *call) STATUS_USED;
