// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Makes an object whose table lies nowhere.
#include <tapml/abi.h>

static tapml_object garbage = {.vt = (const tapml_object_vt *)0x10};

#define ZOO_CREATE_DEED(out_root)                                                                  \
    do {                                                                                           \
        *(out_root) = &garbage;                                                                    \
        return TAPML_OK;                                                                           \
    } while (0)
#define ZOO_OP_DEED() ((void)0)
#include "zoo.h"
