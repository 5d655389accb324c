// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the commands that check a driver print of it: a line for the device, one for each check.
#pragma once

#include "verify/driver_check.h"

// Device, driver and seed, and the heads of the columns.
void driver_listing_begin(const struct backend *backend, uint64_t seed);

// The outcome of a check, and why it is not a pass.
void driver_listing_check(size_t index, const struct driver_result *result);
