// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op takes all memory that there is.
#include "deeds.h"

#define ZOO_OP_DEED() deed_take_memory()
#include "zoo.h"
