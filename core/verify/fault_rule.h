// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A rule of fault injection, as [fault.N] describes it: which calls are corrupted, and how. The
// injector is verify/fault.h; `docs/faults.md` says what each kind does and what it imitates.
//
// One thread. TAPML_INVALID names the rule.
#pragma once

#include "base/text.h"
#include "graph/graph.h"

enum fault_kind {
    FAULT_ARGUMENT,  // Before the call: another number.
    FAULT_DROP_TAIL, // This and the next: after the call, on outputs and on written rows of states.
    FAULT_SWAP_HALVES,
    FAULT_SHIFT_ROWS,
    FAULT_ZERO_ROW,
    FAULT_SCALE,
    FAULT_ROUND_F16,
    FAULT_TRUNCATE,
    FAULT_NEIGHBOUR_SCALE,
    FAULT_REVERSE_SCALES,
    FAULT_NAN,
    FAULT_SKIP_WRITE,
    FAULT_DELAY, // Before the call: the process waits.
    FAULT_CRASH, // This and the next: end or stop the process instead of the call.
    FAULT_KILL,
    FAULT_HANG,
    FAULT_MEMORY,
    FAULT_FILL_START, // This and the rest: of the driver (verify/driver_fault.h), which has no op.
    FAULT_FILL_TAIL,
    FAULT_WRITE_TAIL,
    FAULT_WRITE_LATE,
    FAULT_READ_TAIL,
    FAULT_STALE_ARGUMENTS,
    FAULT_WRITE_DELAY // Before a write: the process waits.
};

enum { FAULT_ARGUMENT_TEXT = 48 };

struct fault_rule {
    const char *name;     // For messages: "fault.1". All texts are borrowed.
    const char *op;       // Glob of the short or the full name.
    const char *instance; // Glob.
    const char *words;    // The kind as the user wrote it.

    // From the words, by fault_rule_parse.
    enum fault_kind kind;
    char argument[FAULT_ARGUMENT_TEXT]; // Of FAULT_ARGUMENT: the parameter that is changed.
    char change;                        // How: '+', '*' or '='.
    double operand;                     // By how much; or the factor of `scale`, the
                                        // milliseconds of `delay` and `write-delay`.

    int64_t from_call;  // The first of calls of an instance that is corrupted, from 1; or of the
                        // driver's transfers or launches.
    double probability; // That a call from `from_call` on is corrupted: above 0, at most 1.
    uint64_t seed;      // Of its random draws.
};

// Reads `rule->words`: "argument window +1", "scale 1.5", "drop-tail". TAPML_INVALID names an
// unknown kind with the nearest one.
tapml_status fault_rule_parse(struct fault_rule *rule) STATUS_USED;

// Appends a whole rule as one line; a run that is resumed must have the same lines. The status of
// `out_text` reports a failure.
void fault_rule_print(const struct fault_rule *rule, struct text *out_text);

// The same of several, one behind the other; and in `arena`, NULL where there is no memory.
void fault_rule_print_all(const struct fault_rule *rules, size_t count, struct text *out_text);
const char *fault_rule_keep_all(const struct fault_rule *rules, size_t count, struct arena *arena);

// Checks that the rule can corrupt an instance of `graph`. TAPML_INVALID if it matches no instance,
// or if its kind cannot corrupt any instance that it matches; the message then names the op kinds
// of the graph that it can corrupt. A kind of the driver corrupts without an op or instance, and
// TAPML_INVALID is a rule that names one.
tapml_status fault_rule_check(const struct fault_rule *rule, const struct graph *graph) STATUS_USED;

// Whether the kind ends or stops the process in which it is triggered.
int fault_rule_needs_worker(const struct fault_rule *rule);

// Whether the kind is one of the driver: it corrupts transfers and launches, whatever op they
// serve.
int fault_rule_is_driver(const struct fault_rule *rule);

// The instance of calls that look after the device (verify/canary.h). Rules strike it that name it
// by this word; no pattern does.
#define FAULT_RULE_CANARY "canary"

// Whether the rule matches an op and an instance.
int fault_rule_matches(const struct fault_rule *rule, const tapml_op *op, const char *instance);

// The index of the parameter of an op whose number the rule changes; n_params if there is none.
uint32_t fault_rule_find_number(const struct fault_rule *rule, const tapml_op *op);

// Whether an op writes parameters of this kind (TAPML_P_...): those that a fault corrupts after the
// call.
int fault_rule_is_written(uint32_t kind);
