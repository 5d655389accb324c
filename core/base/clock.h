// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The current time.
#pragma once

#include <stdint.h>

// Returns the nanoseconds of a monotonic clock with an arbitrary start. [any]
uint64_t clock_now_ns(void);

// Returns the seconds since 1970, in UTC. [any]
int64_t clock_wall_s(void);
