// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Crashes when it is asked whether it can do what it has.
#include "deeds.h"

#define ZOO_SUPPORTS_DEED(name) (strcmp(name, "tapml.silu") == 0 ? deed_crash() : (void)0)
#define ZOO_OP_DEED()           ((void)0)
#include "zoo.h"
