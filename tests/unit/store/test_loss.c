// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/scratch.h"
#include "store/loss.h"
#include "store/store.h"
#include "store/store_open.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(loss, .init = begin, .fini = end);

Test(loss, rows_are_replaced_in_their_order)
{
    static const struct loss_row rows[] = {{"w", 0.25, 2}, {"a", 0.5, 1}};
    struct loss_row *found = NULL;
    size_t count = 0;
    MUST(loss_replace(store, rows, 2));
    MUST(loss_list(store, arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].weight, "w");
    cr_assert_eq(found[0].relative, 0.25);
    cr_assert_eq(found[1].largest, 1);
    MUST(loss_replace(store, rows, 0));
    MUST(loss_list(store, arena, &found, &count));
    cr_assert_eq(count, 0);
}
