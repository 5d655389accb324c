// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What cases had run on when they were written to a bundle or a pack: metadata of the store, by
// which a replay says what is other where it runs.
//
// One thread. Failures are those of the store.
#pragma once

#include "base/text.h"

#include <stddef.h>

struct backend_info;
struct store;

struct recorded_on {
    const char *target; // Its name in the run.
    const char *component, *device, *device_name, *driver;
    const char *plugin, *plugin_version, *build;
};

// Writes the `index`-th target, from 0, inside of a transaction if there is one.
tapml_status
recorded_on_write(struct store *store, size_t index, const struct recorded_on *item) STATUS_USED;

// Appends a line for each target that the store has: "recorded on 'gpu': as here", or what is
// other: "recorded on 'gpu': here are other driver: 1.2 -> 1.3; build: 3a01 -> 77f2".
void recorded_on_print(struct store *store, const struct backend_info *here, struct text *out);
