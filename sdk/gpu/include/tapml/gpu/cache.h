// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What drivers have compiled, kept on disk: $XDG_CACHE_HOME/tapml/<domain>, or
// ~/.cache/tapml/<domain>, one file for each key. It may be deleted at any time.
//
// A driver runs such bytes without a doubt, so that it gets only what it has written itself: the
// folders and the file are the user's and nobody else can write to them, none is a link, and the
// file is whole. Everything else is as if it were not there.
#ifndef TAPML_GPU_CACHE_H
#define TAPML_GPU_CACHE_H

#include <tapml/gpu/support.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of all that the bytes depend on: text, options, device, versions. It begins as {0}.
struct gpu_cache_key {
    uint64_t first, second;
};

void gpu_cache_key_add(struct gpu_cache_key *key, const void *data, size_t size);

// Nonzero where there are bytes for the key. They are given back by gpu_free(host, out->data,
// out->size).
int gpu_cache_load(const struct gpu_host *host,
                   const struct gpu_cache_key *key,
                   struct gpu_text *out);

// Keeps bytes; where that does not work nothing is kept.
void gpu_cache_store(const struct gpu_host *host,
                     const struct gpu_cache_key *key,
                     const void *data,
                     size_t size);

#ifdef __cplusplus
}
#endif

#endif
