// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `weight`: the weights that cases refer to, by name, type and key.
//
// The key is that of the dense bytes without a shape (store/content.h): views of one may have
// several. The bytes themselves are in a store only if it is a bundle. A store and what is read
// from it belong to one thread.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct checkpoint_tensor;
struct store;

// Notes the name, type and key of a weight; `data`, `bytes` long, is hashed if the name is new to
// the store. TAPML_INVALID if the store has it with another type or size.
tapml_status weight_add(struct store *store,
                        const char *name,
                        uint32_t dtype,
                        const void *data,
                        uint64_t bytes) STATUS_USED;

// Puts the bytes of a weight beside its name, which makes a store a bundle. TAPML_NOT_FOUND if the
// store does not have the name, TAPML_INVALID if its bytes are others.
tapml_status
weight_inline(struct store *store, const char *name, const void *data, uint64_t bytes) STATUS_USED;

struct weight_row {
    const char *name;  // Of the tensor in the checkpoint.
    const char *dtype; // "f32"; "u8" if it is encoded.
    uint64_t bytes;    // Of all of it.
    struct hash key;   // Of its bytes, as of a tensor of one axis.
    int has_key;       // 0: what the row has there is no key.
    int is_inline;     // Its bytes are in the store.
};

// All rows by name, in `arena`, which owns them.
tapml_status weight_list(struct store *store,
                         struct arena *arena,
                         struct weight_row **out_items,
                         size_t *out_count) STATUS_USED;

// Whether a tensor of a checkpoint, or NULL, has the bytes that a row says. TAPML_NO_MEMORY.
tapml_status weight_is_same(const struct weight_row *row,
                            const struct checkpoint_tensor *tensor,
                            int *out_is_same) STATUS_USED;
