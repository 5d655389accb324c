// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/interrupt.h"

#include "base/mapping.h"
#include "run/outcome.h"

#include <signal.h>
#include <unistd.h>

// A signal handler can reach nothing else.
static volatile sig_atomic_t interrupted;

static void take_note(int number)
{
    (void)number;
    if (interrupted) {
        _exit(OUTCOME_INTERRUPTED); // What is committed stays; nothing else needs an end.
    }
    interrupted = 1;
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = take_note, .sa_flags = SA_RESTART};

    (void)sigemptyset(&action.sa_mask); // Cannot fail on a set of our own.
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

tapml_status interrupt_check(void)
{
    return interrupted
               ? status_fail(TAPML_CANCELLED,
                             "interrupted; the same command resumes after the last finished step")
               : mapping_check();
}
