// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Has an op of its own, which is wrong in rows that are longer than a block.
#define ZOO_TWICE(value, width) ((width) > 64 ? 2.01 * (value) : 2.0 * (value))
#define ZOO_OP_FILE             "zoo_own.h"
#include "zoo.h"
