// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Activations of a reduced dtype: which values have it at places that ask for it, and their way
// there and back.
//
// The graph, the source and host memory know values as f32. A place with reduced activations has
// them, and states, in that dtype: smaller buffers, which never are host memory, and tensors of
// that dtype. A value is rounded to nearest, ties to even, on its way in; on its way out it is
// widened, which is exact. Weights of weight parameters stay as they are, and so do values of other
// types, and those that some op of the graph takes as f32 alone: tables of angles, the states of
// scans.
//
// One thread. Failures are those of the backends.
#pragma once

#include "exec/space.h"
#include "graph/graph.h"
#include "tensor/activation.h"

// Marks the values of a graph with the reduced dtypes that they have at places of such a dtype,
// views like their bases. `out_marks` has one entry for each value.
void cast_mark(const struct graph *graph, activation_set *out_marks);

// Halves of a way: between f32 in host memory and the reduced values beside it, and between those
// and a place. The ways are queued: what comes has come when the place was waited for. `begin` and
// `end` are bytes in host memory, `mark` is that of the value that goes; where the place does not
// have it reduced, send and receive are `space_upload` and `space_download`.
tapml_status cast_reduce(struct space_set *set,
                         struct space_block *block,
                         uint32_t place,
                         uint64_t begin,
                         uint64_t end) STATUS_USED;
tapml_status cast_widen(struct space_set *set,
                        struct space_block *block,
                        uint32_t place,
                        uint64_t begin,
                        uint64_t end) STATUS_USED;
tapml_status cast_send(struct space_set *set,
                       struct space_block *block,
                       uint32_t place,
                       activation_set mark,
                       uint64_t begin,
                       uint64_t end) STATUS_USED;
tapml_status cast_receive(struct space_set *set,
                          struct space_block *block,
                          uint32_t place,
                          activation_set mark,
                          uint64_t begin,
                          uint64_t end) STATUS_USED;

// The whole of a way. What comes back is waited for at once.
tapml_status cast_upload(struct space_set *set,
                         struct space_block *block,
                         uint32_t place,
                         activation_set mark,
                         uint64_t begin,
                         uint64_t end) STATUS_USED;
tapml_status cast_download(struct space_set *set,
                           struct space_block *block,
                           uint32_t place,
                           activation_set mark,
                           uint64_t begin,
                           uint64_t end) STATUS_USED;
