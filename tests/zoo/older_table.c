// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its table of functions ends where minor 0 did. What stands behind it is not the host's.
#define ZOO_TABLE_BYTES offsetof(tapml_backend, queue_wait)
#include "zoo.h"
