// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An output of a replayed case: what was expected, and what a backend computed.
//
// Any thread; contents are borrowed. TAPML_NO_MEMORY is the one failure.
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

    // What the guard found; `reason` of the result has the sentence.
    int wrote_outside; // Bytes around the view, rows around the region or an input changed.
    int is_unwritten;  // A part of it was not written, or is poison.
};

// Copies an output from `found`, the bytes of its buffer after the call, into `arena`: dense, as
// rows of its last axis. Name and expected contents are borrowed from `argument`.
tapml_status replay_output_take(const struct case_argument *argument,
                                const void *found,
                                struct arena *arena,
                                struct replay_output *out_output) STATUS_USED;

// The number of elements of the output.
uint64_t replay_output_count(const struct replay_output *output);
