// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "base/file.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/target_jobs.h"
#include "store/carved.h"
#include "store/result.h"
#include "store/step.h"

// A run that is carved and whose judge is open.
static void open_judge(struct short_setup *run, struct run_judge *judge)
{
    short_setup_open(run);
    SHORT_MUST(run_metadata_settle(run->store, &run->config, &run->setup, &run->prompts));
    SHORT_MUST(carving_run(&run->config, &run->setup, run->store, &run->prompts, NULL));
    SHORT_MUST(run_judge_open(
        &(struct run_judge_options){.setup = &run->setup,
                                    .config = &run->config,
                                    .store = run->store,
                                    .prompts = &run->prompts,
                                    .checkpoint = model_checkpoint(run->setup.model)},
        judge));
}

static size_t count_steps(struct store *store)
{
    struct arena *arena = arena_create();
    struct step_row *rows = NULL;
    size_t count = 0;

    SHORT_MUST(step_list(store, "other", arena, &rows, &count));
    arena_destroy(arena);
    return count;
}

Test(target_jobs, a_second_start_repeats_no_job, .timeout = 110)
{
    struct short_setup run;
    struct run_judge judge;
    unsigned bundles = 0;
    size_t first = 0, second = 0;
    struct target_jobs_options options = {.judge = &judge, .io_bundles = &bundles};

    open_judge(&run, &judge);
    SHORT_MUST(file_make_folder(run.config.dir));
    options.target = run.setup.places[1];
    SHORT_MUST(target_jobs_run(&options));
    first = count_steps(run.store);
    SHORT_MUST(target_jobs_run(&options));
    second = count_steps(run.store);
    cr_assert_gt(first, 0u);
    cr_assert_eq(second, first);
    cr_assert_eq(bundles, 0u);
    run_judge_close(&judge);
    short_setup_close(&run);
}

// What a host that carves has beside it: it says at the third look that all is there.
static tapml_status is_third(void *user, int *out_is_whole)
{
    int *looks = user;

    *out_is_whole = ++*looks == 3;
    return TAPML_OK;
}

static tapml_status is_gone(void *user, int *out_is_whole)
{
    (void)user;
    (void)out_is_whole;
    return status_fail(TAPML_CANCELLED, "gone");
}

static void follow(const struct target_jobs_options *options)
{
    struct store *store = options->judge->from.store;
    struct carved_counts counts;
    size_t results = 0;
    int looks = 0;

    SHORT_MUST(target_jobs_follow(options, is_third, &looks));
    cr_assert_eq(looks, 3);
    SHORT_MUST(carved_count(store, &counts));
    SHORT_MUST(result_count(store, "other", &results));
    cr_assert_eq(results, counts.cases);
    cr_assert_eq(target_jobs_follow(options, is_gone, NULL), TAPML_CANCELLED);
}

Test(target_jobs, cases_are_replayed_before_there_is_a_judge, .timeout = 110)
{
    struct short_setup run;
    struct run_judge judge;
    struct target_jobs_options options = {.judge = &judge};

    open_judge(&run, &judge);
    SHORT_MUST(file_make_folder(run.config.dir));
    options.target = run.setup.places[1];
    follow(&options);
    SHORT_MUST(target_jobs_run(&options)); // And no bundle is written, whatever fails.
    cr_assert_gt(count_steps(run.store), 0u);
    run_judge_close(&judge);
    short_setup_close(&run);
}
