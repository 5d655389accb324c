// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Checks of level `contract` for policies: what each function of their table answers to a question
// of a few kinds, cases or changes, and whether it answers the same again.
#pragma once

#include "kit/kit_check.h"

// The checks, ended by one without an id. Static.
const struct kit_check *kit_policies_checks(void);
