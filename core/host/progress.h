// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How far a long piece of work is: a bar on a terminal, plain lines otherwise.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct progress {
    const char *phase;
    uint64_t begin_ns;
    uint64_t shown_ns;
    int is_terminal;
    int is_quiet;
};

// Begins a phase: "carve", "replay on gpu". The text is borrowed.
void progress_begin(struct progress *progress, const char *phase, int quiet);

// Shows `done` of `all`, at most ten times a second on a terminal and every five seconds else, with
// the time left, reckoned from what is done. Returns what interrupt_check says.
tapml_status progress_show(struct progress *progress, size_t done, size_t all) STATUS_USED;

// Ends the phase with a line that stays: what came out, and the time it took.
void progress_end(struct progress *progress, const char *format, ...) STATUS_PRINTF(2, 3);
