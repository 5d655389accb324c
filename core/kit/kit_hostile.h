// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of the levels `hostile`: memory that runs out, drivers that are not there, calls in an
// order that nobody has thought of; and `soak`: the same for as long as is asked for.
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_hostile_checks(void);
