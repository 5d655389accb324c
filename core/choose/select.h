// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The choice of points that is worth most within a budget (choose/objective.h): utilities are
// novelty and risk, neighbours are alike, and one point of each group is chosen before all others.
//
// Groups have no edges between them. So if there are too many points for one graph, a part of the
// groups has its graph after the other, and what is chosen of each is merged by what it adds: that
// loses nothing. A large choice by number is narrowed by approximate bounding first.
//
// Pure; any thread. Results are in `arena`. The same input gives the same choice.
#pragma once

#include "choose/bounding.h"
#include "choose/greedy.h"
#include "choose/objective.h"

struct arena;

enum {
    SELECT_NEAREST = 10,
    SELECT_BOUNDING_FROM = 20000, // Points from which on bounding is worth its time.
    SELECT_GRAPH_MAX = 2000000    // Points of one graph: some 400 MB.
};

struct select_input {
    struct nearest_points points;
    size_t group_count;
    const double *risks;  // Of each point, from 0 to 1.
    const double *costs;  // Above 0; NULL: each costs 1.
    double budget;        // Of costs in all.
    size_t bounding_from; // SELECT_BOUNDING_FROM and SELECT_GRAPH_MAX, but for tests.
    size_t graph_max;
};

struct select_pick {
    uint32_t index;
    int is_first;            // Of its group: chosen before all others.
    double gain;             // What it added when it was chosen,
    double utility, novelty; // its utility, and the part of it that its neighbours decide.
};

struct select_result {
    struct select_pick
        *picks; // The first of groups first, then those that add most for their cost.
    size_t count;
    size_t groups_left; // Groups of which the budget left no point.
    size_t parts;       // Graphs that were made.
    struct bounding_counts bounding;
    struct objective_certificate certificate;
};

tapml_status select_run(const struct select_input *input,
                        struct arena *arena,
                        struct select_result *out_result) STATUS_USED;
