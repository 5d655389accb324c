// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Has an op of its own with a weight in blocks, which takes the scale of the neighbouring block.
#define ZOO_SCALE(block) ((block) ^ 1)
#define ZOO_SUPPORTS_DEED(name)                                                                    \
    if (!takes(op, args, n_args, answer)) {                                                        \
        return TAPML_OK;                                                                           \
    }
#define ZOO_OP_FILE "zoo_blocks.h"
#include "zoo.h"
