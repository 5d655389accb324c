// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a report advises against its bottleneck, tried: a run's file with the keys set, a second run
// by it in a folder of its own, and both times.
//
// One thread. Failures name the file or the folder.
#pragma once

#include "commands/command.h"

#include <jansson.h>

struct applied_advice {
    const struct command *command; // That has run, with its options: the second run gets them, too,
    const char *config;            // but for the run's file,
    const char *dir;               // its folder,
    const char *into;              // and the file that is written.
};

// Checks, before a run, that nothing is there that would be written: neither the file nor the
// folder of the second run, which is that of the run with ".applied". TAPML_INVALID else.
tapml_status applied_advice_check(const struct applied_advice *advice) STATUS_USED;

// Writes the file and runs by it, and prints what was predicted and what was measured. Where
// nothing is to be set it says so, and writes and runs nothing. TAPML_INTERNAL if the second run
// fails; that its targets are wrong is no failure.
tapml_status applied_advice_try(const struct applied_advice *advice,
                                const json_t *report) STATUS_USED;
