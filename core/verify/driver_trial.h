// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A trial of a driver: what a check of verify/driver_check.h works with, and what it found.
//
// A trial has a buffer of the device, and in host memory what the buffer has to hold and what was
// read of it. Every transfer that prepares a trial or looks at it is whole: it begins and ends on a
// multiple of DRIVER_TRIAL_WHOLE, and nothing is queued beside it. So a check blames the function
// that it is about, and not the other ones that it needs.
//
// One thread, that of the backend.
#pragma once

#include "base/random.h"
#include "device/backend.h"

struct catalogue;

enum {
    DRIVER_TRIAL_WHOLE = 64,
    DRIVER_TRIAL_LARGEST = 1 << 20, // Bytes of the largest transfer that is tried.
    DRIVER_TRIAL_BYTES = DRIVER_TRIAL_LARGEST + 16 * DRIVER_TRIAL_WHOLE, // Of the buffer at most,
    DRIVER_TRIAL_LEAST = 1 << 16                                         // and at least.
};

enum driver_outcome { DRIVER_PASSED, DRIVER_FAILED, DRIVER_SKIPPED };

enum { DRIVER_REASON = 240 };

struct driver_result {
    enum driver_outcome outcome;
    uint64_t trials;            // That were made, up to the first that failed.
    uint64_t offset, size;      // Bytes: of the transfer or tensor of the last one.
    char reason[DRIVER_REASON]; // Of what failed or was skipped: a sentence; else "".
};

struct driver_trial {
    struct backend *backend;
    const struct catalogue *catalogue;
    struct random random;
    tapml_object *buffer;
    tapml_object *output;    // Of launches: a call may not write a buffer that it reads. Or NULL.
    uint64_t bytes;          // Of each buffer, a multiple of DRIVER_TRIAL_WHOLE.
    unsigned char *given;    // What is written: DRIVER_TRIAL_BYTES,
    unsigned char *expected; // as all three.
    unsigned char *found;
    struct driver_result *result; // Borrowed.
};

// Makes the buffer and the memory of a trial: a buffer of DRIVER_TRIAL_BYTES, or of what the device
// allows. If that is less than DRIVER_TRIAL_LEAST, the trial is skipped and has no buffer. `seed`
// draws all of its numbers. A failure is that of the backend, or TAPML_NO_MEMORY.
tapml_status driver_trial_open(struct backend *backend,
                               const struct catalogue *catalogue,
                               uint64_t seed,
                               struct driver_result *result,
                               struct driver_trial *out_trial) STATUS_USED;

// Makes the buffer for outputs. A failure is that of the backend.
tapml_status driver_trial_add_output(struct driver_trial *trial) STATUS_USED;

// Nothing may be pending.
void driver_trial_close(struct driver_trial *trial);

// Notes what is tried now.
void driver_trial_begin(struct driver_trial *trial, uint64_t offset, uint64_t size);

// The whole bytes around a transfer, and some more before and behind it that it must leave alone.
struct driver_window {
    uint64_t begin, size;
};
struct driver_window
driver_trial_window(const struct driver_trial *trial, uint64_t offset, uint64_t size);

// Draws `size` bytes, a multiple of 8.
void driver_trial_draw(struct driver_trial *trial, unsigned char *bytes, uint64_t size);

// Repeats the four bytes of a pattern, as a fill does.
void driver_trial_repeat(unsigned char *bytes, uint64_t size, uint32_t pattern);

// Draws new bytes for a window, writes them, and waits; `expected` has them then.
tapml_status driver_trial_prepare(struct driver_trial *trial,
                                  struct driver_window window) STATUS_USED;

// Reads a window, waits, and compares it with what is expected: the first byte that differs is the
// reason of the failure, behind a text about what was done, such as "a fill".
tapml_status driver_trial_look(struct driver_trial *trial,
                               struct driver_window window,
                               const char *what) STATUS_USED;

// Compares bytes that were read, which are a window of the buffer.
void driver_trial_compare(struct driver_trial *trial,
                          const unsigned char *expected,
                          const unsigned char *found,
                          struct driver_window window,
                          const char *what);

// Ends a check: the driver is wrong, or there is nothing to judge. Later ones change nothing.
void driver_trial_fail(struct driver_trial *trial, const char *format, ...) STATUS_PRINTF(2, 3);
void driver_trial_skip(struct driver_trial *trial, const char *format, ...) STATUS_PRINTF(2, 3);

// Whether the check has ended.
int driver_trial_is_over(const struct driver_trial *trial);
