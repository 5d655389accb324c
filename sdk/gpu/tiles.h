// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights in tiles (docs/encodings.md): what kernels are told of one (dialect/k_tiles.h). Its spans
// lie one after another in one buffer; to kernels it is one of blocks, whose scales are found by
// row and column.
//
// All functions but gpu_tiles_are_in take a weight that gpu_tiles_check has accepted. Pure: any
// thread.
#pragma once

#include <tapml/gpu/view.h>

// Whether an encoding says that it is one of tiles, known or not. NULL is none.
int gpu_tiles_are_in(const tapml_encoding *encoding);

// Refuses tiles that are not known, other tensors than matrices, and spans with buffers of their
// own.
tapml_status gpu_tiles_check(struct gpu_queue *queue, tapml_call *call, const tapml_tensor *weight);

// Returns the distance of rows, in quants. Rows begin with whole numbers of what quants are stored
// in.
int64_t gpu_tiles_stride(const tapml_tensor *weight);

// Returns where the spans begin, the form, and how many tiles a row goes through.
struct gpu_blocks gpu_tiles_blocks(const tapml_tensor *weight);

// Returns the kernels' constant QUANTS for the form of a weight: 0 of one that is in no tiles.
uint32_t gpu_tiles_quants(const struct gpu_blocks *blocks);

// Returns the values of a row for which kernels read a scale once: a tile has a multiple of it.
uint32_t gpu_tiles_group_values(const struct gpu_blocks *blocks);
