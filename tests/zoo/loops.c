// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op never comes back.
#include "deeds.h"

#define ZOO_OP_DEED() deed_loop()
#include "zoo.h"
