// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of ops that the catalogue does not have: those of the plugin itself, and groups of ops
// that its device takes as one (tapml/draft/subgraph.h).
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_own_checks(void);
