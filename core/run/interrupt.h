// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// SIGINT and SIGTERM, and a checkpoint that was cut: the work ends after the step in hand. SIGINT,
// behind which somebody waits, is answered within a second, whatever that step is: a prompt on a
// slow source, a kernel that is compiled, a worker that does not answer. Where the step has not
// ended by then, the program ends without it, as it may at any moment: what is committed stays, and
// what a driver keeps outside, such as a browser's profile, is left to the next start.
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { INTERRUPT_EXIT = 130 }; // The exit code of an interrupted program.

// From now on the signals are taken note of. A second one ends the program at once. The timer of
// the process (ITIMER_REAL, SIGALRM) belongs to this module.
void interrupt_watch(void);

// TAPML_CANCELLED once a signal came, with a message that says how to go on; TAPML_INVALID once a
// file that is mapped became shorter.
tapml_status interrupt_check(void) STATUS_USED;

// That message.
const char *interrupt_sentence(void);

// A descriptor that can be read once the process is asked to end, in place of `interrupt_watch`:
// before other threads are made, which then have the same mask. The caller closes it.
// TAPML_UNAVAILABLE.
tapml_status interrupt_open(int *out_descriptor) STATUS_USED;

// Bytes for the begin of a file.
struct interrupt_farewell {
    int descriptor;
    const void *bytes;
    size_t size;
};

// What is written if the program has to end within a step; NULL: nothing. It is borrowed until
// others are set.
void interrupt_set_farewell(const struct interrupt_farewell *words);
void interrupt_drop_farewell(const struct interrupt_farewell *words); // If it is still that.

// Temporary files, and their folder: removed if the program has to end within a step.
struct interrupt_scratch {
    const char *folder;
    const char *const *files; // Those that are not there are passed over.
    size_t file_count;
};

// NULL: none. It is borrowed until others are set.
void interrupt_set_scratch(const struct interrupt_scratch *files);

// The message was printed: it is not repeated if the program then has to end without its last
// steps.
void interrupt_told(void);
