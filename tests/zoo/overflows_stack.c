// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op has no bottom.
#include "deeds.h"

#define ZOO_OP_DEED() (void)deed_overflow_stack(0)
#include "zoo.h"
