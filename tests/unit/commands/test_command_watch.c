// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/short_run.h"

#include <string.h>

static struct scratch scratch;
static char *ini;

static void begin(void)
{
    scratch_make(&scratch);
    ini = strdup(short_run_write(&scratch, ""));
}

static void end(void)
{
    free(ini);
    scratch_remove(&scratch);
}

TestSuite(command_watch, .init = begin, .fini = end, .timeout = 110);

static void rewrite(const char *extra)
{
    (void)short_run_write(&scratch, extra);
}

#define FAULT "[fault.1]\ntarget = other\nop = silu\nkind = scale 1.5\n"

Test(command_watch, a_look_replays_what_changed_and_ends_with_1_if_something_is_worse)
{
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--once"), OUTCOME_OK,
                   "121 of 121 cases had no fresh result, 121 ran now, 0 are left; 0 worse");
    rewrite("# a remark\n");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--once"), OUTCOME_OK,
                   "run.ini changed\n0 of 121 cases");
    rewrite(FAULT);
    struct printed made = PRINTED(command_watch_main, "--config", ini, "--once", "--budget=2");

    cr_expect_not_null(strstr(made.out, " 2 ran now,"), "%s%s", made.out, made.err);
    printed_expect(made, OUTCOME_WRONG, "worse: silu on other at layers.");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--once"), OUTCOME_WRONG,
                   " 0 are left; ");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--once"), OUTCOME_OK,
                   "watch: no file has changed\n0 of 121 cases");
    cr_expect_eq(access(scratch_path(&scratch, "run/watch.html"), R_OK), 0);
}

Test(command_watch, wrong_words_are_refused)
{
    printed_expect(PRINTED(command_watch_main, "--help"), OUTCOME_OK, "tapml-host watch --config");
    printed_expect(PRINTED(command_watch_main, "--once"), OUTCOME_USAGE, "give --config FILE");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--budget=x"), OUTCOME_USAGE,
                   "--budget: budget is 'x'");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "--interval=0"), OUTCOME_USAGE,
                   "--interval is '0', expected seconds");
    printed_expect(PRINTED(command_watch_main, "--config", ini, "more"), OUTCOME_USAGE, "more");
    printed_expect(PRINTED(command_watch_main, "--config", "/nowhere.ini"), OUTCOME_USAGE,
                   "/nowhere.ini");
}
