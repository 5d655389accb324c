// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "choose/choice.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/shard_cases.h"
#include "store/carved.h"
#include "store/merge.h"
#include "store/metadata.h"

enum { SHARDS = 3 };

static struct short_setup run;
static struct store *own[SHARDS];
static struct shard_cases cases[SHARDS];
static char path[2 * SCRATCH_PATH];

static void begin(void)
{
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    (void)snprintf(path, sizeof(path), "%s", store_path(run.store));
    for (int i = 0; i < SHARDS; i++) {
        char name[2 * SCRATCH_PATH], file[32];

        (void)snprintf(file, sizeof(file), "own-%d.tapmlrun", i);
        (void)snprintf(name, sizeof(name), "%s", scratch_path(&run.scratch, file));
        SHORT_MUST(store_open(name, 1, &own[i]));
    }
}

static void end(void)
{
    for (int i = 0; i < SHARDS; i++) {
        shard_cases_release(&cases[i]);
        store_close(own[i]);
    }
    short_setup_close(&run);
}

TestSuite(shard_cases, .init = begin, .fini = end);

static void take_all(const struct choice_settings *choice)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        SHORT_MUST(
            shard_cases_take(&(struct case_shard){i + 1, SHARDS}, path, choice, own[i], &cases[i]));
    }
}

static size_t cases_of(struct store *store)
{
    struct carved_counts counts;

    SHORT_MUST(carved_count(store, &counts));
    return counts.cases;
}

static void ignore(void *user, const char *sentence)
{
    (void)user;
    cr_assert_fail("%s", sentence);
}

Test(shard_cases, all_shards_have_all_cases_each_once)
{
    const size_t all = cases_of(run.store);
    struct merge_counts counts;
    struct store *merged = NULL;
    char text[SHARD_CASES_TEXT];
    char name[2 * SCRATCH_PATH];
    size_t sum = 0;

    take_all(NULL);
    for (int i = 0; i < SHARDS; i++) {
        cr_expect_eq(cases[i].own, cases_of(own[i]));
        cr_expect_eq(cases[i].chosen, all);
        cr_expect_leq(cases[i].cost, cases[i].even_cost);
        cr_expect_leq(cases[i].even_cost, 1.2);
        cr_expect_leq(cases[i].even_cost, cases[i].count_cost);
        sum += cases[i].own;
    }
    cr_expect_eq(sum, all);
    shard_cases_print(&cases[0], text);
    cr_expect_not_null(strstr(text, "shard 1 of 3: "), "%s", text);

    // No case comes twice.
    (void)snprintf(name, sizeof(name), "%s", scratch_path(&run.scratch, "merged.tapmlrun"));
    SHORT_MUST(store_open(name, 1, &merged));
    sum = 0;
    for (int i = 0; i < SHARDS; i++) {
        SHORT_MUST(merge_run(merged, own[i], ignore, NULL, &counts));
        sum += (size_t)counts.cases;
    }
    cr_expect_eq(sum, all);
    cr_expect_eq(cases_of(merged), all);
    cr_expect_str_eq(metadata_get(merged, "shards"), "3");
    cr_expect_not_null(metadata_get(merged, "shard.2/3"));
    store_close(merged);
}

Test(shard_cases, a_second_start_has_the_same_cases)
{
    take_all(NULL);
    const size_t before = cases_of(own[1]);

    shard_cases_release(&cases[1]);
    SHORT_MUST(shard_cases_take(&(struct case_shard){2, SHARDS}, path, NULL, own[1], &cases[1]));
    cr_expect_eq(cases_of(own[1]), before);
    cr_expect_eq(cases[1].own, before);
}

Test(shard_cases, what_is_chosen_is_split)
{
    struct choice_settings choice = {.order = CHOICE_AUTO};

    SHORT_MUST(budget_read("10", &choice.budget));
    take_all(&choice);
    cr_expect_eq(cases[0].chosen, 10);
    cr_expect_eq(cases[0].own + cases[1].own + cases[2].own, 10);

    struct shard_cases other;
    SHORT_MUST(budget_read("10s", &choice.budget));
    cr_assert_eq(shard_cases_take(&(struct case_shard){1, 2}, path, &choice, own[0], &other),
                 TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "[select] budget is a time"));
}

Test(shard_cases, a_store_that_is_not_there_is_named)
{
    struct shard_cases other;

    cr_assert_eq(
        shard_cases_take(&(struct case_shard){1, 2}, "absent.tapmlrun", NULL, own[0], &other),
        TAPML_NOT_FOUND);
    cr_expect_not_null(strstr(status_message(), "absent.tapmlrun"));
}

Test(shard_cases, each_shard_has_a_folder)
{
    struct arena *arena = arena_create();

    cr_expect_str_eq(shard_cases_folder(&(struct case_shard){3, 8}, "run", arena),
                     "run/shard-3-of-8");
    arena_destroy(arena);
}
