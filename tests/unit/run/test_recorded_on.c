// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "device/backend.h"
#include "harness/scratch.h"
#include "run/recorded_on.h"
#include "store/store.h"
#include "store/store_open.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct text text;

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "pack.tapmlrun"), 1, &store));
    text_init(&text);
}

static void end(void)
{
    text_release(&text);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(recorded_on, .init = begin, .fini = end);

static const struct backend_info here = {.component = "c",
                                         .plugin = "p",
                                         .plugin_version = "1",
                                         .build_id = "77f2",
                                         .device = "0",
                                         .device_name = "a card",
                                         .driver = "1.3"};

Test(recorded_on, what_is_other_is_told_for_each_target)
{
    const struct recorded_on same = {"gpu", "c", "0", "a card", "1.3", "p", "1", "77f2", "fail"};
    struct recorded_on other = same;

    other.target = "old";
    other.driver = "";
    other.build = "3a01";
    MUST(recorded_on_write(store, 0, &same));
    MUST(recorded_on_write(store, 1, &other));
    recorded_on_print(store, &here, &text);
    cr_assert_str_eq(text.data, "recorded on 'gpu': as here\n"
                                "recorded on 'old': here are other driver: none -> 1.3; build: "
                                "3a01 -> 77f2\n");
}

Test(recorded_on, a_store_that_says_nothing_gives_nothing)
{
    recorded_on_print(store, &here, &text);
    cr_assert_eq(text.length, 0);
}

Test(recorded_on, what_was_written_is_read_again)
{
    const struct recorded_on was = recorded_on_here("gpu", &here, "fail pass");
    struct recorded_on is;
    struct arena *arena = arena_create();
    int has = 0;

    MUST(recorded_on_write(store, 0, &was));
    MUST(recorded_on_read(store, 0, arena, &is, &has));
    cr_assert(has);
    cr_assert_str_eq(is.target, "gpu");
    cr_assert_str_eq(is.build, "77f2");
    cr_assert_str_eq(is.verdicts, "fail pass");
    MUST(recorded_on_read(store, 1, arena, &is, &has));
    cr_assert_not(has);
    arena_destroy(arena);
}
