// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A fault that is injected on purpose, as [fault.N] describes it: what is done to which calls. The
// injector is verify/fault.h; `docs/faults.md` says what each kind does and what it imitates.
//
// One thread.
#pragma once

#include "base/text.h"
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

    // From the words, by fault_rule_parse.
    enum fault_kind kind;
    char argument[FAULT_ARGUMENT_TEXT]; // The parameter that `change` is made to,
    char change;                        // '+', '*' or '=',
    double operand;                     // with this; or the factor of `scale`.

    int64_t from_call;  // The first of calls of an instance that is corrupted, from 1.
    double probability; // That a call is corrupted, from there on: above 0, at most 1.
    uint64_t seed;      // Of its random draws.
};

// Reads `rule->words`: "argument window +1", "scale 1.5", "drop-tail". An unknown kind is refused
// with the nearest.
tapml_status fault_rule_parse(struct fault_rule *rule) STATUS_USED;

// Appends the whole of a rule in one line: what a run that goes on must have been.
void fault_rule_print(const struct fault_rule *rule, struct text *out_text);

// Whether the rule corrupts anything of `graph`. TAPML_INVALID where it matches no instance, or
// where its kind cannot be done to any that it matches; then with the op kinds of the graph to
// which it can.
tapml_status fault_rule_check(const struct fault_rule *rule, const struct graph *graph) STATUS_USED;

// Whether the kind ends or stops the process that does it.
int fault_rule_needs_worker(const struct fault_rule *rule);

// Whether the rule speaks of an op and an instance.
int fault_rule_matches(const struct fault_rule *rule, const tapml_op *op, const char *instance);

// The parameter of an op whose number the rule changes; or its n_params.
uint32_t fault_rule_find_number(const struct fault_rule *rule, const tapml_op *op);

// Whether a parameter of this kind is one that an op writes, and kinds after the call corrupt.
int fault_rule_is_written(uint32_t kind);
