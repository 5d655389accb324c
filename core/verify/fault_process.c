// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "verify/fault_process.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// Takes memory until somebody ends the process, in steps that leave time for it.
static tapml_status take_memory(void)
{
    enum { STEP_BYTES = 1 << 24, STEP_MS = 10 };

    for (unsigned char *block = NULL; (block = alloc_new(STEP_BYTES)) != NULL;) {
        memset(block, 1, STEP_BYTES);
        (void)poll(NULL, 0, STEP_MS);
    }
    return status_no_memory();
}

// Sleeps, whatever signals come.
static void wait_for(double milliseconds)
{
    static const double NS_OF_MS = 1e6;
    static const uint64_t SECOND_NS = 1000000000;
    const uint64_t end_ns = clock_now_ns() + (uint64_t)(milliseconds * NS_OF_MS);

    for (uint64_t now_ns = 0; (now_ns = clock_now_ns()) < end_ns;) {
        const uint64_t left_ns = end_ns - now_ns;

        (void)nanosleep(&(struct timespec){.tv_sec = (time_t)(left_ns / SECOND_NS),
                                           .tv_nsec = (long)(left_ns % SECOND_NS)},
                        NULL);
    }
}

tapml_status fault_process_strike(const struct fault_rule *rule)
{
    if (rule->kind == FAULT_DELAY || rule->kind == FAULT_WRITE_DELAY) {
        wait_for(rule->operand);
    }
    if (rule->kind == FAULT_CRASH) {
        (void)signal(SIGSEGV, SIG_DFL);
        (void)raise(SIGSEGV);
    }
    if (rule->kind == FAULT_KILL) {
        (void)raise(SIGKILL);
    }
    while (rule->kind == FAULT_HANG) {
        (void)pause();
    }
    return rule->kind == FAULT_MEMORY ? take_memory() : TAPML_OK;
}
