// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op leaves a process behind.
#include "deeds.h"

#define ZOO_OP_DEED() deed_fork()
#include "zoo.h"
