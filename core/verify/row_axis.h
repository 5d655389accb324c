// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Along which axis the rows of a call lie: those that an op computes each by itself, or one behind
// the other. Schemas do not name it; it follows from their shapes. That the op does compute rows by
// themselves is for the reference to say, which computes them alone and together.
//
// Any thread.
#pragma once

#include "verify/cut.h"

struct row_axis {
    uint32_t index; // Of the axes of the cut.
    int64_t extent; // Rows of the call.
    uint32_t moved; // A bit for each parameter that has it, as its first axis.
    int has_states; // The call has some: its rows have positions.
    int is_chained; // One of them goes as a whole from each row to the next.
};

// Finds the first symbol of the schema that is the first axis of all outputs (of a call whose
// outputs are states alone: along which their regions grow), and no axis of a weight or a state.
// `*out_has` is 0 where there is none. TAPML_INVALID where the shapes cannot be evaluated.
tapml_status
row_axis_find(const struct cut *cut, struct row_axis *out_axis, int *out_has) STATUS_USED;

// The case with the rows `rows` of one without states, in this order, each as often as it is there:
// inputs dense, outputs zeros. Names and weights are borrowed from the case, all else is in
// `arena`. TAPML_NO_MEMORY is its one failure.
tapml_status row_axis_pick(const struct cut *cut,
                           const struct row_axis *axis,
                           const int64_t *rows,
                           int64_t count,
                           struct arena *arena,
                           struct carved_case *out_case) STATUS_USED;
