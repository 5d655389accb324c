// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op closes what is not its own.
#include "deeds.h"

#define ZOO_OP_DEED() deed_close()
#include "zoo.h"
