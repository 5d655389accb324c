// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How a graph is divided over several places: which ops are computed in parts, and which values are
// therefore cut (docs/sharding.md).
//
// A few annotations say which ops are split, and how. From them it spreads: an op that reads what
// is cut is split too, if its schema has a rule (schema/split) that keeps the bits and cuts that
// axis; and all ops that use a state are split alike. Annotations are never overridden. What no
// rule reaches stays whole. graph/sharding_rewrite makes a graph of it.
//
// One thread. All here is plain data once it is made.
#pragma once

#include "graph/graph.h"

struct text;

enum { SHARDING_PARTS_MAX = 8 };

#define SHARDING_PLAN_PUBLISHED "hf"

// Borrowed texts.
struct sharding_options {
    const char *mesh; // The names of 2 to SHARDING_PARTS_MAX places, blanks between: a part each.

    // Globs of ops that are split, blanks between; or NULL. They match the instance of an op, or
    // the name of a weight that it reads, with or without ".weight" at its end. `column`: each part
    // computes some of the outputs. `row`: each part computes a summand of all outputs.
    const char *column;
    const char *row;

    // SHARDING_PLAN_PUBLISHED: besides, what the configuration of the model says (for who opens it,
    // plugin/model.h); or NULL.
    const char *plan;

    int spreads_nowhere; // Only what is annotated is split: for comparison.
};

enum sharding_kind {
    SHARDING_WHOLE,
    SHARDING_CUT, // Along an axis.
    SHARDING_SUM  // Each part has all elements, and the value is their sum.
};

// Of a base value of the graph.
struct sharding_value {
    enum sharding_kind kind;
    uint32_t axis;
    uint32_t family; // Of the shares at which it is cut.
    uint32_t op;     // The first op that had it cut.
};

struct sharding_op {
    uint32_t rule;   // Of its schema; GRAPH_NONE: the op is whole.
    uint32_t lead;   // Which of the leading axes, where the symbol stands for these.
    uint32_t family; // Of a split op.
    uint32_t from;   // The value that it was split for; GRAPH_NONE: it is annotated.
};

// Axes that are cut at the same shares, into `units` that stay together.
struct sharding_family {
    uint32_t parent; // Itself, or another one that it has become part of.
    int64_t units;   // A divisor of the extents of all axes; 0: of any.
};

struct sharding {
    const struct graph *graph; // Borrowed.
    const char *places[SHARDING_PARTS_MAX];
    uint32_t part_count;
    struct sharding_value *values; // Of each value of the graph; of views unused.
    struct sharding_op *ops;       // Of each op.
    struct sharding_family *families;
    uint32_t family_count;
    char *names; // Of `places`.
};

// Decides. The caller destroys it before the graph. TAPML_INVALID for a mesh that is none,
// annotations that contradict each other or that the schema of an op has no rule for, and axes that
// cannot be cut into as many parts; TAPML_NOT_FOUND for a glob that matches no op.
tapml_status sharding_create(const struct graph *graph,
                             const struct sharding_options *options,
                             struct sharding **out_sharding) STATUS_USED;
void sharding_destroy(struct sharding *sharding); // Accepts NULL.

// The rule of an op that is split, or NULL.
const struct split_rule *sharding_rule(const struct sharding *sharding, uint32_t op);

// The axis of the value in a tensor parameter of a split op that its rule cuts; GRAPH_NONE: the
// whole value goes to each part. Of a list the first value speaks for all.
uint32_t sharding_axis(const struct sharding *sharding, uint32_t op, uint32_t param);

// Whether a value that a split op reads, and whose `axis` its rule cuts, is cut there at the same
// shares: each place has its part already.
int sharding_is_alike(const struct sharding *sharding, uint32_t op, uint32_t value, uint32_t axis);

// Where part `part` of an axis of `extent` begins, of a family; `part_count` is the end of all.
int64_t
sharding_begin(const struct sharding *sharding, uint32_t family, int64_t extent, uint32_t part);
