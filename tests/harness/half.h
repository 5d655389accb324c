// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/op_fixture.h"

#include <stdbool.h>

// A call with its activations in f16, where the schema allows it, and the same one in f32 with
// values that f16 holds: both mean the same numbers, but for the rounding of what is written.
struct half {
    struct op_fixture f16, f32;
    double *values[OP_FIXTURE_PARAMS_MAX];
};

// Makes both of `fixture`, whose other arguments they borrow. False where nothing of it can be f16;
// there is nothing to be released then.
bool half_create(const struct op_fixture *fixture, struct half *half);
void half_release(struct half *half);

// Whether the output that is read is f16.
bool half_rounds(const struct half *half);
