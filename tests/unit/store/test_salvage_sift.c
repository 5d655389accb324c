// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "store/salvage_sift.h"
#include "three_cases.h"

static const char *const needed[] = {"source", NULL};
static struct text report;

// As `salvage_rows_copy` leaves it: calls for the three cases, and a result each.
static void begin_sift(void)
{
    begin();
    text_init(&report);
    execute("PRAGMA foreign_keys = OFF;"
            "CREATE TEMP TABLE gap (name TEXT, low INTEGER, high INTEGER);"
            "INSERT INTO tensor VALUES (x'00', 'f32', '[1]', 'raw', x'00000000');"
            "INSERT INTO call SELECT id, instance, prompt, step, part, phase, shape_class, 1, 1"
            "  FROM \"case\";"
            "INSERT INTO target (name, position, backend, activations, faults, goal, needs_all,"
            "  identity) VALUES ('gpu', 0, 'x', 'f32', '', '', 0, '1');"
            "INSERT INTO result SELECT 'gpu', id, 'ran', '', 1, 'i', 'd', 'v', '', 'q',"
            "  NULL, NULL, 'r' FROM \"case\"");
}

static void end_sift(void)
{
    text_release(&report);
    end();
}

TestSuite(salvage_sift, .init = begin_sift, .fini = end_sift);

Test(salvage_sift, keeps_what_is_whole)
{
    MUST(salvage_sift_run(store, needed, &report));
    cr_expect_eq(number_of("SELECT count(*) FROM \"case\""), 3);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 3);
    cr_expect_not_null(strstr(report.data, "1 of 1 prompts, 3 of 3 cases, 3 of 3 results"), "%s",
                       report.data);
}

Test(salvage_sift, drops_the_whole_prompt_of_a_lost_argument)
{
    execute("INSERT INTO gap VALUES ('argument', 8, 8)");
    MUST(salvage_sift_run(store, needed, &report));
    cr_expect_eq(number_of("SELECT count(*) FROM prompt"), 0);
    cr_expect_eq(number_of("SELECT count(*) FROM \"case\""), 0);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 0);
    cr_expect_not_null(strstr(report.data, "rows that cannot be read were in: argument"), "%s",
                       report.data);
}

// What a look has found goes with it.
Test(salvage_sift, keeps_trials_and_what_looks_have_found)
{
    execute(
        "INSERT INTO trial VALUES ('0a', 'tiny', 'kl', 0.5, NULL, 7, 'lost');"
        "INSERT INTO looked VALUES (1, 'gpu', 'k', 'x.op', 'c', 0, 'pass', 'fail', 1, NULL,"
        " NULL);"
        "INSERT INTO usage VALUES ('gone', 'gpu', 'd', 'v', NULL, '', 1, NULL, 9, 5, NULL, 0, 0,"
        " 0, 0, 0, 0, 0, 0)");
    MUST(salvage_sift_run(store, needed, &report));
    cr_expect_eq(number_of("SELECT count(*) FROM usage JOIN run ON run.id = usage.run"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM trial JOIN run ON run.id = trial.run"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM looked"), 0);
}

Test(salvage_sift, refuses_a_store_without_the_metadata_that_name_its_run)
{
    execute("INSERT INTO gap VALUES ('metadata', 0, 0)");
    cr_assert_eq(salvage_sift_run(store, needed, &report), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'source' is lost"), "%s", status_message());
}
