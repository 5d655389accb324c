// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Needs a minor that no host has yet, and says so everywhere.
#define ZOO_NEEDED (TAPML_ABI_MINOR + 1u)
#include "zoo.h"
