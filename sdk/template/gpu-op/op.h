// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The op of this driver: what `own` of the driver table takes.
#pragma once

#include <tapml/gpu/driver.h>

extern const struct gpu_own op_own;
