// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An empty store, open to be written, for each test of a suite:
// TestSuite(limit, .init = open_store_begin, .fini = open_store_end);
#pragma once

#include "base/arena.h"
#include "harness/scratch.h"
#include "store/store.h"
#include "store/store_open.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena; // For what is read from it.

static inline void open_store_begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
}

static inline void open_store_end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}
