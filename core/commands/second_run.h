// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A run of this program by another file, waited for: what a command tries whose answer is how a
// whole run goes. An interruption of this process is handed on to it.
//
// One thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct second_run {
    char *const *arguments; // The program's path first, NULL last.
    const char *output; // The file that gets all that it prints; NULL: it prints beside this one.
};

// How long it took. Targets that are wrong are no failure. TAPML_UNAVAILABLE if it cannot be
// started, TAPML_CANCELLED if this process is interrupted, TAPML_INTERNAL if it ends in any other
// way.
tapml_status second_run_wait(const struct second_run *run, uint64_t *out_elapsed_ns) STATUS_USED;
