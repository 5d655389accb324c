// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The fault injector: a backend that wraps a backend and corrupts what it computes.
//
// With it the search for wrong ops is tested on ops that are wrong on purpose. It uses the table of
// the backend only, so faults can be injected into every backend, and reads and writes only what
// the call itself may write. `docs/faults.md` says what each kind does and what it imitates. Faults
// of the driver are injected by another wrapper below this one (verify/driver_fault.h). A call
// without an instance is corrupted by these alone.
//
// One thread, that of the inner backend.
#pragma once

#include "device/backend.h"
#include "exec/place.h"
#include "verify/fault_rule.h"

struct fault;

// Makes an injector of `rules` (copied; their texts are borrowed) around `inner`, which is
// borrowed. Several rules that match a call are applied in their order. Calls are counted for each
// rule and instance, as long as the injector lives; extra calls (of derived cases) are corrupted as
// the next call would be, and not counted. The caller owns the injector, whose backend is
// `fault_backend`; `fault_destroy` accepts NULL. TAPML_NO_MEMORY is its one failure.
tapml_status fault_create(struct backend *inner,
                          const struct fault_rule *rules,
                          size_t rule_count,
                          struct fault **out_fault) STATUS_USED;
void fault_destroy(struct fault *fault);
struct backend *fault_backend(struct fault *fault);

// The same as a link of a chain (exec/place), which owns the injector, with the faults of the
// place's settings. `fault_of` is the injector whose backend such a link has made.
struct place_link fault_link(void);
struct fault *fault_of(struct backend *backend);

// How many calls the rule `index` has corrupted so far, of a driver's transfers and launches; 0 if
// none has matched it yet.
uint64_t fault_triggered(const struct fault *fault, size_t index);
