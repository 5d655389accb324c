// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its mul is wrong once silu was called in the same process: each is right alone.
#define ZOO_OP_FILE "zoo_gate.h"
#include "zoo.h"
