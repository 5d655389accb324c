// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Aligns two sequences: what stands in both in the same order, as a text comparison does it.
#pragma once

#include "base/status.h"

#include <stddef.h>

#define SEQUENCE_NONE ((size_t)-1)

// Sequences whose counts have a larger product are not aligned.
enum { SEQUENCE_PRODUCT_MAX = 1 << 26 };

// Writes for each item of `first` the place of the same item in `second`, or SEQUENCE_NONE: those
// of a longest common subsequence. TAPML_NO_MEMORY; TAPML_UNIMPLEMENTED: they are too long.
tapml_status sequence_align(const size_t *first,
                            size_t first_count,
                            const size_t *second,
                            size_t second_count,
                            size_t *out_places) STATUS_USED;
