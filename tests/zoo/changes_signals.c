// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op takes over the handlers of signals.
#include "deeds.h"

#define ZOO_OP_DEED() deed_change_signals()
#include "zoo.h"
