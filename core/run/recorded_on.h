// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What cases had run on when they were written to a bundle or a pack: metadata of the store, by
// which a replay says what is other where it runs.
//
// One thread. Failures are those of the store.
#pragma once

#include "base/text.h"

#include <stddef.h>

struct arena;
struct backend_info;
struct store;

struct recorded_on {
    const char *target; // Its name in the run.
    const char *component, *device, *device_name, *driver;
    const char *plugin, *plugin_version, *build;
    const char *verdicts; // That its cases had there, each name once, with blanks between; or "".
    const char *injected_faults; // As fault_rule_print_all prints them; or "".
};

// At most so many targets are read of a store.
enum { RECORDED_ON_MAX = 64 };

// What an open backend is, of a target with this name, these injected faults and verdicts, which
// are borrowed.
struct recorded_on recorded_on_here(const char *target,
                                    const struct backend_info *here,
                                    const char *injected_faults,
                                    const char *verdicts);

// Writes the `index`-th target, from 0, inside of a transaction if there is one. A member that is
// NULL is "".
tapml_status
recorded_on_write(struct store *store, size_t index, const struct recorded_on *item) STATUS_USED;

// Reads it, with its texts in `arena`. 0: there is none; TAPML_NO_MEMORY.
tapml_status recorded_on_read(struct store *store,
                              size_t index,
                              struct arena *arena,
                              struct recorded_on *out_item,
                              int *out_has) STATUS_USED;

// Appends a line for each target that the store has: "recorded on 'gpu': as here", or what is
// other: "recorded on 'gpu': here are other driver: 1.2 -> 1.3; build: 3a01 -> 77f2". Target and
// verdicts of `here` do not count, nor does what the store does not say.
void recorded_on_print(struct store *store, const struct recorded_on *here, struct text *out);
