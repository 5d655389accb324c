// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Crashes when it is made.
#include "deeds.h"

#define ZOO_CREATE_DEED(out_root) deed_crash()
#define ZOO_OP_DEED()             ((void)0)
#include "zoo.h"
