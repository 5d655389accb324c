// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of level `contract` for components of the kinds beside the backend: their tables, and what
// they do where the host calls them.
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_kinds_checks(void);
