// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml.identity/1 for every driver: the digest of an op covers the code of this library that the
// op runs through, the sources of the driver, and each kernel that the op may launch, as the tables
// of the driver have it. That of an op of the driver's own covers all code and all kernels.
#pragma once

#include "objects.h"

// The interface of `device`; NULL where the driver does not say what it is made from.
const tapml_identity *gpu_identity(const struct gpu_device *device);
