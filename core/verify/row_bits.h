// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that wraps a backend and notes the bits that calls of a model leave, token by token:
// two runs of the same tokens, in other calls, are compared by it, and the first op is found at
// which they part.
//
// A row of an output is that of a token if the output has as many as the call has tokens. Of a
// state with a region the rows of the region are; one that goes from token to token as a whole is
// that of the last token of the call. Each call is waited for and read.
//
// One thread, that of the inner backend. Failures are those of the inner backend, and
// TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

struct row_bits;

// What a run has left. Zeroed it is empty.
struct row_bits_run {
    struct row_bits_line *lines; // In the order of their first calls.
    size_t count, capacity;
};

void row_bits_run_release(struct row_bits_run *run);

// The same as a link of a chain (exec/place), which owns it; `*out_bits` is set when the chain is
// made.
struct place_link row_bits_link(struct row_bits **out_bits);

// From now on calls are noted in `run`, which outlives that; NULL: they are not.
void row_bits_note(struct row_bits *bits, struct row_bits_run *run);

// The next calls are those of the tokens `position` .. `position` + `count` - 1.
void row_bits_tokens(struct row_bits *bits, int64_t position, int64_t count);

struct row_bits_difference {
    const char *instance, *op; // Of the run that was given second; as long as that.
    int64_t token;
};

// The first op, in the order of `other`, that has left other bits for a token from `begin` on, of
// those that both runs have. 0: there is none.
int row_bits_compare(const struct row_bits_run *one,
                     const struct row_bits_run *other,
                     int64_t begin,
                     struct row_bits_difference *out_difference);
