// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Time.
#pragma once

#include <stdint.h>

// Nanoseconds of a clock that never goes back. [any]
uint64_t clock_now_ns(void);

// Seconds since 1970. [any]
int64_t clock_wall_s(void);
