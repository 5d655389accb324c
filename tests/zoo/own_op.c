// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Has an op of its own, which is right.
#define ZOO_TWICE(value, width) ((width) > 0 ? 2.0 * (value) : 0.0)
#define ZOO_OP_FILE             "zoo_own.h"
#include "zoo.h"
