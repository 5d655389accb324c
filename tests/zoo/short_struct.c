// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its description ends where minor 0 goes on.
#define ZOO_PLUGIN_BYTES 16
#include "zoo.h"
