// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"
#include "base/text.h"
#include "harness/scratch.h"
#include "store/successor.h"

static struct scratch scratch;
static struct successor successor;
static struct text damaged;
static char path[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    (void)snprintf(path, sizeof(path), "%s", scratch_text(&scratch, "a", "old"));
    cr_assert_eq(successor_init(&successor, path), TAPML_OK);
    text_init(&damaged);
}

static void end(void)
{
    text_release(&damaged);
    successor_release(&successor);
    scratch_remove(&scratch);
}

TestSuite(successor, .init = begin, .fini = end);

static void expect_text(const char *name, const char *text)
{
    char found[16] = "";
    FILE *file = fopen(scratch_path(&scratch, name), "rb");
    cr_assert_not_null(file, "%s", name);
    (void)fread(found, 1, sizeof(found) - 1, file);
    (void)fclose(file);
    cr_expect_str_eq(found, text, "%s", name);
}

static int is_there(const char *name)
{
    return file_exists(scratch_path(&scratch, name));
}

Test(successor, takes_the_place_of_a_store_with_its_log)
{
    (void)scratch_text(&scratch, "a-wal", "log");
    (void)scratch_text(&scratch, "a.damaged", "earlier");
    (void)scratch_text(&scratch, "a.salvage", "new");
    cr_assert_str_eq(successor.making.data, scratch_path(&scratch, "a.salvage"));
    cr_assert_eq(successor_finish(&successor), TAPML_OK);
    cr_expect(!is_there("a.salvage"));
    cr_assert_eq(successor_swap(&successor, &damaged), TAPML_OK);
    cr_expect_str_eq(damaged.data, scratch_path(&scratch, "a.damaged-2"));
    expect_text("a", "new");
    expect_text("a.damaged", "earlier");
    expect_text("a.damaged-2", "old");
    expect_text("a.damaged-2-wal", "log");
    cr_expect(!is_there("a-wal"));
}

Test(successor, is_resumed_after_a_kill)
{
    cr_assert_eq(successor_resume(&successor), TAPML_OK); // Nothing is finished.
    expect_text("a", "old");
    (void)scratch_text(&scratch, "a.salvaged", "new");
    cr_assert_eq(unlink(path), 0); // The old one was moved.
    (void)scratch_text(&scratch, "a.damaged", "old");
    cr_assert_eq(successor_resume(&successor), TAPML_OK);
    expect_text("a", "new");
    expect_text("a.damaged", "old");
}

Test(successor, that_is_not_finished_is_removed)
{
    (void)scratch_text(&scratch, "a.salvage", "new");
    (void)scratch_text(&scratch, "a.salvage-wal", "log");
    successor_remove_making(&successor);
    cr_expect(!is_there("a.salvage"));
    cr_expect(!is_there("a.salvage-wal"));
    expect_text("a", "old");
}
