// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A part of a weight: what one of several places has of it.
//
// A part lies dense. Where its rows lie together in the whole, it is the memory of the whole, such
// as a mapped file; else it is copied. One thread.
#pragma once

#include "graph/graph.h"

struct checkpoint;

// Where copies go.
struct sharding_weight_memory {
    struct checkpoint *checkpoint; // Or NULL.
    struct arena *arena;           // Without one.
    uint64_t copied_bytes;         // So far.
};

// Makes of `*io_value`, a weight or a constant, the elements begin .. end - 1 of an axis; of blocks
// these are whole ones. Memory is that of the checkpoint, and without one the graph's; a weight
// without numbers stays without. `*io_copied` grows by the bytes that were copied.
// TAPML_UNIMPLEMENTED for tiles that are not cut between rows of tiles; TAPML_NO_MEMORY.
tapml_status sharding_weight_part(struct graph_value *io_value,
                                  uint32_t axis,
                                  int64_t begin,
                                  int64_t end,
                                  struct sharding_weight_memory *memory) STATUS_USED;
