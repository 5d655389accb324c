// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its manifest asks for a feature that no processor has, so nobody may ask what it is: it crashes
// then.
#include "deeds.h"

#define ZOO_QUERY_DEED() deed_crash()
#define ZOO_OP_DEED()    ((void)0)
#include "zoo.h"
