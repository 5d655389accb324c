// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights in blocks: turns those of a finished graph that all who use them can read so.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "tensor/encoding.h"

struct checkpoint;

// What became of a weight.
struct encode_loss {
    const char *name; // The graph's.
    double relative;  // The root of error over value squares.
    double largest;   // The largest difference.
};

struct encode_account {
    struct encode_loss *losses; // In the order of the graph, in its arena.
    uint32_t loss_count;
    uint32_t plain_count; // Weights that stay as they are.
};

// What the weights of a graph take.
struct encode_size {
    uint64_t values;
    uint64_t encoded; // Of them, in blocks.
    uint64_t bytes;
};

// Counts the values of all weights, and the bytes that they take once encode_weights has encoded
// them, with those that stay plain in bf16. Needs no checkpoint. If `encoding` is NULL, all stay
// plain. TAPML_INVALID if a sum does not fit into 63 bits.
tapml_status encode_measure(const struct graph *graph,
                            const tapml_encoding *encoding,
                            struct encode_size *out_size) STATUS_USED;

// Gives the weights of a graph the blocks that the checkpoint has, as GGUF files do, or the tiles
// of quantised checkpoints. A weight that not all who use it can read so is decoded to F32, or to
// BF16 if that loses nothing. TAPML_NO_MEMORY, or the graph is done.
tapml_status encode_stored(struct graph *graph,
                           struct checkpoint *checkpoint,
                           uint32_t *out_decoded) STATUS_USED;

// Encodes, in the checkpoint and in the graph, every weight of a float type or in tiles with rows
// of whole blocks whose every use is a parameter that takes `encoded`, and no view. A failure,
// which names the tensor, leaves both half done: they are of no use then.
tapml_status encode_weights(struct graph *graph,
                            struct checkpoint *checkpoint,
                            const tapml_encoding *encoding,
                            struct encode_account *out_account) STATUS_USED;
