// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "commands/opened_run.h"
#include "commands/set_aside.h"
#include "harness/scratch.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"

static struct scratch scratch;
static struct opened_run run;
static struct text cause;

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void begin(void)
{
    scratch_make(&scratch);
    text_init(&cause);
    run.config.dir = scratch.folder;
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &run.store));
}

static void end(void)
{
    store_close(run.store);
    text_release(&cause);
    scratch_remove(&scratch);
}

TestSuite(set_aside, .init = begin, .fini = end);

static int has(const char *name)
{
    return access(scratch_path(&scratch, name), F_OK) == 0;
}

Test(set_aside, a_store_makes_room_and_is_taken_over)
{
    MUST(metadata_set(run.store, "watch.files", "f"));
    MUST(set_aside_store(&run, &cause));
    cr_expect(has("before.tapmlrun") && has("run.tapmlrun"));
    cr_expect_null(metadata_get(run.store, "watch.files"));
    MUST(set_aside_take_over(&run, &cause));
    cr_expect_not(has("before.tapmlrun"));
    cr_expect_str_eq(metadata_get(run.store, "watch.files"), "f");
    cr_expect_not_null(strstr(cause.data, "0 results of cases that stayed were kept"));
    MUST(set_aside_take_over(&run, &cause)); // There is none any more.
}

// It has nothing of its own yet: what counts is in the one that stands aside.
Test(set_aside, one_that_has_not_taken_over_goes)
{
    MUST(metadata_set(run.store, "watch.files", "first"));
    MUST(set_aside_store(&run, &cause));
    MUST(metadata_set(run.store, "watch.files", "second"));
    MUST(set_aside_store(&run, &cause));
    MUST(set_aside_take_over(&run, &cause));
    cr_expect_str_eq(metadata_get(run.store, "watch.files"), "first");
    MUST(metadata_set(run.store, "watch.files", "third"));
    MUST(set_aside_store(&run, &cause)); // This one has.
    MUST(set_aside_take_over(&run, &cause));
    cr_expect_str_eq(metadata_get(run.store, "watch.files"), "third");
}
