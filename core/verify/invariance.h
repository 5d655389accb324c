// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Whether what a target computes of its ops depends on what it must not depend on: a verdict of its
// own for each op and axis (verify/invariance_axis.h), beside those on cases.
//
// What did not pass when it was replayed is not tried: it has a verdict. Cases are those that stand
// for the others of their op (store/representative.h), and for INVARIANCE_STRESS a share of all.
//
// Each finding is a row (store/invariant.h), written when it is made. One that is there and of
// which nothing has changed that it depends on is not made again; others are deleted.
//
// One thread, and that of a load (verify/invariance_load.h). Failures are those of the store, the
// backends and the devices that calibrate; what an op does is a finding.
#pragma once

#include "verify/invariance_axis.h"
#include "verify/verdict.h"

enum {
    INVARIANCE_REPEATS = 16,       // Of a case alone,
    INVARIANCE_LOADED = 8,         // beside a busy queue,
    INVARIANCE_STRESS_REPEATS = 32 // and of one that is chosen for stress.
};

struct invariance_options {
    // Of these count registry, store, target, backend, faults and checkpoint.
    const struct verdict_options *verdicts;
    const struct verdict_list *list; // Of kept cases.
    struct invariance_settings settings;

    // Another queue of the target's device, opened when it is first needed; `*out_backend` lives as
    // long as the options. A failure but TAPML_CANCELLED is why axes with two queues are not tried:
    // a device may have no memory, or no session, for another one.
    tapml_status (*open_second)(void *user, struct backend **out_backend);
    tapml_status (*progress)(void *user, size_t done, size_t all); // Or NULL.
    void *user;
};

struct invariance_counts {
    size_t all;           // Rows.
    size_t tried;         // Of them, those that were made now.
    size_t differ;        // Within limits,
    size_t wrong;         // and wrong.
    uint64_t calls;       // Of the target, for those that were made now,
    uint64_t calibrating; // and of the devices that calibrate.
};

tapml_status invariance_judge(const struct invariance_options *options,
                              struct invariance_counts *out_counts) STATUS_USED;
