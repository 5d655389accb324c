// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An output of a replayed case: what was expected, and what a backend computed.
//
// Any thread; contents are borrowed.
#pragma once

#include "store/case.h"

#include <stddef.h>

struct arena;

struct replay_output {
    const char *param;
    uint32_t dtype;
    const void *expected; // Dense; of the case.
    const void *computed; // Dense; lives until the next run.
    size_t rows, width;

    // What the guard found, with the sentence in `reason`.
    int wrote_outside; // Bits around the view or rows around the region changed, or an input did.
    int is_unwritten;  // Some of it was left as it was.
};

// Takes an output out of `found`, the bytes of its buffer after the call: dense, in `arena`, as
// rows of its last axis. Name and expected contents are borrowed from `argument`.
tapml_status replay_output_take(const struct case_argument *argument,
                                const void *found,
                                struct arena *arena,
                                struct replay_output *out_output) STATUS_USED;

// How many elements it has.
uint64_t replay_output_count(const struct replay_output *output);
