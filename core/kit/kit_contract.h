// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of level `contract` that are about components: the states they go through, what they leave
// behind, hosts of other minors, and what they say of devices and ops.
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_contract_checks(void);
