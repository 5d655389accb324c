// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where a NaN or an infinity first arises in a run on the source: an element of a weight, or of
// what an op gives.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

enum { NONFINITE_TEXT = 1024 };

struct case_argument;

struct nonfinite {
    const struct graph *graph; // Borrowed.
    int is_found;
    char sentence[NONFINITE_TEXT]; // "" until one is found.
};

// Looks at what an op of the graph gave: the contents in `after` of its arguments. Only the first
// finding is kept, so calls are shown in the order in which they ran. If a weight that the op reads
// has such an element, the sentence names that, else the element of the output.
void nonfinite_look(struct nonfinite *nonfinite,
                    uint32_t op,
                    const struct case_argument *arguments);
