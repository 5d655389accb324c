// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Nothing is wrong with this one, which has an op of the catalogue.
#define ZOO_OP_DEED() ((void)0)
#include "zoo.h"
