// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Aborts in its op, with a word before it.
#include "deeds.h"

#define ZOO_OP_DEED() deed_abort()
#include "zoo.h"
