// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tensors of a store by content: each is kept once, under the hash of what it is.
//
// One thread. Failures are those of the store, which name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// Type and shape of dense bytes.
struct content {
    uint32_t dtype;
    uint32_t rank;
    const int64_t *shape;
};

// The 128-bit XXH3 of dtype and shape as text, "f32[5,128]", followed by the dense bytes.
tapml_status
content_key(const struct content *content, const void *data, struct hash *out_key) STATUS_USED;

// Keeps the bytes, unless the store has them; compressed where that helps.
tapml_status content_put(struct store *store,
                         const struct content *content,
                         const void *data,
                         struct hash *out_key) STATUS_USED;

// The bytes under `key` in `arena`. TAPML_NOT_FOUND where the store lacks them, TAPML_INVALID where
// they are damaged or not of that type and shape, or where they would fill the arena with more than
// an honest file of its size unpacks to.
tapml_status content_get(struct store *store,
                         struct hash key,
                         const struct content *content,
                         struct arena *arena,
                         const void **out_data) STATUS_USED;
