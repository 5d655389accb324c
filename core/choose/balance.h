// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An order of which every prefix is like the whole (PairBalance of CD-GraB, arXiv 2302.00845): of
// each pair of points behind one another the difference gets a sign so that a running sum of signed
// differences stays small; the point with the plus goes to the next free place from the left, the
// other one to the next from the right. A few passes, each over the order of the one before.
//
// Pure; any thread. The same input gives the same order.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct balance_points {
    const float *values; // count x dimensions
    size_t dimensions;
    size_t count; // Below 2^32.
};

enum { BALANCE_PASSES = 8 };

// Orders the points; `io_order` has the order that the first pass goes over, each index once.
// TAPML_NO_MEMORY is the one failure.
tapml_status
balance_run(const struct balance_points *points, size_t passes, uint32_t *io_order) STATUS_USED;
