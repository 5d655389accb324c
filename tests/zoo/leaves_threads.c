// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op leaves a thread behind that never ends.
#include "deeds.h"

#define ZOO_OP_DEED() deed_leave_thread()
#include "zoo.h"
