// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver is there, a device is not.
#define ZOO_DEVICE_COUNT 0
#include "zoo.h"
