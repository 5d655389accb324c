// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which bytes of its buffer a tensor can reach. Every number may be hostile.
#pragma once

#include <tapml/tensor.h>

// The byte behind the last one that a tensor (one panel) reaches, counted from the beginning of its
// buffer; 0 where it has no element. Returns 0 where the numbers make no sense: an unknown dtype,
// a rank above TAPML_MAX_RANK, an extent or stride below 0, a sum beyond 64 bits.
int extent_end(const tapml_tensor *tensor, uint64_t *out_end_bytes);
