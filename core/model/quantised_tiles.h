// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A quantised weight as an encoding in tiles (tensor/tiles.h): where its tensors lie as that
// encoding has them they are used in place, else they may be put into its order.
#pragma once

#include "base/status.h"
#include "model/quantised_parts.h"
#include "tensor/tiles.h"

struct checkpoint;

// Returns the encoding that has the values of a checked weight, or NULL: of a tile that no encoding
// has, of columns whose groups are not neighbours, and of powers of two so small that bf16 has not
// all values. `*out_lies` is whether the tensors lie as it has them.
const tapml_encoding *quantised_tiles_find(const struct quantised_weight *weight, int *out_lies);

// Returns the spans of a matrix of a weight that lies so.
struct tiles_spans quantised_tiles_spans(const struct quantised_weight *weight,
                                         const tapml_encoding *encoding,
                                         int64_t matrix);

// Puts a weight that does not lie so into the order of `encoding`, spans one after another.
void quantised_tiles_pack(const struct quantised_weight *weight,
                          const tapml_encoding *encoding,
                          void *out_target);
