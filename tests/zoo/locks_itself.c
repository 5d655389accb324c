// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op waits for itself.
#include "deeds.h"

#define ZOO_OP_DEED() deed_lock()
#include "zoo.h"
