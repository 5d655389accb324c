// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of level `load`: the library is opened and asked for its description. Nothing is probed.
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_load_checks(void);
