// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of the levels `numerics`, an op each, and `models`, a model each: what the device
// computes, by cases that come with the kit or that somebody brings.
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_numerics_checks(void);
