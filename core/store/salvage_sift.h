// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Leaves in a salvaged store what can be trusted.
//
// One thread. Failures are those of the store.
#pragma once

#include "base/status.h"

struct store;
struct text;

// Deletes from `store`, which `salvage_rows_copy` has filled, all that depends on rows that are
// lost, as store/salvage.h describes, and appends to `out_report` what was kept and lost.
// TAPML_INVALID if one of `metadata`, names ended by NULL, was lost.
tapml_status salvage_sift_run(struct store *store,
                              const char *const *metadata,
                              struct text *out_report) STATUS_USED;
