// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The first elements of an output that are beyond its limit, beside what was expected: what a
// person looks at first.
#pragma once

#include "base/status.h"
#include "store/case.h"
#include "verify/compare.h"
#include "verify/replay.h"

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
    size_t count;
    uint64_t beyond; // How many of the output's elements are beyond by themselves.
    uint64_t total;  // Elements of the output.
};

// The first ELEMENTS_SHOWN elements of `output` that are beyond `limit`, in `arena`. Where none is
// beyond by itself (an NMSE is of all of them), those with the largest difference.
tapml_status element_find(const struct replay_output *output,
                          const struct case_argument *argument,
                          const struct compare_limit *limit,
                          struct arena *arena,
                          struct element_list *out_list) STATUS_USED;

// Copies a list into `arena`.
tapml_status element_copy(const struct element_list *list,
                          struct arena *arena,
                          struct element_list *out_list) STATUS_USED;

// Writes the elements of a result that the store has, and reads them again into `arena`.
tapml_status element_write(struct store *store,
                           const char *target,
                           int64_t case_id,
                           const struct element_list *list) STATUS_USED;
tapml_status element_read(struct store *store,
                          const char *target,
                          int64_t case_id,
                          struct arena *arena,
                          struct element_list *io_list) STATUS_USED;
