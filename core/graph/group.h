// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Groups of neighbouring ops of a graph that become one op.
//
// A rule names groups by the ops that follow one another, each of which reads what one before it
// has computed, or by the part of the graph that is below an instance: "layers.*" makes a group of
// each layer. The new op has the values at the borders of the group as its parameters, and the
// group as its plain form (schema/plain_form.h); its name is "group.NAME." and a digest of all
// that, so that groups of one kind are one op. Everything behind the graph (plans, cases, places)
// then sees an op like any other.
#pragma once

#include "graph/graph.h"
#include "schema/catalogue.h"

// All texts are borrowed.
struct group_rule {
    const char *name;  // Letters, digits and '_'.
    const char *ops;   // Short or full names, with blanks between them: "rms_norm linear"; or NULL,
    const char *below; // and a glob of instances instead: "layers.*".
};

// Replaces the groups of the rules, the first that matches first, in a graph that nothing uses yet.
// The catalogue takes in the new ops; their memory is in `arena`, which outlives it. `out_counts`
// has the number of groups of each rule. TAPML_INVALID names a group that has more values at its
// borders than an op has parameters, or an op that cannot be in one; then the graph is of no use.
tapml_status group_apply(struct graph *graph,
                         const struct group_rule *rules,
                         size_t rule_count,
                         struct catalogue *catalogue,
                         struct arena *arena,
                         uint32_t *out_counts) STATUS_USED;

// The name of a rule in that of a group's op: "norm_linear" and its length of
// "group.norm_linear.0a1b2c3d". Returns 0 for any other op.
size_t group_rule_name(const char *op_name, const char **out_name);
