// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a wait for a backend costs by itself: the way there and back, if next to nothing is done.
//
// One thread, that of the backend, on which no work is pending.
#pragma once

#include "device/backend.h"

// Nanoseconds in which a stamp, or a few bytes there and back, are waited for, the median of some
// tries; 0 where the backend fails, which is found by what it is used for.
uint64_t round_trip_measure(struct backend *backend);
