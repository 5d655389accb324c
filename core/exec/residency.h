// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights at a place: loaded once for each backend, shared by sessions and replays of a process,
// and released again if the room is needed.
//
// A weight is asked for by a key. It is the memory itself on a host-memory backend or one that
// wraps it, else buffers that are filled when it is loaded, in row panels below the largest
// binding.
//
// One thread, that of the backend, whose failures are returned.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "graph/graph.h"
#include "model/checkpoint.h"

struct residency;

// Which weight, and how it lies at the place. Members can join: a base and a delta over it.
struct residency_key {
    const char *tensor; // Its name in the checkpoint; a constant's name, which is its content.
    uint32_t dtype;     // A reduced one where one of f32 is rounded to nearest, ties to even.
    const tapml_encoding *encoding;
};

// A weight that was asked for. Lives as long as the set.
struct resident {
    struct residency_key key;
    const tapml_tensor *tensor; // NULL while it is not loaded. The same each time that it is.
};

// The weights of one backend, of one checkpoint. The caller owns the set; the backend outlives it.
// One thread works with both.
tapml_status residency_create(struct backend *backend, struct residency **out_set) STATUS_USED;
void residency_destroy(struct residency *set);

// Shares what of a checkpoint can be shared with the backend, as long as the set lives: weights
// that lie there are then uploaded without a copy, or used in place where the backend can wrap
// them. The checkpoint outlives the set. Once for each is enough; NULL is nothing.
tapml_status residency_share(struct residency *set,
                             const struct checkpoint *checkpoint) STATUS_USED;

// The weight or constant of a key, whose bytes lie at `data`, dense, of the type, encoding and
// shape of `form`. It is not loaded by that. `data` outlives the set; the key is copied.
// TAPML_UNIMPLEMENTED where a row alone is larger than a buffer, TAPML_INVALID where it has no
// elements or where the key is known for other bytes.
tapml_status residency_find(struct residency *set,
                            const struct residency_key *key,
                            const void *data,
                            const tapml_tensor *form,
                            struct resident **out_resident) STATUS_USED;

// Brings a weight of this set to the place, unless it is there. What is uploaded is queued.
tapml_status residency_load(struct residency *set, struct resident *resident) STATUS_USED;

// Takes a weight from the place, after a wait for its backend. It can be loaded again.
tapml_status residency_release(struct residency *set, struct resident *resident) STATUS_USED;

// Finds and loads.
tapml_status residency_get(struct residency *set,
                           const struct residency_key *key,
                           const void *data,
                           const tapml_tensor *form,
                           const tapml_tensor **out_tensor) STATUS_USED;

// Loads all weights again where the backend has lost what was in its buffers; the tensors stay.
// Done by residency_get too. Before work that uses tensors which were asked for earlier.
tapml_status residency_refresh(struct residency *set) STATUS_USED;

// How many panels such a weight comes in: 1 where it is whole, 0 where the backend cannot hold it.
uint64_t residency_panels(const struct residency *set, const tapml_tensor *form);
