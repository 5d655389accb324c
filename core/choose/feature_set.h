// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The features of the cases of a store: written beside a case, and those of all cases read, with
// what a store lacks (one of an earlier version, a merged or a salvaged one) measured then.
//
// A store and what is read from it belong to one thread. Failures are those of the store and
// TAPML_NO_MEMORY.
#pragma once

#include "store/case.h"
#include "store/feature.h"

struct arena;
struct store;

// Writes the features of a case that was just added to `store`, in the transaction at hand; `arena`
// takes the signature.
tapml_status feature_set_add(struct store *store,
                             const struct carved_case *item,
                             struct arena *arena) STATUS_USED;

// All cases with their features, as feature_list has them, in `arena`. What is missing is measured;
// with `keep` it is written too, in transactions of its own.
tapml_status feature_set_load(struct store *store,
                              const char *target,
                              int keep,
                              struct arena *arena,
                              struct feature_case **out_cases,
                              size_t *out_count) STATUS_USED;
