// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its linear quantises what goes in as it declares: 8 bits, in blocks of 32.
#define ZOO_FORM                                                                                   \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_arithmetic_form), .inputs = TAPML_FORMAT_Q8, .block = 32            \
    }
#define ZOO_MOST 127.0F
#include "quantises.h"
