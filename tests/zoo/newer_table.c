// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its table of functions is longer than any host knows.
#define ZOO_TABLE_BYTES (sizeof(tapml_backend) + 64)
#include "zoo.h"
