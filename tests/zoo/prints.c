// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op writes to standard output.
#include "deeds.h"

#define ZOO_OP_DEED() deed_print()
#include "zoo.h"
