// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Delta debugging: the smallest part of a set that still fails.
//
// The test is called in the thread of the caller; its failures are the only ones.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// Tests whether the set with these members fails. `*out_fails` is written on TAPML_OK.
typedef tapml_status (*bisect_test_fn)(void *user,
                                       const uint32_t *members,
                                       size_t count,
                                       int *out_fails);

// ddmin (Zeller and Hildebrandt, 2002): reduces `members` in place to a subset that fails and of
// which no single member can be left out. The whole set has to fail. A status that is not TAPML_OK
// ends the search with it.
tapml_status
bisect_minimise(uint32_t *members, size_t *count, bisect_test_fn test, void *user) STATUS_USED;
