// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The first case of each class: of an op, its version and a shape class, by which limits are known
// (store/limit.h).
//
// A store and what is read from it belong to one thread. Failures are those of the store, which
// name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

struct first_case {
    const char *op, *shape_class;
    uint32_t version;
    int64_t id; // The first in the order of `stored_case_ids`.
};

// One for each class of which the store has a case, in the order of `first_case_compare`, in
// `arena` with their texts.
tapml_status first_case_list(struct store *store,
                             struct arena *arena,
                             struct first_case **out_items,
                             size_t *out_count) STATUS_USED;

// Below, at or above 0 as the class of `a` is before, the same as or behind that of `b`. [any]
int first_case_compare(const struct first_case *a, const struct first_case *b);
