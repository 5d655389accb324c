// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The state of the process that a plugin could change behind the host's back.
//
// A library linked with -Ofast turns on flush-to-zero in the thread that loads it; a driver sets
// handlers; someone calls setlocale and every number in a report has a comma. So the state is saved
// before a plugin's code runs for the first time, compared behind it, and put back.
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

void process_save(struct process_state *out_state);

// Puts back what differs from `state`, lists it in `changes` ("floating-point mode, locale"), and
// releases `state`. Handlers of signals are listed in `handlers`: many drivers set some, and mean
// no harm.
void process_restore(struct process_state *state, struct text *changes, struct text *handlers);

// Rounding, flushing of subnormals, and traps of this thread: what changes numbers. Cheap enough to
// be asked around every call.
uint64_t process_float_mode(void);
void process_set_float_mode(uint64_t mode);
