// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Stores of cases against the device that is checked, in a host as tapml-host is one: calls go
// through the façade under a guard, and what comes out is compared with the component that
// calibrates, which has to be installed. The stores stay as they are.
//
// One thread.
#pragma once

#include "kit/kit_check.h"

#include <tapml/op.h>

struct setup;

struct kit_cases {
    struct setup *setup; // NULL until it is open.
    const struct kit_subject *subject;
    struct kit_result *result;
    const char *store;    // The path of the one at hand.
    size_t judged, wrong; // Of all stores so far, derived cases among them.
    size_t unsupported;
    char refusal[256]; // Why the first of those is not supported.
    size_t unjudged;   // Ops of kit_cases_judge_op of which nobody says what is right,
    char doubt[320];   // and the first of these, with the reason.
    char first[384];   // What is wrong with the first of the wrong ones.
};

struct kit_cases_question {
    const char *store; // Path.
    const char *op;    // The name, with or without "tapml."; NULL: all, in the store's order.
    int derives;       // Cases that are derived from some of them, besides.
    int takes_f16;     // All of it again with activations in f16, if nothing was wrong in f32.
};

// Opens a host that knows the plugin, and those beside it. Returns whether it is open; the result
// says why not. The caller closes it in either case.
int kit_cases_open(const struct kit_subject *subject,
                   struct kit_result *io_result,
                   struct kit_cases *out_cases);
void kit_cases_close(struct kit_cases *cases);

// Opens the device anew and judges cases. A store that has none of the op counts nothing. Returns
// whether it could be done: the result is a failure if the store or the device cannot be used, and
// is skipped where there is no component that calibrates. A store whose cases the device would
// compute, if it had their weights, cannot be used, unless another case is wrong; the sentence says
// what puts them into it.
int kit_cases_judge(struct kit_cases *cases, const struct kit_cases_question *question);

// An op of which there are no cases.
struct kit_cases_op {
    const char *name; // In full.
    uint32_t version;
    const tapml_op *op; // Itself, where no plugin brings it, which outlives the cases; or NULL.
    int is_group;       // Judged only if the device takes it as a whole (tapml/draft/subgraph.h).
};

// Makes a case of an op from its schema (verify/derive_first.h), and judges that and what is
// derived from it, as kit_cases_judge does, also with activations in f16. What is right is what the
// component computes that calibrates the op, or its plain form by the ops of that one. Without
// either it counts as unjudged.
int kit_cases_judge_op(struct kit_cases *cases, const struct kit_cases_op *question);

// The path of a store of those that come with the kit, by the name of its model. Freed by
// alloc_free; NULL where there is none or no memory, and the result is told.
char *kit_cases_find(const char *model, struct kit_result *io_result);
