// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/serving_machine.h"
#include "run/case_reach.h"
#include "store/prompt.h"
#include "store/row.h"

static struct serving_machine machine;
static struct case_reach *reach;
static struct case_reach_answer answer;
static char path[SCRATCH_PATH];

static void setup(void)
{
    serving_machine_open(&machine);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&machine.run.scratch, "taken.tapmlrun"));
    // The keys of the host stand where its user has them.
    cr_assert_eq(setenv("XDG_CONFIG_HOME", machine.paired.sides[PAIRED_HOST].scratch.folder, 1), 0);
    char command[4 * SCRATCH_PATH];

    (void)snprintf(command, sizeof(command), "mkdir -m 700 %s/tapml && cp -p %s/*.* %s/tapml",
                   machine.paired.sides[PAIRED_HOST].scratch.folder,
                   machine.paired.sides[PAIRED_HOST].scratch.folder,
                   machine.paired.sides[PAIRED_HOST].scratch.folder);
    cr_assert_eq(system(command), 0);
    PAIRED_MUST(case_reach_open(machine.url, &reach));
}

static void teardown(void)
{
    case_reach_close(reach);
    char command[2 * SCRATCH_PATH];

    (void)snprintf(command, sizeof(command), "rm -r %s/tapml",
                   machine.paired.sides[PAIRED_HOST].scratch.folder);
    cr_expect_eq(system(command), 0);
    serving_machine_close(&machine);
}

TestSuite(case_reach, .init = setup, .fini = teardown, .timeout = 60);

static int64_t count_of(const char *sql)
{
    struct store *store = NULL;
    struct row row;
    int has = 0;

    SHORT_MUST(store_open_to_read(path, &store));
    SHORT_MUST(row_begin(store, sql, "asking", &row));
    SHORT_MUST(row_next(&row, &has));
    const int64_t count = row_i64(&row, 0);

    row_end(&row);
    store_close(store);
    return count;
}

Test(case_reach, there_is_nothing_before_it_is_carved)
{
    PAIRED_MUST(case_reach_ask(reach, machine.key, NULL, 0, path, &answer));
    cr_expect_not(answer.has_store);
    cr_expect_not(answer.is_carving, "nobody has the folder");
}

Test(case_reach, what_is_lacking_comes)
{
    struct arena *arena = arena_create();
    struct hash *prompts = NULL;
    size_t count = 0;

    serving_machine_carve(&machine);
    SHORT_MUST(prompt_list_carved(machine.run.store, arena, &prompts, &count));
    PAIRED_MUST(case_reach_ask(reach, machine.key, prompts, 1, path, &answer));
    cr_assert(answer.has_store);
    cr_expect_eq(count_of("SELECT count(*) FROM prompt"), (int64_t)count - 1);
    PAIRED_MUST(case_reach_ask(reach, machine.key, NULL, 0, path, &answer));
    cr_assert(answer.has_store);
    cr_expect_eq(count_of("SELECT count(*) FROM prompt"), (int64_t)count);
    PAIRED_MUST(case_reach_ask(reach, machine.key, prompts, count, path, &answer));
    cr_expect_not(answer.has_store);
    arena_destroy(arena);
}

Test(case_reach, a_run_of_another_key_is_refused)
{
    serving_machine_carve(&machine);
    cr_expect_eq(case_reach_ask(reach, "other", NULL, 0, path, &answer), TAPML_PRECONDITION);
    cr_expect_not_null(strstr(status_message(), " refuses: the run there is another one"));
    // The session goes on.
    PAIRED_MUST(case_reach_ask(reach, machine.key, NULL, 0, path, &answer));
    cr_expect(answer.has_store);
}

Test(case_reach, a_file_that_cannot_be_written_is_named)
{
    serving_machine_carve(&machine);
    cr_expect_eq(case_reach_ask(reach, machine.key, NULL, 0, "/nonexistent/file", &answer),
                 TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "/nonexistent/file"), "%s", status_message());
}
