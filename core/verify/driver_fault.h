// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Faults of a driver, injected: a backend that wraps a backend and corrupts transfers and launches,
// whatever op they serve. `docs/faults.md` says what each kind does.
//
// The injector of a chain is verify/fault.h, which puts this one below itself. Only what the caller
// may touch is touched: each transfer stays inside of the range that was asked for, but a fill that
// forgets its offset, which stays inside of the buffer.
//
// One thread, that of the inner backend.
#pragma once

#include "device/backend.h"
#include "verify/fault_rule.h"

#include <stddef.h>

struct driver_fault;

// Whether one of the rules is of the driver.
int driver_fault_is_wanted(const struct fault_rule *rules, size_t count);

// Makes an injector of those among `rules` that are of the driver (copied; their texts are
// borrowed) around `inner`, which is borrowed. The caller owns it; its backend is
// `driver_fault_backend`, and `driver_fault_destroy` accepts NULL. TAPML_NO_MEMORY is its one
// failure.
tapml_status driver_fault_create(struct backend *inner,
                                 const struct fault_rule *rules,
                                 size_t count,
                                 struct driver_fault **out_fault) STATUS_USED;
void driver_fault_destroy(struct driver_fault *fault);
struct backend *driver_fault_backend(struct driver_fault *fault);

// How many transfers or launches the rule `index` has corrupted so far.
uint64_t driver_fault_triggered(const struct driver_fault *fault, size_t index);
