// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How far a long piece of work is: a bar on a terminal, plain lines otherwise, and the run's lock
// file, which `tapml-host status` reads.
//
// The time left follows from what is counted: so much was done in this time, so much is left. Until
// a second has passed and something was done, nothing is said of it.
#pragma once

#include "base/status.h"
#include "run/run_lock.h"

#include <stddef.h>
#include <stdint.h>

struct progress {
    // Set by the caller after `progress_begin`, where they are known.
    const char *unit; // What is counted: "cases", or "".
    size_t skipped;   // Done by an earlier start: they are counted, and say nothing of the time.
    struct run_lock *lock; // Told too, or NULL.
    const char *note;      // What the line ends with: ", within 2 s", or NULL.

    // The module's.
    const char *phase;
    uint64_t begin_ns;
    uint64_t shown_ns;
    uint64_t published_ns;
    size_t shown_tenth; // Of `all`, in the last line.
    int is_shown;       // As a bar, on a terminal.
    int is_quiet;
};

// Begins a phase: "carve", "replay on gpu". The text is borrowed. It is a stage of the thread's
// timeline, if that has one, until the phase ends or another one begins.
void progress_begin(struct progress *progress, const char *phase, int quiet);

// Shows `done` of `all`: at most ten times a second on a terminal; else a line where a tenth more
// is done, but not within two seconds of the last, and one every 30 seconds. Returns what
// interrupt_check says.
tapml_status progress_show(struct progress *progress, size_t done, size_t all) STATUS_USED;

// Ends the phase with a line that stays: what came out, and the time it took.
void progress_end(struct progress *progress, const char *format, ...) STATUS_PRINTF(2, 3);

enum { PROGRESS_TIME_TEXT = 32 };

// "12 s", "3 min 20 s", "2 h 5 min".
void progress_print_time(double seconds, char out[PROGRESS_TIME_TEXT]);
