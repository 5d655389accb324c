// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A pack: a store with chosen cases of a run that has all their bytes, for machines that have
// neither the model nor the prompts. It is replayed as every store is, with the limits that the run
// has measured. docs/packs.md is the manual.
//
// The same cases of the same store give the same bytes.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// What a pack says of itself, as metadata of the store. A store without `PACK_METADATA_WHERE` is
// none.
#define PACK_METADATA_WHERE    "pack.where"    // The condition that chose its cases.
#define PACK_METADATA_REDACTED "pack.redacted" // "prompts", or absent.

struct checkpoint;
struct registry;
struct store;

struct pack_options {
    struct registry *registry;
    struct store *store;                 // Of the run.
    const struct checkpoint *checkpoint; // Of its weights; or NULL.
    const int64_t *ids;                  // Of the cases, in any order, each once.
    size_t count;
    const char *where; // The condition that chose them.
    int redacts;       // Neither texts of prompts nor their tokens nor hashes of them remain.
};

struct pack_counts {
    size_t cases;
    size_t left_out; // Cases with tokens, which cannot be redacted.
};

// Writes the pack in place of what was at `path`: whole or not at all. TAPML_INVALID and
// TAPML_PRECONDITION name a weight that is not at hand or is another one; TAPML_NOT_FOUND if no
// case is left.
tapml_status pack_write(const char *path,
                        const struct pack_options *options,
                        struct pack_counts *out_counts) STATUS_USED;
