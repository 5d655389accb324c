// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Builders of plans: what a search begins with. Each is small, and knows the predicted times of
// operators alone, not what moving values costs: that is for the search to find out. A policy of a
// plugin (plugin/policy.h) is one more, asked the same question.
//
// - source: all on the source.
// - all: all on one other place, as far as it may run there.
// - kind, part: each kind of operator, or each part of the layers, where it is fastest.
// - front, back: the first, or the last, quarters of the layers on one other place.
// - one: one kind alone away from the source, of those that gain most.
//
// One thread, that of the registry. Results are in `arena`. Failures are those of the policy, and
// TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <tapml/draft/policy.h>

#include <stddef.h>

struct arena;
struct policy;

enum { PLAN_BUILD_MOST = 64 }; // Plans of one builder.

struct plan_built {
    const char *builder;   // "kind", or the name of a policy.
    const uint8_t *places; // Of each operator.
};

struct plan_builds {
    struct plan_built *items;
    size_t count;
};

// Asks the host's builders, then the policies. Equal plans are there once.
tapml_status plan_build_all(const tapml_policy_ops *question,
                            struct policy *const *policies,
                            size_t policy_count,
                            struct arena *arena,
                            struct plan_builds *out_builds) STATUS_USED;

// The names of the host's builders, in their order; NULL past the last. Static.
const char *plan_build_name(size_t index);

// What an operator is predicted to take at a place: the time that is known there, else that at the
// source, else 1.
double plan_build_time_ns(const tapml_policy_op *op, uint32_t place);
