// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The classes of shapes into which a device puts the kept cases of a store, each with what can be
// chosen there.
//
// One thread, that of the backend. Failures are those of the store and the backend, and
// TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "device/knobs.h"

struct checkpoint;
struct registry;
struct store;

enum { TUNING_CLASSES_CASES_MAX = 3 }; // Of a class; more of them take longer and say the same.

struct tuning_cases {
    const struct compiled_op *schema;
    struct knob_space space;
    int64_t ids[TUNING_CLASSES_CASES_MAX];
    size_t count; // Of ids.
    size_t all;   // Cases of the class.
};

struct tuning_classes {
    struct tuning_cases *items;
    size_t count;
    size_t cases;      // That were looked at,
    size_t no_choices; // and of these, those for which the device has nothing to choose.
};

struct tuning_classes_options {
    struct store *store;
    struct registry *registry;           // Whose catalogue has the ops.
    struct backend *backend;             // With the device.
    const struct checkpoint *checkpoint; // Of the weights; or NULL.
    const char *op;                      // With or without "tapml."; NULL: all.
};

// Finds the classes, in the order of the store's cases. What it finds is in `arena`.
tapml_status tuning_classes_find(const struct tuning_classes_options *options,
                                 struct arena *arena,
                                 struct tuning_classes *out_classes) STATUS_USED;
