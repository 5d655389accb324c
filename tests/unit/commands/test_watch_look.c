// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/watch_look.h"
#include "config/run_file.h"
#include "harness/short_run.h"
#include "run/setup.h"

#include <sqlite3.h>
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

TestSuite(watch_look, .init = begin, .fini = end, .timeout = 110);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const struct options_spec specs[] = {
    {"--config", "FILE", ""}, {"--interval", "S", ""}, {"--budget", "N", ""},
    {"--page", "FILE", ""},   SETUP_OPTIONS,           {NULL, NULL, NULL},
};

static struct options parse(int argc, char **argv)
{
    struct options options;

    MUST(options_parse(specs, argc, argv, &options));
    return options;
}

static enum outcome look(void)
{
    const struct options options = parse(0, NULL);
    char program[1024], config[2 * SCRATCH_PATH];

    (void)snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    (void)snprintf(config, sizeof(config), "%s", scratch_path(&scratch, "run.ini"));
    return watch_look_run(
        &(struct watch_look_options){.program = program, .options = &options, .config = config});
}

static int64_t number_of(const char *sql)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;

    cr_assert_eq(sqlite3_open(scratch_path(&scratch, "run/run.tapmlrun"), &connection), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK, "%s",
                 sqlite3_errmsg(connection));
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);

    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(connection);
    return number;
}

Test(watch_look, options_go_before_the_file)
{
    struct watch_settings settings = {.interval_s = 300, .page = "a"};
    const struct options none = parse(0, NULL);
    const struct options given = parse(3, (char *[]){"--interval=7", "--budget=2%", "--page=b"});

    MUST(watch_look_settle(&none, &settings));
    cr_expect(settings.interval_s == 300 && settings.budget.kind == BUDGET_ALL);
    cr_expect_str_eq(settings.page, "a");
    MUST(watch_look_settle(&given, &settings));
    cr_expect(settings.interval_s == 7 && settings.budget.kind == BUDGET_SHARE);
    cr_expect_str_eq(settings.page, "b");
}

Test(watch_look, other_prompts_keep_the_results_of_cases_that_stay)
{
    (void)short_run_write(&scratch, "");
    cr_assert_eq(look(), OUTCOME_OK);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 121);
    (void)short_run_write_of(&scratch, "tests/data/models/llama",
                             "ids: 5 17 3\nids: 7 9 21 40\nids: 8 8\n", "");
    cr_assert_eq(look(), OUTCOME_OK);
    const int64_t cases = number_of("SELECT count(*) FROM \"case\"");

    cr_expect_gt(cases, 121);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), cases);
    cr_expect_eq(number_of("SELECT max(replayed) FROM look WHERE id = 2"), cases - 121);
    cr_expect_neq(access(scratch_path(&scratch, "run/before.tapmlrun"), F_OK), 0);
}

Test(watch_look, a_run_without_targets_has_nothing_to_watch)
{
    scratch_text(&scratch, "prompts.txt", "ids: 5\n");
    scratch_text(&scratch, "run.ini",
                 "[run]\ndir = d\nprompts = prompts.txt\n[model]\npath = m\n"
                 "[source]\nbackend = reference\n");
    cr_expect_eq(look(), OUTCOME_USAGE);
}
