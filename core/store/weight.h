// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `weight`: the weights that cases refer to, by name. A store and what is read from it belong
// to one thread.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct weight_row {
    const char *name;  // Of the tensor in the checkpoint.
    const char *dtype; // "f32"; "u8" if it is encoded.
    uint64_t bytes;    // Of all of it.
    struct hash key;   // Of its bytes, as of a tensor of one axis.
    int has_key;       // 0: what the row has there is no key.
};

// All rows by name, in `arena`, which owns them.
tapml_status weight_list(struct store *store,
                         struct arena *arena,
                         struct weight_row **out_items,
                         size_t *out_count) STATUS_USED;
