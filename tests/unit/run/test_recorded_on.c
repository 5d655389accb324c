// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "device/backend.h"
#include "harness/scratch.h"
#include "run/recorded_on.h"
#include "store/metadata.h"
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
    const struct recorded_on same = recorded_on_here("gpu", &here, "", "fail");
    const struct recorded_on now = recorded_on_here("", &here, "", "");
    struct recorded_on other = same;

    other.target = "old";
    other.driver = "";
    other.build = "3a01";
    MUST(recorded_on_write(store, 0, &same));
    MUST(recorded_on_write(store, 1, &other));
    recorded_on_print(store, &now, &text);
    cr_assert_str_eq(text.data, "recorded on 'gpu': as here\n"
                                "recorded on 'old': here are other driver: none -> 1.3; build: "
                                "3a01 -> 77f2\n");
}

// A verdict that an injected fault has made says nothing of a device without it, and the other way.
Test(recorded_on, injected_faults_are_told)
{
    const struct recorded_on faulty = recorded_on_here("gpu", &here, "fault.1: scale 1.5", "fail");
    const struct recorded_on sound = recorded_on_here("gpu", &here, "", "pass");

    MUST(recorded_on_write(store, 0, &faulty));
    recorded_on_print(store, &sound, &text);
    recorded_on_print(store, &faulty, &text);
    MUST(recorded_on_write(store, 0, &sound));
    recorded_on_print(store, &faulty, &text);
    cr_assert_str_eq(
        text.data,
        "recorded on 'gpu': here are other injected_faults: fault.1: scale 1.5 -> none\n"
        "recorded on 'gpu': as here\n"
        "recorded on 'gpu': here are other injected_faults: none -> fault.1: scale 1.5\n");
}

// A pack of an earlier host does not say what was injected.
Test(recorded_on, what_a_store_does_not_say_is_not_compared)
{
    const struct recorded_on faulty = recorded_on_here("", &here, "fault.1: scale 1.5", "");

    MUST(metadata_set(store, "recorded.0.target", "gpu"));
    recorded_on_print(store, &faulty, &text);
    cr_assert_str_eq(text.data, "recorded on 'gpu': as here\n");
}

Test(recorded_on, a_store_that_says_nothing_gives_nothing)
{
    const struct recorded_on now = recorded_on_here("", &here, "", "");

    recorded_on_print(store, &now, &text);
    cr_assert_eq(text.length, 0);
}

Test(recorded_on, what_was_written_is_read_again)
{
    const struct recorded_on was = recorded_on_here("gpu", &here, "fault.1: nan", "fail pass");
    struct recorded_on is;
    struct arena *arena = arena_create();
    int has = 0;

    MUST(recorded_on_write(store, 0, &was));
    MUST(recorded_on_read(store, 0, arena, &is, &has));
    cr_assert(has);
    cr_assert_str_eq(is.target, "gpu");
    cr_assert_str_eq(is.build, "77f2");
    cr_assert_str_eq(is.verdicts, "fail pass");
    cr_assert_str_eq(is.injected_faults, "fault.1: nan");
    MUST(recorded_on_read(store, 1, arena, &is, &has));
    cr_assert_not(has);
    arena_destroy(arena);
}
