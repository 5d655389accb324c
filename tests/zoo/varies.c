// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Right each time that somebody looks, but for one thing that must not count (docs/invariance.md):
// its linear and its state_append are those of zoo_varying.h.
#define ZOO_SUPPORTS_DEED(name)                                                                    \
    if (!takes(op, args, n_args, answer)) {                                                        \
        return TAPML_OK;                                                                           \
    }
#define ZOO_OP_FILE "zoo_varying.h"
#include "zoo.h"
