// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Activations of a reduced dtype: which values have it at places of that dtype, and their move
// there and back.
//
// In the graph, at the source and in host memory values are f32. At a place with reduced
// activations values and states have that dtype: smaller buffers, which never are host memory, and
// tensors of that dtype. A value is rounded to nearest, ties to even, when it moves to the place;
// on the way back it is widened, which is exact. Not reduced are the weights of weight parameters,
// values of other types, and values that some op of the graph takes as f32 only: tables of angles,
// the states of scans.
//
// One thread. Failures are those of the backends and TAPML_NO_MEMORY.
#pragma once

#include "exec/space.h"
#include "graph/graph.h"
#include "tensor/activation.h"

// Marks the values of a graph with the reduced dtypes that they have at places of such a dtype,
// views like their bases. `out_marks` has one entry for each value.
void cast_mark(const struct graph *graph, activation_set *out_marks);

// The parts of a move. Reduce and widen convert between f32 in host memory and the reduced values
// beside it, at once. Send and receive copy these to and from a place; the copy is queued, and done
// after a wait for the place. `begin` and `end` are bytes in host memory, `mark` is that of the
// value. If the place does not have it reduced, send and receive are `space_upload` and
// `space_download`.
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

// A whole move: reduce and send; receive, wait and widen.
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
