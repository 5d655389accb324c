// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/op_fixture.h"

// What the tests of the plugin `cpu` share.

// Opens a device of it; NULL is the first. 0 threads is a host without a pool.
struct plugin *reference_open(const char *device, uint32_t threads);

// Closes it; the test fails where anything is left.
void reference_close(struct plugin *plugin);

// Runs `fixture` on every device and compares its output of `rows` rows with `expected`:
//
// - f64 gives the nearest float;
// - f32, f32-reversed and f32-blocked are within `limit` of the row's rms, and f32 gives the same
//   bits without a pool and on 1, 2 and 3 threads;
// - f16-rounded gives what f32 gives, rounded;
// - f64 and f32 give the same, rounded, for activations in f16 that hold the same numbers.
//
// No call may allocate memory.
void reference_check(const struct op_fixture *fixture,
                     size_t rows,
                     const double *expected,
                     double limit);

// Runs `fixture` on a device of a component and gives its output, to be freed: the call itself may
// allocate nothing. `out_ranges` is the number of ranges into which threads cut it; or NULL.
double *reference_output(const struct op_fixture *fixture,
                         const char *component,
                         const char *device,
                         uint32_t threads,
                         size_t *out_ranges);
