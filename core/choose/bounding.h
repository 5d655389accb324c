// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Decides most of a large choice before it is made (approximate bounding, arXiv 2402.16442, section
// 4): what a point adds lies between what it adds when all undecided neighbours are chosen, too,
// and when none is. A point whose least is beyond the k-th largest most is in; one whose most is
// below the k-th largest least is out; each decision narrows the bounds of its neighbours.
//
// Exact bounds decide little, so the least counts only a sample of the undecided neighbours. The
// decisions are then likely right and not certain; a share of 1 makes them certain: some best
// choice agrees with them.
//
// Pure; any thread. The same seed gives the same decisions.
#pragma once

#include "choose/objective.h"

enum bounding_state { BOUNDING_OPEN, BOUNDING_IN, BOUNDING_OUT };

struct bounding_options {
    size_t budget; // Points to choose, those that are in at the begin among them.
    double share;  // Of the undecided neighbours that count: above 0, at most 1.
    uint64_t seed;
};

struct bounding_counts {
    size_t in, out; // What was decided,
    size_t rounds;  // and in how many rounds.
};

// Decides points of `io_states` (enum bounding_state) that are open. At least `budget` points are
// left in or open, unless fewer were. Costs must be those of a count. TAPML_NO_MEMORY is the one
// failure.
tapml_status bounding_run(const struct objective *objective,
                          const struct bounding_options *options,
                          uint8_t *io_states,
                          struct bounding_counts *out_counts) STATUS_USED;
