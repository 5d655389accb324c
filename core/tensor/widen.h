// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The values of a weight in plain form, for a device that does not take its encoding: of one in
// tiles, or in the blocks of a plugin's encoding. Pure: any thread. [any]
#pragma once

#include "tensor/encoding.h"
#include "tensor/tiles.h"

// Returns the plain dtype that devices get the values in: TAPML_BF16 or TAPML_F32. 0: they get
// blocks of the one or other encoding (encoding_on_device), or `encoding` is NULL.
uint32_t widen_dtype(const tapml_encoding *encoding);

// An encoded tensor, whose shape was checked by encoding_bytes.
struct widen_source {
    const tapml_encoding *encoding;
    const struct tiles_spans *spans; // Where tiles lie; NULL: one after another at `data`,
    const void *data;                // as blocks do.
    const int64_t *shape;
    uint32_t rank;
};

// Writes all values, dense, as `dtype`: TAPML_F32, or what widen_dtype returns.
void widen_values(const struct widen_source *source, uint32_t dtype, void *out_values);
