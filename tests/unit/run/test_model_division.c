// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/place.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/model_division.h"
#include "run/run_metadata.h"

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
}

static void end(void)
{
    run_judge_close(&judge);
    short_setup_close(&run);
}

TestSuite(model_division, .init = begin, .fini = end, .timeout = 110);

Test(model_division, a_mesh_names_places)
{
    cr_expect_not(model_division_has(&run.config, "other"));
    run.config.sharding.mesh = "source  other2\tother";
    cr_expect(model_division_has(&run.config, "other"));
    cr_expect(model_division_has(&run.config, "source"));
    cr_expect_not(model_division_has(&run.config, "othe"));
}

// How many parts of products lie where, by the place that their names end with.
static size_t count_on(const struct model_division *division, const char *suffix, const char *place)
{
    const struct graph *graph = model_graph(division->model);
    size_t count = 0;

    for (uint32_t i = 0; i < graph->op_count; i++) {
        const char *at = strrchr(graph->ops[i].instance, '@');

        count += at != NULL && strcmp(at, suffix) == 0 &&
                 strcmp(plan_place(division->plan, graph->ops[i].op->name, graph->ops[i].instance,
                                   PLAN_DECODE),
                        place) == 0;
    }
    return count;
}

Test(model_division, what_was_moved_runs_there_if_it_is_a_part_of_it)
{
    struct model_division division;
    const struct model_division_options options = {
        .judge = &judge,
        .target = run.setup.places[1],
        .plan = "* -> other\ninstance=layers.0/mlp/up_proj -> source\n",
        .chunk = 4};

    run.config.sharding = (struct sharding_options){.mesh = "source other", .column = "*.up_proj"};
    SHORT_MUST(model_division_open(&options, &division));
    cr_expect_eq(count_on(&division, "@source", "other"), 0u);
    cr_expect_gt(count_on(&division, "@other", "other"), 0u);
    cr_expect_gt(count_on(&division, "@other", "source"), 0u, "of the one that was not moved");
    model_division_close(&division);
}
