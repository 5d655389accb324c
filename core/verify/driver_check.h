// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The self-test of a driver: its memory and its queue, by checks that need no model.
//
// It works over the table of a backend, so it tests every driver, with the device and the link to a
// worker as parts of it. All sizes, offsets and bytes are drawn from a seed: the same seed makes
// the same trials. `docs/driver-check.md` says what each check is about.
//
// One thread, that of the backend. No work may be pending, and none is afterwards.
#pragma once

#include "exec/place.h"
#include "verify/driver_trial.h"

enum { DRIVER_CHECK_SEED = 1, DRIVER_CHECKS_MAX = 16 };

// The checks, in the order in which they are made. One that passes is used by those behind it, so
// the first that fails is the one to blame.
size_t driver_check_count(void);
const char *driver_check_name(size_t index);  // "fill"
const char *driver_check_about(size_t index); // What it checks, for people.

// The part of a place's chain that is tested: its driver, here or in a worker, with the faults that
// are injected there, and without wrappers that make buffers or activations of their own.
struct backend *driver_check_backend(const struct place *place);

// Makes one check. A failure of the backend is a failed check, with its sentence, unless it ends
// all (base/status.h): then the status is that failure, as is TAPML_NO_MEMORY. `backend` is the
// part of a chain that makes no activations of a reduced dtype.
tapml_status driver_check_run(struct backend *backend,
                              const struct catalogue *catalogue,
                              size_t index,
                              uint64_t seed,
                              struct driver_result *out_result) STATUS_USED;

// What all checks come to.
struct driver_summary {
    size_t passed, skipped;
    uint64_t trials;
    int is_wrong;
    size_t failed;                // Index of the check, if it is wrong.
    struct driver_result failure; // What that check found.
};

// Makes all checks up to the first that fails.
tapml_status driver_check_all(struct backend *backend,
                              const struct catalogue *catalogue,
                              uint64_t seed,
                              struct driver_summary *out_summary) STATUS_USED;
