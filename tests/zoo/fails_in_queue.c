// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op fails later, in the queue, and the wait says so.
#define ZOO_OP_DEED() (own(queue)->wrong = own(queue)->calls)
#include "zoo.h"
