// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The fault injector: a backend that wraps a backend and spoils what it computes.
//
// It proves the rest: what looks for wrong ops is tested with ops that are wrong on purpose. It
// works through the table alone, so every backend can be spoilt, and reads and writes only what the
// call itself may write. `docs/faults.md` says what each kind does and what it imitates.
#pragma once

#include "device/backend.h"
#include "exec/place.h"
#include "verify/fault_rule.h"

struct fault;

// Plants `rules` (copied; their texts are borrowed) around `inner`, which is borrowed. Several on
// one call are done in their order. Calls are counted per rule and instance, as long as the fault
// lives; extra ones (of derived cases) are spoilt as the next call would be, and not counted. The
// caller owns it; its backend is `fault_backend`.
tapml_status fault_create(struct backend *inner,
                          const struct fault_rule *rules,
                          size_t rule_count,
                          struct fault **out_fault) STATUS_USED;
void fault_destroy(struct fault *fault);
struct backend *fault_backend(struct fault *fault);

// The same as a link of a chain (exec/place), which owns the fault, with the faults of the place's
// settings. `fault_of` is the fault that such a link has made.
struct place_link fault_link(void);
struct fault *fault_of(struct backend *backend);

// Calls that the rule `index` has spoilt so far. A rule may wait for a call that never comes.
uint64_t fault_triggered(const struct fault *fault, size_t index);
