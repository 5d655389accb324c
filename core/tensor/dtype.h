// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Element types: names, sizes, and single values as doubles.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

// "f32"; "?" for a type that is not known.
const char *dtype_name(uint32_t dtype);

// TAPML_F32 for "f32"; 0 for a name that is not known.
uint32_t dtype_find(const char *name);

// Bytes of an element.
size_t dtype_bytes(uint32_t dtype);

int dtype_is_float(uint32_t dtype);
