// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The ops that the host knows: its own, and those that plugins bring, each compiled once.
//
// Ops are added by one thread; after that any thread may look them up.
#pragma once

#include "schema/compiled.h"

struct catalogue;

// An empty catalogue, which the caller destroys. TAPML_NO_MEMORY.
tapml_status catalogue_create(struct catalogue **out_catalogue) STATUS_USED;

// Frees the catalogue and all compiled ops in it; accepts NULL.
void catalogue_destroy(struct catalogue *catalogue);

// What the catalogue has of an op that was added.
struct catalogue_op {
    const struct compiled_op
        *schema;                   // The catalogue's: that of the plugin that brought the op first.
    const struct compiled_op *own; // Of the op itself, where `lacks` is not 0; else `schema`.
    uint32_t lacks;                // As `compiled_lacks` says.
};

// Takes an op in; `op` is borrowed for the catalogue's life. `origin` says whose it is, for
// messages. An op of a name and version that are known must be the same (`compiled_same`), and may
// list fewer dtypes or have smaller domains. `out_op` may be NULL. TAPML_INVALID: its schema is
// malformed; TAPML_ABI_MISMATCH: it is not the same, or a struct is too short; TAPML_NO_MEMORY.
tapml_status catalogue_add(struct catalogue *catalogue,
                           const tapml_op *op,
                           const char *origin,
                           struct catalogue_op *out_op) STATUS_USED;

// The op of that name and version, or NULL. `name` may be NULL.
const struct compiled_op *
catalogue_find(const struct catalogue *catalogue, const char *name, uint32_t version);

// The number of ops, and the op at a place in the order in which they came; NULL behind the last.
size_t catalogue_count(const struct catalogue *catalogue);
const struct compiled_op *catalogue_at(const struct catalogue *catalogue, size_t index);

// "rms_norm" for "tapml.rms_norm"; the whole name for a stranger's op. Plans and reports use it.
// The text is part of the op's name.
const char *catalogue_short_name(const tapml_op *op);
const char *catalogue_shorten(const char *op_name); // The same of a name.
