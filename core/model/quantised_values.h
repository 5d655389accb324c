// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The values of a quantised weight as f32: value = scale * (quant - zero point). A factor of the
// whole tensor changes the scale first. Each of the operations is rounded once, to nearest.
#pragma once

#include "base/status.h"
#include "model/quantised_parts.h"

#include <tapml/tensor.h>

// Writes the values of a checked weight: its matrices, each row by row, or each column by column if
// model plugins know it so. `dtype` is TAPML_F32 or TAPML_BF16, as which `out_values` has room.
// Returns TAPML_OK; TAPML_UNIMPLEMENTED if the type is bf16 and a value has no such form, and then
// the values are incomplete; TAPML_NO_MEMORY.
tapml_status quantised_values_write(const struct quantised_weight *weight,
                                    uint32_t dtype,
                                    void *out_values) STATUS_USED;
