// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Weights at a place: loaded once for each backend, shared by sessions and replays of a process,
// and released if the room is needed.
//
// A weight is found by a key and by where its bytes lie: fine-tunes of one base have weights of the
// same names, and share those whose bytes are the base's. On a host-memory backend, or one that
// wraps memory, it is the given memory itself; else it is buffers that are filled when it is
// loaded, in panels of rows that are not larger than a buffer may be.
//
// One thread, that of the backend, whose failures are returned.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/residency_set.h"
#include "graph/graph.h"
#include "model/checkpoint.h"

struct residency;

// The weights of one backend, of one checkpoint and its branches. The caller owns the set; the
// backend outlives it, and one thread works with both. `residency_destroy` accepts NULL.
tapml_status residency_create(struct backend *backend, struct residency **out_set) STATUS_USED;
void residency_destroy(struct residency *set);

// Shares the mapped files of a checkpoint with the backend, as far as it can read them, until the
// set is destroyed: their weights are then uploaded without a copy, or used in place if the backend
// can wrap them. The checkpoint outlives the set. Once for each checkpoint is enough; NULL does
// nothing.
tapml_status residency_share(struct residency *set,
                             const struct checkpoint *checkpoint) STATUS_USED;

// The weight or constant of a key, whose bytes lie at `data`, dense, of the type, encoding and
// shape of `form`. Does not load it. `data` outlives the set; the key is copied.
// TAPML_UNIMPLEMENTED if a single row is larger than a buffer may be; TAPML_INVALID if it has no
// elements.
tapml_status residency_find(struct residency *set,
                            const struct residency_key *key,
                            const void *data,
                            const tapml_tensor *form,
                            struct resident **out_resident) STATUS_USED;

// Loads a weight of this set, unless it is loaded. Uploads are queued.
tapml_status residency_load(struct residency *set, struct resident *resident) STATUS_USED;

// Frees the buffers of a weight, after a wait for the backend. It can be loaded again.
tapml_status residency_release(struct residency *set, struct resident *resident) STATUS_USED;

// Finds and loads a weight. Fails as both do.
tapml_status residency_get(struct residency *set,
                           const struct residency_key *key,
                           const void *data,
                           const tapml_tensor *form,
                           const tapml_tensor **out_tensor) STATUS_USED;

// Loads all weights again if the backend has lost the contents of its buffers, and those that are
// in doubt; the tensors stay. To be called before work with tensors of earlier calls;
// `residency_get` does it.
tapml_status residency_refresh(struct residency *set) STATUS_USED;

// All that was queued is done: weights that were loaded are there. And what was queued since then
// has failed: weights that were loaded since are perhaps not there, and `residency_refresh` loads
// them again.
void residency_settle(struct residency *set);
void residency_distrust(struct residency *set);

// The bytes of weights that were rearranged or widened, since the backend does not take the blocks
// of files, or tiles: they are in host memory besides the file.
uint64_t residency_spread_bytes(const struct residency *set);

// The number of panels of such a weight: 1 if it is whole, 0 if the backend cannot hold it.
uint64_t residency_panels(const struct residency *set, const tapml_tensor *form);

// All weights that were found, in the order in which they were; NULL past the last.
struct resident *residency_at(const struct residency *set, size_t index);

// The bytes of a weight of the set that the backend does not use in place, loaded or not; 0 of one
// in slots (exec/residency_slots). How often a weight was loaded or released so far: buffers may be
// others since.
uint64_t residency_bytes(const struct residency *set, const struct resident *resident);
uint64_t residency_changes(const struct residency *set);

// The bytes of loaded weights that the backend does not use in place, and of slots.
uint64_t residency_copied_bytes(const struct residency *set);
