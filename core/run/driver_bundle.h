// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The bundle of a driver: a store without a case, which says what check of the driver fails
// (verify/driver_check.h) and with what seed. So it can be made again on any device, by whoever
// gets the file.
//
// One thread.
#pragma once

#include "verify/driver_check.h"

struct store;

// All is borrowed.
struct driver_bundle_options {
    const char *path;                    // Of the file: what was there goes.
    const struct place *place;           // Where it failed, open.
    size_t check;                        // Index of what failed,
    uint64_t seed;                       // the seed that it was made with,
    const struct driver_result *failure; // and what was found.
};

// Failures are those of the store, which name it, and TAPML_NO_MEMORY.
tapml_status driver_bundle_write(const struct driver_bundle_options *options) STATUS_USED;

// Whether a store is the bundle of a driver.
int driver_bundle_is(struct store *store);

// Reads which check it is about. TAPML_INVALID names the file and what was found there in place of
// a check of this host or of a number: a bundle comes from someone else.
tapml_status
driver_bundle_read(struct store *store, size_t *out_check, uint64_t *out_seed) STATUS_USED;
