// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/op_fixture.h"

#include <stdbool.h>

// What of a call has fewer bits: its activations and states are f16, or its states alone are, or
// the states that it reads lie in blocks.
enum half_part { HALF_ALL, HALF_STATES, HALF_BLOCKS, HALF_PART_COUNT };

// A call with that in fewer bits, where the schema allows it, and the same one in f32 with values
// that these bits hold: both mean the same numbers, but for the rounding of what is written.
struct half {
    enum half_part part;
    struct op_fixture reduced, f32;
    double *values[OP_FIXTURE_PARAMS_MAX];
};

// "f16", "states in f16", "states in blocks".
const char *half_name(enum half_part part);

// Makes both of `fixture`, whose other arguments they borrow. False where nothing of it can have
// fewer bits; there is nothing to be released then.
bool half_create(const struct op_fixture *fixture, enum half_part part, struct half *half);
void half_release(struct half *half);

// Whether the output that is read is f16.
bool half_rounds(const struct half *half);
