// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Crashes as soon as it is asked what it is.
#include "deeds.h"

#define ZOO_QUERY_DEED() deed_crash()
#define ZOO_OP_DEED()    ((void)0)
#include "zoo.h"
