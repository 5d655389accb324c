// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "commands/applied_advice.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct scratch scratch;
static char dir[2048], config[2048], into[2048];
static char program[] = "/bin/true";
static struct command command = {.program = program};
static struct applied_advice advice = {&command, config, dir, into};

static void begin(void)
{
    scratch_make(&scratch);
    (void)snprintf(dir, sizeof(dir), "%s/run", scratch.folder);
    (void)snprintf(config, sizeof(config), "%s/run.ini", scratch.folder);
    (void)snprintf(into, sizeof(into), "%s/applied.ini", scratch.folder);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(applied_advice, .init = begin, .fini = end);

static void put(const char *path, const char *text)
{
    cr_assert_eq(file_write(path, text, strlen(text)), TAPML_OK, "%s", status_message());
}

Test(applied_advice, nothing_that_is_there_is_written_over)
{
    char folder[2100];

    cr_expect_eq(applied_advice_check(&advice), TAPML_OK, "%s", status_message());
    cr_expect_not(file_exists(into));
    (void)snprintf(folder, sizeof(folder), "%s.applied", dir);
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_expect_eq(applied_advice_check(&advice), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "run.applied' is there already"));
    put(into, "mine");
    cr_expect_eq(applied_advice_check(&advice), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "applied.ini' is there already"));
}

Test(applied_advice, where_nothing_is_to_be_set_nothing_is_run)
{
    json_t *report = json_pack("{s:{s:s}}", "bottleneck", "stage", "device");

    cr_redirect_stdout();
    cr_expect_eq(applied_advice_try(&advice, report), TAPML_OK);
    (void)fflush(stdout);
    cr_expect_not(file_exists(into));
    json_decref(report);
}

// The program does nothing, so that its run has no store.
Test(applied_advice, the_file_has_the_key_and_a_folder_of_its_own)
{
    json_t *report = json_pack("{s:{s:i, s:{s:s, s:s, s:s, s:s, s:i}}}", "bottleneck", "elapsed_ns",
                               2000, "remedy", "sentence", "set it", "section", "check", "key",
                               "ahead", "value", "16", "predicted_ns", 1000);
    char *text = NULL;
    size_t bytes = 0;

    put(config, "[run]\ndir = run\n[check]\nahead = 1\n");
    cr_expect_eq(applied_advice_try(&advice, report), TAPML_NOT_FOUND, "%s", status_message());
    cr_assert_eq(file_read(into, 1000, &text, &bytes), TAPML_OK);
    cr_expect_not_null(strstr(text, "/run.applied\n[check]\nahead = 16\n"), "%s", text);
    alloc_free(text);
    json_decref(report);
}
