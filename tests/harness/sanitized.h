// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Loops over numbers, sizes and pages, where each turn runs the same code: a sanitizer sees it
// after a few turns, and makes each take several times as long.
#pragma once

#include <tapml/plugin.h>

// By how much such a loop goes on: `step` with a sanitizer, 1 without.
#define SANITIZED_STEP(step) (TAPML_SANITIZER == 0u ? 1 : (step))

// How many turns are made of some: one of `share` with a sanitizer, which may be none.
#define SANITIZED_COUNT(count, share) (TAPML_SANITIZER == 0u ? (count) : (count) / (share))
