// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `target`: what each target of a run is, and why it was given up at its last start.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct target_row {
    const char *name;
    const char *backend;     // As the run's INI names it.
    const char *activations; // "f32" or "f16".
    const char *faults;      // What is injected, or "".
    const char *goal;        // The plan that is wanted, as text.
    int needs_all;           // An unsupported op makes the target wrong.

    // Of the device. All "" until the target was opened once.
    const char *component, *device, *device_name, *driver;
    const char *plugin, *plugin_version, *build;
    const char *identity; // Device, options and ways, as text: with another one nothing stays.
    const char *implementations; // Digest of all that its steps run through: else they do not stay.
    const char *given_up;        // Why the last start could not finish it, or "".
};

// Makes `items` the targets of the run, in this order. Of each the first six members count; what is
// known of a device stays. A target that is no longer named stays too, but is not listed. Writes
// several statements: call it inside of a transaction.
tapml_status
target_declare(struct store *store, const struct target_row *items, size_t count) STATUS_USED;

// Writes the members of the device, the identity and the implementations of `item`, a declared
// target, and that it is not given up.
tapml_status target_describe(struct store *store, const struct target_row *item) STATUS_USED;
tapml_status target_give_up(struct store *store, const char *name, const char *reason) STATUS_USED;

// The targets of the run in their order, in `arena`.
tapml_status target_list(struct store *store,
                         struct arena *arena,
                         struct target_row **out_items,
                         size_t *out_count) STATUS_USED;

// One of them by its name. TAPML_NOT_FOUND where there is none.
tapml_status target_find(struct store *store,
                         const char *name,
                         struct arena *arena,
                         struct target_row *out_item) STATUS_USED;
