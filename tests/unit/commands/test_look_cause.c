// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/look_cause.h"
#include "harness/scratch.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"

static struct scratch scratch;
static struct text cause;

static void begin(void)
{
    scratch_make(&scratch);
    text_init(&cause);
}

static void end(void)
{
    text_release(&cause);
    scratch_remove(&scratch);
}

TestSuite(look_cause, .init = begin, .fini = end);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

Test(look_cause, a_target_is_another_one_by_driver_options_or_build)
{
    const struct target_row none = {.name = "gpu", .identity = "", .driver = "", .build = ""};
    const struct target_row known = {.name = "gpu", .identity = "a", .driver = "1.0", .build = "x"};
    struct target_row now = known;

    look_cause_target(&none, &known, &cause);
    look_cause_target(&known, &now, &cause);
    cr_expect_str_eq(cause.data, "");
    now.driver = "1.1";
    look_cause_target(&known, &now, &cause);
    cr_expect_str_eq(cause.data, "the driver of gpu was 1.0 and is 1.1");
    now = known;
    now.identity = "b";
    look_cause_target(&known, &now, &cause);
    now.identity = "a";
    now.build = "y";
    look_cause_target(&known, &now, &cause);
    cr_expect_str_eq(cause.data, "the driver of gpu was 1.0 and is 1.1; gpu has another device or "
                                 "other options; the plugin of gpu has another build");
}

Test(look_cause, files_of_a_model_are_compared_with_those_of_the_last_look)
{
    struct watched_files files = {.count = 0};
    struct store *store = NULL;
    struct text text;

    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    cr_assert_eq(mkdir(scratch_path(&scratch, "model"), 0777), 0);
    scratch_text(&scratch, "model/config.json", "{}");
    MUST(look_cause_list_model(scratch_path(&scratch, "model"), &files));
    cr_assert_eq(files.count, 1);
    MUST(look_cause_compare(store, &files, &cause));
    cr_expect_str_eq(cause.data, "the first look");
    text_clear(&cause);
    text_init(&text);
    watched_files_print(&files, &text);
    MUST(metadata_set(store, LOOK_CAUSE_FILES, text.data));
    MUST(look_cause_compare(store, &files, &cause));
    cr_expect_str_eq(cause.data, "");
    files.items[0].size++;
    MUST(look_cause_compare(store, &files, &cause));
    cr_expect_str_eq(cause.data, "config.json changed");
    text_release(&text);
    watched_files_release(&files);
    store_close(store);
}

Test(look_cause, what_a_killed_look_has_found_is_kept)
{
    struct store *store = NULL;

    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    MUST(look_cause_resume(store, &cause));
    cr_expect_str_eq(cause.data, "");
    MUST(look_cause_keep(store, "the driver is another"));
    MUST(look_cause_keep(store, "so is the device"));
    look_cause_add(&cause, "carved anew");
    MUST(look_cause_resume(store, &cause));
    cr_expect_str_eq(cause.data, "carved anew; the driver is another; so is the device");
    text_clear(&cause);
    MUST(look_cause_resume(store, &cause));
    cr_expect_str_eq(cause.data, "carved anew; the driver is another; so is the device");
    text_clear(&cause);
    MUST(metadata_set(store, LOOK_CAUSE_KEPT, "")); // As a look does that writes its row.
    MUST(look_cause_resume(store, &cause));
    cr_expect_str_eq(cause.data, "");
    store_close(store);
}
