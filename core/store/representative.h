// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The cases of a store that stand for the others of their op: those that cases are derived from.
//
// A store and what is read from it belong to one thread. What is read is in the arena that is
// given, with all texts, and lives as long as that. Failures are those of the store, which name
// it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// The representatives of one op: of each phase and choice of dtypes, optional arguments and
// attributes the first case. An attribute that is 0 switches something off.
struct representative_group {
    const char *op;
    uint32_t version;
    const int64_t *ids;
    size_t count;
    const char *keys; // Of those cases, in hexadecimal: other cases, other text.
};

// A group for each op of which the store has cases, ordered by name, in `arena`.
tapml_status representative_list(struct store *store,
                                 struct arena *arena,
                                 struct representative_group **out_groups,
                                 size_t *out_count) STATUS_USED;
