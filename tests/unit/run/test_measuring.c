// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/measuring.h"
#include "run/run_metadata.h"
#include "store/offloaded.h"
#include "store/timing.h"

static struct short_setup run;
static struct run_judge judge;

static void begin(void)
{
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(
        run_judge_open(&(struct run_judge_options){.setup = &run.setup,
                                                   .config = &run.config,
                                                   .store = run.store,
                                                   .prompts = &run.prompts,
                                                   .checkpoint = model_checkpoint(run.setup.model)},
                       &judge));
    SHORT_MUST(offloaded_write(run.store, &(struct offloaded_row){.target = "other",
                                                                  .sentence = "",
                                                                  .unexplained = "",
                                                                  .plan = "* -> other\n"}));
}

static void end(void)
{
    run_judge_close(&judge);
    short_setup_close(&run);
}

TestSuite(measuring, .init = begin, .fini = end, .timeout = 110);

Test(measuring, ops_have_times_and_the_offload_ends)
{
    struct arena *arena = arena_create();
    struct offloaded_row row;
    struct timing_row *times = NULL;
    size_t count = 0;

    SHORT_MUST(measuring_run(&judge, run.setup.places[1], "* -> other\n"));
    SHORT_MUST(offloaded_find(run.store, "other", arena, &row));
    cr_assert_neq(row.finished_s, 0);
    SHORT_MUST(timing_list(run.store, "other", arena, &times, &count));
    cr_assert_gt(count, 0u);
    for (size_t i = 0; i < count; i++) {
        cr_expect_gt(times[i].calls, 0u);
    }
    arena_destroy(arena);
}

Test(measuring, a_plan_that_is_none_is_refused)
{
    cr_assert_neq(measuring_run(&judge, run.setup.places[1], "* > other\n"), TAPML_OK);
}
