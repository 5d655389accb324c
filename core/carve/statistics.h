// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The statistics of an output's values that the line of a call has.
//
// Any thread; nothing is kept and nothing fails.
#pragma once

#include "store/call_line.h"

// Measures `count` dense elements at `data`. The squares are added in a fixed order, the same on
// every machine.
void statistics_measure(uint32_t dtype,
                        const void *data,
                        uint64_t count,
                        struct call_statistics *out_statistics);
