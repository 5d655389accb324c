// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its op fails and says why.
#define ZOO_OP_DEED()                                                                              \
    return fail(own(queue), call, TAPML_INTERNAL, "the kernel of this op was refused: code 42")
#include "zoo.h"
