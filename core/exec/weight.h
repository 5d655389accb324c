// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights on a device: uploaded once for each backend, shared by sessions and replays of a process.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "model/checkpoint.h"
#include "plugin/backend.h"

struct weight_set;

// The weights of one backend. The caller owns the set; the backend outlives it.
tapml_status weight_set_create(struct backend *backend, struct weight_set **out_set) STATUS_USED;
void weight_set_destroy(struct weight_set *set);

// Lends the backend what of a checkpoint can be lent, as long as the set lives: weights that lie
// there are then uploaded without a copy, or used in place where the backend can wrap them. The
// checkpoint outlives the set. Once for each is enough; NULL is nothing.
tapml_status weight_set_lend(struct weight_set *set,
                             const struct checkpoint *checkpoint) STATUS_USED;

// The tensor of a weight or constant whose bytes lie at `data`, dense, of the type, encoding and
// shape of `form`: the memory itself on a host-memory backend or one that wraps it, else a buffer
// that is filled at the first question, in row panels below the largest binding. Keyed by address,
// type and shape. Lives as long as the set; `data` outlives it. TAPML_UNIMPLEMENTED where a row
// alone is larger than a buffer.
tapml_status weight_set_get(struct weight_set *set,
                            const void *data,
                            const tapml_tensor *form,
                            const tapml_tensor **out_tensor) STATUS_USED;

// The same for one of f32 as f16, rounded to nearest, ties to even: a copy in host memory is made
// of it. `form` is that of the f32.
tapml_status weight_set_get_narrow(struct weight_set *set,
                                   const void *data,
                                   const tapml_tensor *form,
                                   const tapml_tensor **out_tensor) STATUS_USED;

// Loads all weights again where the backend has lost what was in its buffers; the tensors stay.
// Done by weight_set_get too. Before work that uses tensors which were asked for earlier.
tapml_status weight_set_refresh(struct weight_set *set) STATUS_USED;

// How many panels such a weight comes in: 1 where it is whole, 0 where the backend cannot hold it.
uint64_t weight_set_panels(const struct weight_set *set, const tapml_tensor *form);
