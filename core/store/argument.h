// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The arguments of a case in a store: a line each, with contents in `tensor`, state rows in pages.
//
// One thread. Failures are those of the store, which name it, and TAPML_NO_MEMORY; TAPML_INVALID
// if a row is damaged.
#pragma once

#include "base/status.h"
#include "store/case.h"

struct arena;
struct store;

// Writes an argument with its contents; a reference to a weight has none.
tapml_status argument_write(struct store *store,
                            int64_t case_id,
                            uint32_t position,
                            const struct case_argument *argument) STATUS_USED;

// Reads and checks an argument with its contents into `arena`. TAPML_NOT_FOUND where the case has
// no argument at `position`.
tapml_status argument_read(struct store *store,
                           int64_t case_id,
                           uint32_t position,
                           struct arena *arena,
                           struct case_argument *out_argument) STATUS_USED;
