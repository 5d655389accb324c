// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes the calls of a map over a dump, and adds them to a store of cases.
//
// One thread. What is no call of its op is refused with the line of its rule, and nothing of the
// dump is in the store then.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct checkpoint;
struct dump;
struct foreign_store;
struct import_map;

struct import_options {
    const struct dump *dump;
    struct import_map *map;
    const struct checkpoint *weights; // NULL: in the dump.
    struct foreign_store *store;
    const char *prompt;
    int64_t step; // 0 is the prefill.
};

struct import_counts {
    size_t calls, opaque;
    size_t idle_rules;       // Of which the dump has no output.
    size_t unused;           // Tensors of the dump that no rule names.
    const char *idle_rule;   // The first of them: its instance, which the map owns.
    const char *unused_name; // The first of them, which the dump owns.
};

// Adds all calls and commits. TAPML_INVALID: a tensor is missing, does not fit, or is there as a
// printed part alone; or no rule has a call. TAPML_NOT_FOUND: a weight is missing.
tapml_status importer_run(const struct import_options *options,
                          struct import_counts *out_counts) STATUS_USED;
