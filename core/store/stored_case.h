// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Tables `case`, `argument` and `page` as one: whole cases go in and come out.
//
// One thread. Failures are those of the store, which name it, and TAPML_NO_MEMORY.
#pragma once

#include "base/status.h"
#include "store/case.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct store;

// Adds a case with its contents, except weights that are references. A case of the same instance,
// prompt, step and part is replaced, with its results. Several statements: call it inside of a
// transaction.
tapml_status stored_case_add(struct store *store, const struct carved_case *item) STATUS_USED;

// The case `id` with its contents, in `arena`. Weights have `before` NULL and their name in
// `origin`, unless the store has their bytes (a bundle). TAPML_NOT_FOUND if there is no such case,
// TAPML_INVALID if its rows are damaged; both with the id.
tapml_status stored_case_load(struct store *store,
                              int64_t id,
                              struct arena *arena,
                              struct carved_case *out_case) STATUS_USED;

// Ids of all cases, in the order of their prompts and calls. Freed by `alloc_free`; NULL if there
// is none.
tapml_status stored_case_ids(struct store *store, int64_t **out_ids, size_t *out_count) STATUS_USED;
