// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case whose inputs lie near those of another one: what an op makes of a rounding.
#pragma once

#include "base/status.h"

struct arena;
struct carved_case;
struct random;

// A copy of a case whose arguments may be changed; what they point at is still that of `item`.
tapml_status near_case_copy(const struct carved_case *item,
                            struct arena *arena,
                            struct carved_case *out_case) STATUS_USED;

// The same, with each number of f32 that goes in moved by itself, at random: by up to `step` times
// its size, or if `step` is 0 to the next one on either side. Weights stay.
tapml_status near_case_make(const struct carved_case *item,
                            double step,
                            struct random *random,
                            struct arena *arena,
                            struct carved_case *out_case) STATUS_USED;
