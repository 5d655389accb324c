// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its linear declares 8 bits in blocks of 32, and uses 6.
#define ZOO_FORM                                                                                   \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_arithmetic_form), .inputs = TAPML_FORMAT_Q8, .block = 32            \
    }
#define ZOO_MOST 31.0F
#include "quantises.h"
