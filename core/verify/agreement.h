// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What several targets say of an operator, in a sentence: how many of them agree with the source.
// Where none does, the source may be what is wrong.
//
// Pure; any thread.
#pragma once

#include "base/text.h"

#include <stddef.h>

enum agreement_opinion {
    AGREEMENT_NONE,   // It has judged no case of the operator.
    AGREEMENT_AGREES, // All that it has judged are right.
    AGREEMENT_WRONG
};

enum { AGREEMENT_TARGETS_MAX = 64 }; // That callers have room for.

struct agreement_target {
    const char *name;
    enum agreement_opinion opinion;
};

// Appends "silu: 2 of 3 targets agree with the source: a, c", without an end. `are_same` says that
// the wrong ones compute the same values; nothing is said of it where there is one. 0, and nothing,
// where fewer than two targets have an opinion, or none is wrong.
int agreement_print(const char *op,
                    const struct agreement_target *targets,
                    size_t count,
                    int are_same,
                    struct text *out);
