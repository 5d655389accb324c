// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Pages of a store that stay in memory once they were read. One thread, that of the store, whose
// failures are returned.
#pragma once

#include "store/store.h"

// Up to `bytes` of pages stay from now on; 0: as many as SQLite chooses, about 2 MiB.
tapml_status page_cache_keep(struct store *store, uint64_t bytes) STATUS_USED;

// The bytes of the database, all of which could be kept; 0 where they cannot be asked for.
uint64_t page_cache_all(struct store *store);
