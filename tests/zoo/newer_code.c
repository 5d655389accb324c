// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Needs a minor that no host has yet, while its note says 1.0.
#define ZOO_NEEDED (TAPML_ABI_MINOR + 1u)
#include "zoo.h"
