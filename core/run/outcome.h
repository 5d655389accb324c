// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How a command ends: the exit codes of the program.
#pragma once

#include "base/status.h"
#include "run/interrupt.h"

enum outcome {
    OUTCOME_OK = 0,
    OUTCOME_WRONG = 1,       // Something is wrong with a target.
    OUTCOME_USAGE = 2,       // Usage or configuration.
    OUTCOME_ENVIRONMENT = 3, // A driver, a device, memory or disk is missing.
    OUTCOME_UNKNOWN = 125,   // Of `replay --bisect`: neither right nor wrong can be told.
    OUTCOME_INTERRUPTED = INTERRUPT_EXIT
};

struct outcome_meaning {
    int code;
    const char *text; // "success"
};

// What each exit code of tapml-host means, for --help and manuals; ended by a text that is NULL.
extern const struct outcome_meaning outcome_meanings[];

// What a status means for the exit code.
enum outcome outcome_of(tapml_status status);

// The program that messages are of, "tapml-host" if nothing is said. `name` is borrowed. Before
// there is a second thread.
void outcome_set_program(const char *name);

// Prints the message of a failure as "PROGRAM: ..." and returns its code.
enum outcome outcome_report(tapml_status status);

// How the program ends after a command that ended with `outcome`: what it printed and what did not
// arrive is told, and makes a success OUTCOME_ENVIRONMENT.
enum outcome outcome_finish(enum outcome outcome);
