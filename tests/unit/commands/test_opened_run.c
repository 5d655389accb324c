// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/opened_run.h"
#include "config/run_file.h"
#include "harness/short_run.h"
#include "store/carved.h"
#include "store/store.h"

#include <stdlib.h>

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(opened_run, .init = begin, .fini = end, .timeout = 110);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static void open_it(struct opened_run *run)
{
    static const struct options_spec specs[] = {SETUP_OPTIONS, {NULL, NULL, NULL}};
    struct options options;
    char program[1024];

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    MUST(run_file_load(scratch_path(&scratch, "run.ini"), &run->config));
    MUST(options_parse(specs, 0, NULL, &options));
    MUST(setup_open(program, &options, &run->config.ini, &run->setup));
    MUST(opened_run_open(run, NULL, NULL));
}

Test(opened_run, it_has_the_cases_and_refuses_another_run)
{
    struct opened_run run = {.is_incomplete = 0}, other = {.is_incomplete = 0};
    struct carved_counts counts;

    (void)short_run_write(&scratch, "");
    open_it(&run);
    cr_assert_not_null(run.source);
    cr_assert_not_null(run.targets[0]);
    MUST(opened_run_settle(&run));
    MUST(opened_run_fill(&run));
    MUST(carved_count(run.store, &counts));
    cr_expect_eq(counts.cases, 121);
    MUST(opened_run_judge(&run));
    cr_expect_eq(opened_run_crashes(run.targets[0]), 0);
    cr_expect_not(opened_run_is_loss(run.targets[0], 0, TAPML_INVALID));
    cr_expect(opened_run_is_loss(run.targets[0], 0, TAPML_DEVICE_LOST));
    opened_run_release(&run);
    (void)short_run_write_of(&scratch, "tests/data/models/llama", "ids: 5\n", "");
    open_it(&other);
    cr_expect_eq(opened_run_settle(&other), TAPML_PRECONDITION, "%s", status_message());
    opened_run_release(&other);
}
