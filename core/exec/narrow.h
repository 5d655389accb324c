// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Activations in f16: a backend that wraps a backend, and the way of values to its place and back.
//
// The graph, the source and host memory know values as f32. A place whose backend is narrow has
// them, and states, as f16: buffers of half the size, which never are host memory, and tensors
// whose dtype is f16. A value is rounded to nearest, ties to even, on its way in; on its way out it
// is widened, which is exact. Weights of weight parameters stay as they are, and so do values of
// other types, and those that some op of the graph takes as f32 alone: tables of angles, the states
// of scans.
//
// The wrapper says so by `is_narrow` of its info and refuses what an op's schema does not take as
// f16, before the backend is asked. Else it forwards: who binds tensors sees to their dtype.
#pragma once

#include "exec/space.h"
#include "graph/graph.h"

struct narrow;

// `inner` is borrowed. The caller owns the wrapper, whose backend is `narrow_backend`.
tapml_status narrow_create(struct backend *inner, struct narrow **out_narrow) STATUS_USED;
void narrow_destroy(struct narrow *narrow);
struct backend *narrow_backend(struct narrow *narrow);

// Marks the values of a graph that are f16 at narrow places, views like their bases. `out_marks`
// has one entry for each value.
void narrow_mark(const struct graph *graph, uint8_t *out_marks);

// As `space_upload` and `space_download`; `is_marked` is the mark of the value that goes. `begin`
// and `end` are bytes in host memory. What is widened on its way back is waited for at once.
tapml_status narrow_upload(struct space_set *set,
                           struct space_block *block,
                           uint32_t place,
                           int is_marked,
                           uint64_t begin,
                           uint64_t end) STATUS_USED;
tapml_status narrow_download(struct space_set *set,
                             struct space_block *block,
                             uint32_t place,
                             int is_marked,
                             uint64_t begin,
                             uint64_t end) STATUS_USED;
