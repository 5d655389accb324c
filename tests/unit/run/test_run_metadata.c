// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/run_metadata.h"
#include "store/target.h"

static struct short_setup run;
static struct arena *arena;

static void begin(void)
{
    short_setup_open(&run);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(run_metadata, .init = begin, .fini = end);

static tapml_status settle(void)
{
    return run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts);
}

static struct target_row find(void)
{
    struct target_row row;

    SHORT_MUST(target_find(run.store, "other", arena, &row));
    return row;
}

// A run whose target has a step.
Test(run_metadata, the_same_run_goes_on)
{
    SHORT_MUST(settle());
    SHORT_MUST(settle());
    struct target_row target = find();

    cr_assert_str_eq(target.backend, "reference:f64");
    cr_assert_str_eq(target.goal, "* -> other\n");
    cr_assert_str_eq(target.given_up, "");
}

Test(run_metadata, another_run_is_refused_by_the_name_of_what_differs)
{
    SHORT_MUST(settle());
    run.config.decode = 4;
    cr_assert_eq(settle(), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "[run] decode = 3, now it is 4"));
    run.config.decode = 3;
    run.config.source.backend = "reference:f64";
    cr_assert_eq(settle(), TAPML_PRECONDITION);
    cr_assert_not_null(
        strstr(status_message(), "[source] backend = reference:f32, now it is reference:f64"));
    run.config.source.backend = "reference:f32";
    run.prompts.count--;
    cr_assert_eq(settle(), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "another [run] prompts"));
    run.prompts.count++;
    SHORT_MUST(settle());
}
