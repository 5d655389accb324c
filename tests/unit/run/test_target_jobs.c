// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "base/file.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/run_metadata.h"
#include "run/target_jobs.h"
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
