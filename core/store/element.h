// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Table `element`: the first elements of an output that are beyond its limit, beside what was
// expected. A list and its texts belong to the arena that they were made in. A store and what is
// read from it belong to one thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

enum { ELEMENTS_SHOWN = 8 };

struct element {
    const char *param; // The output: "y".
    const char *place; // In the tensor as the op sees it: "3, 17"; "" of a scalar.
    double expected, computed;
    double allowed; // |expected - computed| at most.
};

struct element_list {
    struct element *items;
    size_t count;    // At most ELEMENTS_SHOWN.
    uint64_t beyond; // How many of the output's elements are beyond by themselves.
    uint64_t total;  // Elements of the output.
};

// Copies a list with its texts into `arena`. TAPML_NO_MEMORY is its one failure.
tapml_status element_copy(const struct element_list *list,
                          struct arena *arena,
                          struct element_list *out_list) STATUS_USED;

// Writes the elements of a result that the store has, in the transaction at hand, and which has
// none yet. Fails as SQLite does: a full disk, a store that is locked.
tapml_status element_write(struct store *store,
                           const char *target,
                           int64_t case_id,
                           const struct element_list *list) STATUS_USED;

// Reads the first ELEMENTS_SHOWN elements of a result into `arena`; `beyond` and `total` of
// `io_list` stay, which are columns of the result. None are no failure.
tapml_status element_read(struct store *store,
                          const char *target,
                          int64_t case_id,
                          struct arena *arena,
                          struct element_list *io_list) STATUS_USED;
