// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op loses a mebibyte a call.
#include "deeds.h"

#define ZOO_OP_DEED() deed_leak()
#include "zoo.h"
