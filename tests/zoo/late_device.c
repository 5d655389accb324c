// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// It has no device, and nobody asks before one is used: its manifest says so.
#define ZOO_DEVICE_COUNT 0
#include "zoo.h"
