// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// All checks of the conformance kit, level by level.
#pragma once

#include "kit/kit_check.h"

// The checks in their order; NULL past the last. Static.
const struct kit_check *kit_list_at(size_t index);

// The check of an id, or NULL.
const struct kit_check *kit_list_find(const char *id);
