// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Element types: names, sizes, and single values as doubles.
#pragma once

#include "base/status.h"

#include <tapml/tensor.h>

// Returns the name of a type, such as "f32"; "?" for an unknown type. [any]
const char *dtype_name(uint32_t dtype);

// Returns the type of a name, TAPML_F32 for "f32"; 0 for an unknown name. [any]
uint32_t dtype_find(const char *name);

// Returns the bytes of an element of a known type. [any]
size_t dtype_bytes(uint32_t dtype);

// Whether the type is f16, bf16, f32 or f64. [any]
int dtype_is_float(uint32_t dtype);
