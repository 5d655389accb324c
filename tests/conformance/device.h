// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The device under test, and how its results are judged.
//
// The program runs any backend of the build, chosen by the environment:
//   TAPML_PLUGIN     library below the build's root; plugins/opencl/tapml-opencl.so
//   TAPML_COMPONENT  opencl
//   TAPML_DEVICE     id of a device; the first one
//   TAPML_OPTIONS    options of the component: "tile=large synchronous=1"
//   TAPML_SHARE      "PART/PARTS": of the checks of each test the first and one of PARTS, the first
//                    of which is 0; "0/1", which is all. All parts together make every check.
//   TAPML_REQUIRE    components, with blanks between them, whose absence is a failure
// Without a driver or a device it is skipped, with exit status 77. What a component is not held to
// stands in limits/, with reasons.
#pragma once

#include "harness/op_fixture.h"
#include "harness/plugin.h"

#include <stdbool.h>

// What the environment asks for. The answer lives as long as the program.
struct plugin_options device_options(void);

// Opens the device for a test, which fails where there is none; closes it, and fails where the
// plugin keeps memory.
struct plugin *device_open(void);
void device_close(struct plugin *device);

// Widths below, at and above what kernels read at once, and sizes of a workgroup.
enum { DEVICE_WIDTH_COUNT = 16 };
extern const int64_t device_widths[DEVICE_WIDTH_COUNT];

// Whether the device takes activations in f16.
bool device_claims_half(struct plugin *device);

// Whether it takes states of keys and values in f16, beside activations in f32.
bool device_claims_half_state(struct plugin *device);

// Whether it takes states of keys and values in blocks.
bool device_claims_blocks(struct plugin *device);

// Runs `fixture`, whose output has `count` values, and compares with what its formula gives:
// nothing may be further off than `limit` of the root mean square. What lies beside the output must
// keep its bits. Frees `expected`.
//
// Where the device takes activations in f16 it must take them here, too: the fixture runs again
// with them, and is held to what the reference's f64 gives for the same numbers. What is off may be
// so by `limit` and by the rounding of an output in f16. Likewise for states alone in f16, and for
// those in blocks.
void device_check(struct plugin *device,
                  const struct op_fixture *fixture,
                  size_t count,
                  double *expected,
                  double limit,
                  const char *name);

// The same, each element by itself, in units of the last place of an f32.
void device_check_each(struct plugin *device,
                       const struct op_fixture *fixture,
                       size_t count,
                       double *expected,
                       double limit,
                       const char *name);

// An array to be filled; the test fails where there is no memory.
double *device_array(size_t count);
