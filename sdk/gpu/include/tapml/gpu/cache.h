// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A disk cache for the kernels that drivers have compiled: $XDG_CACHE_HOME/tapml/<domain>, or
// ~/.cache/tapml/<domain>, one file for each key. It may be deleted at any time.
//
// A driver executes these bytes without a check, so only files that it has written itself are used:
// folders and file belong to the user, no other user can write to them, none is a link, and the
// file is complete. All other files are ignored.
#ifndef TAPML_GPU_CACHE_H
#define TAPML_GPU_CACHE_H

#include <tapml/gpu/support.h>

#ifdef __cplusplus
extern "C" {
#endif

// A hash of everything that the bytes depend on: text, options, device, versions. It starts as {0}.
struct gpu_cache_key {
    uint64_t first, second;
};

// Adds `size` bytes to the hash. The order of additions matters.
void gpu_cache_key_add(struct gpu_cache_key *key, const void *data, size_t size);

// Returns nonzero and writes `out` if the cache has bytes for the key. The caller frees them by
// gpu_free(host, out->data, out->size).
int gpu_cache_load(const struct gpu_host *host,
                   const struct gpu_cache_key *key,
                   struct gpu_text *out);

// Stores bytes under the key. A failure is ignored: nothing is stored then.
void gpu_cache_store(const struct gpu_host *host,
                     const struct gpu_cache_key *key,
                     const void *data,
                     size_t size);

#ifdef __cplusplus
}
#endif

#endif
