// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Operators and kernels of a driver itself (struct gpu_own of tapml/gpu/driver.h): what they have
// to be, looked at once, before anything is computed with them.
#pragma once

#include "objects.h"

// TAPML_INVALID, with the kernel or the op, for what no driver can have: a kernel that is none of
// the dialect's, or that takes the place of none, or of one with other parameters; an op that is
// neither of the catalogue nor under a name of one's own; two alike. A driver with none is
// accepted.
tapml_status
gpu_own_check(const struct gpu_driver *driver, const struct gpu_host *host, tapml_call *call);

// Returns the number of ops of the driver itself.
uint32_t gpu_own_op_count(const struct gpu_driver *driver);

// The op of the driver's own with that name and version, or NULL.
const tapml_op_impl *gpu_own_find_op(const struct gpu_driver *driver, const tapml_op *op);

// Return the tables of the driver's own, which are empty where it has none.
const struct k_kernel *gpu_own_kernels(const struct gpu_driver *driver);
const struct k_kernel *gpu_own_replacements(const struct gpu_driver *driver);

// Returns the kernel of a table with that name and variant, or NULL.
const struct k_kernel *
gpu_own_find_kernel(const struct k_kernel *table, const char *name, uint32_t variant);
