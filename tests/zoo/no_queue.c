// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Leaves out a function that every backend has.
#define ZOO_NO_QUEUE
#include "zoo.h"
