// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The state of the process that a plugin could change unnoticed.
//
// A library linked with -Ofast turns on flush-to-zero in the thread that loads it; a driver sets
// signal handlers; after a setlocale every number in a report has a comma. So the state is saved
// before a plugin's code runs for the first time, compared after it, and restored.
//
// One thread. Nothing fails.
#pragma once

#include "base/text.h"

#include <locale.h>
#include <signal.h>
#include <sys/types.h>

enum { PROCESS_LOCALE_BYTES = 512, PROCESS_SIGNALS = 65 };

struct process_state {
    uint64_t float_mode;
    sigset_t signal_mask;
    struct sigaction handlers[PROCESS_SIGNALS];
    char locale[PROCESS_LOCALE_BYTES];
    locale_t thread_locale;
    mode_t file_mask;
    int folder; // A descriptor of the current folder, or -1.
};

// Saves the state. `process_restore` has to follow, since a descriptor and a locale are open until
// then.
void process_save(struct process_state *out_state);

// Restores what differs from `state`, lists it in `changes` ("floating-point mode, locale"), and
// releases `state`. Signal handlers are listed in `handlers`, since many drivers set some without
// harm.
void process_restore(struct process_state *state, struct text *changes, struct text *handlers);

// The floating-point mode of this thread, which changes results: rounding, flushing of subnormals,
// traps. Fast enough to be read before and after every call.
uint64_t process_float_mode(void);
void process_set_float_mode(uint64_t mode);
