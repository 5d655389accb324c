// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Second moments of what the matrix products of a store's cases had as their inputs, by the weight
// that they read: the sum over all rows x of `tapml.linear` of x_i x_j, in f64. A delta is
// calibrated with them (model/delta_calibration.h).
//
// One thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

struct input_moments;

// Opens a store to read. Failures are those of store_open_to_read. The caller closes it; NULL is
// allowed there.
tapml_status input_moments_open(const char *path, struct input_moments **out_moments) STATUS_USED;
void input_moments_close(struct input_moments *moments);

// Gives those of a weight as [out, in] with `columns` inputs, columns x columns, which the caller
// frees by alloc_free; NULL where no case reads it so: one that is [in, out], an embedding. `user`
// is a struct input_moments, so that this is the find_moments of a delta's calibration.
// TAPML_INVALID names a case that is damaged; TAPML_NO_MEMORY.
tapml_status input_moments_find(void *user,
                                const char *weight,
                                uint64_t columns,
                                double **out_moments) STATUS_USED;
