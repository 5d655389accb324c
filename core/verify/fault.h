// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The fault injector: a backend that wraps a backend and spoils what it computes.
//
// It proves the rest: whoever looks for wrong ops is tried with ops that are wrong on purpose. It
// works through the table alone, so every backend can be spoilt, and reads and writes only what the
// call itself may write. `docs/faults.md` says what each kind does and what it imitates.
#pragma once

#include "base/text.h"
#include "device/backend.h"
#include "graph/graph.h"

enum fault_kind {
    FAULT_ARGUMENT,  // Before the call: another number.
    FAULT_DROP_TAIL, // All others after it, on outputs and on written rows of states.
    FAULT_SWAP_HALVES,
    FAULT_SHIFT_ROWS,
    FAULT_ZERO_ROW,
    FAULT_SCALE,
    FAULT_ROUND_F16,
    FAULT_NAN,
    FAULT_SKIP_WRITE,
    FAULT_CRASH, // These end or stop the process, in place of the call.
    FAULT_HANG,
    FAULT_MEMORY
};

enum { FAULT_ARGUMENT_TEXT = 48 };

struct fault_rule {
    const char *name;     // For messages: "fault.1". All texts are borrowed.
    const char *op;       // Glob of the short or the full name.
    const char *instance; // Glob.
    const char *words;    // The kind as it was written.

    // From the words, by fault_parse.
    enum fault_kind kind;
    char argument[FAULT_ARGUMENT_TEXT]; // The parameter that `change` is made to,
    char change;                        // '+', '*' or '=',
    double operand;                     // with this; or the factor of `scale`.

    int64_t from_call;  // The first of an instance's calls that is spoilt, from 1.
    double probability; // That a call is spoilt, from there on: above 0, at most 1.
    uint64_t seed;      // Of its throws.
};

// Reads `rule->words`: "argument window +1", "scale 1.5", "drop-tail". An unknown kind is refused
// with the nearest.
tapml_status fault_parse(struct fault_rule *rule) STATUS_USED;

// Appends the whole of a rule in one line: what a run that goes on must have been.
void fault_print(const struct fault_rule *rule, struct text *out_text);

// Whether the rule spoils anything of `graph`. TAPML_INVALID where it matches no instance, or where
// its kind cannot be done to any that it matches; then with the op kinds of the graph to which it
// can.
tapml_status fault_check(const struct fault_rule *rule, const struct graph *graph) STATUS_USED;

// Whether the kind ends or stops the process that does it.
int fault_needs_worker(const struct fault_rule *rule);

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

// Calls that the rule `index` has spoilt so far. A rule may wait for a call that never comes.
uint64_t fault_struck(const struct fault *fault, size_t index);
