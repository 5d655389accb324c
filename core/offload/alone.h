// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What an offload comes to where there are cases and no model: an instance that fails in a kept or
// derived case is blamed, one of which no case was compared is unsupported, as an opaque one always
// is, and the others run on the target. Nothing is judged end to end.
//
// One thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

struct plan;
struct store;
struct verdict_list;

struct alone_options {
    struct store *store; // With the instances of its cases (store/instance.h).
    const char *target;
    const struct plan *goal; // What the target is to run.
    const struct verdict_list *verdicts;
};

struct alone_counts {
    size_t wanted, moved; // Instances that the goal gives to the target, and those that are right.
};

// Writes the rows of the target in `blame`, `step` and `offload`, in one transaction.
tapml_status alone_settle(const struct alone_options *options,
                          struct alone_counts *out_counts) STATUS_USED;
