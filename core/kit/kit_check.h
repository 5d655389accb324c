// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A check of the conformance kit: one rule of the plugin ABI that a machine can see, and what
// became of it.
//
// Checks know nothing of each other. Each is made in a process of its own (kit/kit_process.h), so
// one may leave the process as it likes.
#pragma once

#include "kit/kit_result.h"

#include <stddef.h>
#include <stdint.h>

struct kit_subject;

// What a check is made on.
enum kit_scope {
    KIT_OF_FILE,      // The library and its manifest; nothing is opened.
    KIT_OF_PLUGIN,    // The plugin as it answers the query.
    KIT_OF_COMPONENT, // Each component,
    KIT_OF_BACKEND,   // each that is a backend, on one device,
    KIT_OF_MODEL,     // each that is an architecture,
    KIT_OF_OTHER,     // and each that is no backend.
};

// The order of the levels: what the lower ones find would make the higher ones fail too.
enum kit_level {
    KIT_STATIC,
    KIT_LOAD,
    KIT_CONTRACT,
    KIT_NUMERICS,
    KIT_MODELS,
    KIT_HOSTILE,
    KIT_SOAK,
    KIT_LEVEL_COUNT
};

// What stands on a check: would fail by the same, so that nothing is known of it where the check
// has failed. Of the same component, or of all where the check opens the plugin.
enum kit_ground {
    KIT_NO_GROUND,
    KIT_GROUND,          // All behind it.
    KIT_GROUND_OF_LEVEL, // Those of the next level.
};

struct kit_check {
    const char *id; // "E-03"
    enum kit_level level;
    enum kit_scope scope;
    const char *kind;  // Of KIT_OF_OTHER: the kind that it is for; NULL: all.
    const char *about; // The rule, as a statement: what holds where it passes.
    unsigned limit_s;  // The time that it may take.

    // Makes the check. `*io_result` is a pass before, and is told what is wrong by kit_result_*.
    void (*run)(const struct kit_subject *subject, struct kit_result *io_result);
    int number;       // Of the subject while `run` runs: which of several of its kind it is.
    const char *what; // The same: the op or the file that it is made by; or NULL.
    enum kit_ground ground;
    int hides_drivers; // Made where the libraries that the plugin opens by name are none.
};

// "static", "load" and so on; -1 for a word that is none.
const char *kit_check_level_name(enum kit_level level);
int kit_check_find_level(const char *word);
