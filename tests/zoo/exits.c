// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Ends the process in its op.
#include "deeds.h"

#define ZOO_OP_DEED() deed_exit()
#include "zoo.h"
