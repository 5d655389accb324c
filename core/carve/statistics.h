// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the line of a call says of the values of an output.
//
// Any thread; nothing is kept.
#pragma once

#include "store/call_line.h"

// Statistics of `count` dense elements. The squares are added in an order of their own, the same on
// every machine.
void statistics_measure(uint32_t dtype,
                        const void *data,
                        uint64_t count,
                        struct call_statistics *out_statistics);
