// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "commands/second_run.h"
#include "harness/scratch.h"
#include "run/interrupt.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(second_run, .init = begin, .fini = end, .timeout = 30);

static tapml_status run(const char *script, const char *output, uint64_t *out_elapsed_ns)
{
    static char shell[] = "/bin/sh", dash[] = "-c";
    char text[256];
    char *const arguments[] = {shell, dash, text, NULL};

    (void)snprintf(text, sizeof(text), "%s", script);
    return second_run_wait(&(struct second_run){arguments, output}, out_elapsed_ns);
}

Test(second_run, targets_that_are_wrong_are_no_failure)
{
    uint64_t elapsed_ns = 0;

    cr_expect_eq(run("exec sleep 0.05", NULL, &elapsed_ns), TAPML_OK, "%s", status_message());
    cr_expect_geq(elapsed_ns, 50000000u);
    cr_expect_eq(run("exit 1", NULL, &elapsed_ns), TAPML_OK);
}

Test(second_run, how_it_ended_is_told)
{
    uint64_t elapsed_ns = 0;

    cr_expect_eq(run("exit 3", NULL, &elapsed_ns), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "exit status 3"), "%s", status_message());
    cr_expect_eq(run("kill -SEGV $$", NULL, &elapsed_ns), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "signal 11"), "%s", status_message());
}

Test(second_run, what_cannot_be_started_is_named)
{
    static char program[] = "/nowhere/program";
    char *const arguments[] = {program, NULL};
    uint64_t elapsed_ns = 0;

    cr_expect_eq(second_run_wait(&(struct second_run){arguments, NULL}, &elapsed_ns),
                 TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "/nowhere/program"));
}

Test(second_run, all_that_it_prints_goes_to_a_file)
{
    const char *output = scratch_path(&scratch, "output");
    uint64_t elapsed_ns = 0;
    char *text = NULL;
    size_t size = 0;

    cr_expect_eq(run("echo one; echo two >&2", output, &elapsed_ns), TAPML_OK);
    cr_assert_eq(file_read(output, 100, &text, &size), TAPML_OK);
    cr_expect_str_eq(text, "one\ntwo\n");
    alloc_free(text);
}

// The second run ends only by the signal.
Test(second_run, an_interruption_is_handed_on)
{
    uint64_t elapsed_ns = 0;
    char script[64];

    interrupt_watch();
    (void)snprintf(script, sizeof(script), "kill -TERM %d; exec sleep 25", (int)getpid());
    cr_expect_eq(run(script, NULL, &elapsed_ns), TAPML_CANCELLED);
}
