// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Graphs drawn by chance under plans drawn by chance, over a source and two devices that are late
// by chance (harness/late.h), by a clock that takes no time.
#pragma once

#include "base/status.h"
#include "device/backend.h"

#include <stdint.h>

// What many of them came to.
struct drawn_figures {
    uint64_t plans;
    uint64_t ops;
    uint64_t budgets;   // Held by devices.
    uint64_t refused;   // Budgets under which a program can never run, which was said.
    double most_of;     // The largest peak, of its budget.
    uint64_t failing;   // Runs with injected failures,
    uint64_t several;   // of several of them.
    uint64_t good;      // Outputs of these that depend on none, and were right.
    uint64_t waited_ns; // Device time with waits after each op,
    uint64_t ahead_ns;  // and queued ahead.
};

// Draws a plan from `seed` and runs it: on the source alone, with a wait behind each op, and queued
// ahead, which has to compute the same bits; again with a budget for each device, whose peak has to
// be within; again with ops that fail, of which the first has to be named, what does not depend on
// them has to be right, and afterwards everything. A failure says what was not so. `source` and
// `inner` compute the same, in host memory; borrowed.
tapml_status drawn_plans_try(struct backend *source,
                             struct backend *inner,
                             uint64_t seed,
                             struct drawn_figures *io_figures) STATUS_USED;
