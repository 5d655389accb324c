// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op throws a C++ exception that nobody catches.
void zoo_throw(void);

#define ZOO_OP_DEED() zoo_throw()
#include "zoo.h"
