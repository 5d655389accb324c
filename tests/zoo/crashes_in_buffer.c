// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Crashes when it should take memory.
#include "deeds.h"

#define ZOO_BUFFER_DEED() deed_crash()
#define ZOO_OP_DEED()     ((void)0)
#include "zoo.h"
