// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "commands/keys_tuning.h"
#include "config/run_file.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct run_config config;
static struct arena *arena;
static char path[2048]; // Of the run's file.

static void begin(void)
{
    char ini[4096];

    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    (void)snprintf(
        ini, sizeof(ini),
        "[run]\ndir = %s\nprompts = b\n[model]\npath = c\n; mine\n[source]\nbackend = x\n"
        "[target.gpu]\nbackend = x\n",
        scratch_path(&scratch, "run"));
    (void)snprintf(path, sizeof(path), "%s", scratch_text(&scratch, "run.ini", ini));
    MUST(run_file_load(path, &config));
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
    run_config_release(&config);
    scratch_remove(&scratch);
}

TestSuite(keys_tuning, .init = begin, .fini = end);

static tapml_status
progress(void *user, size_t done, size_t all, const char *what, const char *outcome)
{
    return TAPML_OK;
}

static size_t files(void)
{
    struct folder_names names;

    MUST(folder_list(scratch.folder, &names));
    const size_t count = names.count;

    folder_release(&names);
    return count;
}

// What is tried for real is a question of tests/end-to-end/test_tune.py.
Test(keys_tuning, a_file_that_does_not_run_is_told_and_nothing_is_left)
{
    static char program[] = "/bin/false";
    const struct command command = {.program = program};
    struct keys_tuning tuning;

    cr_expect_eq(keys_tuning_run(
                     &(struct keys_tuning_options){
                         .command = &command, .config = &config, .trials = 2, .progress = progress},
                     arena, &tuning),
                 TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "run"), "%s", status_message());
    cr_expect_eq(files(), 1); // The run's file.
}

Test(keys_tuning, the_file_is_written_with_the_values_that_have_won)
{
    struct keys_tuning tuning = {.result = {.winner = NULL}};
    char *text = NULL;
    size_t size = 0;

    MUST(host_knobs_find(&config, 1, arena, &tuning.knobs));
    tuning.result.winner = "cache=32 ahead=4";
    const char *into = scratch_path(&scratch, "best.ini");

    MUST(keys_tuning_write(&config, &tuning, into));
    MUST(file_read(into, 4096, &text, &size));
    cr_expect_not_null(strstr(text, "cache = 32\n"), "%s", text);
    cr_expect_not_null(strstr(text, "[check]\nahead = 4\n"), "%s", text);
    cr_expect_not_null(strstr(text, "; mine\n"), "%s", text);
    alloc_free(text);
}
