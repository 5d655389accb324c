// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "exec/plan.h"
#include "ground.h"
#include "store/blame.h"

#include <math.h>
#include <string.h>

static struct ground_fixture fixture;

static void begin(void)
{
    short_setup_open(&fixture.run);
}

static void end(void)
{
    ground_close(&fixture);
}

TestSuite(plan_ground, .init = begin, .fini = end, .timeout = 60);

static void resolve(const char *rules, uint8_t *out_places)
{
    struct plan *plan = NULL;

    SHORT_MUST(plan_parse(rules, "rules", &plan));
    SHORT_MUST(plan_ground_resolve(&fixture.ground, plan, out_places));
    plan_destroy(plan);
}

Test(plan_ground, what_has_passed_may_leave_the_source)
{
    const struct plan_ground *ground = &fixture.ground;
    double row[256] = {0};
    uint64_t bytes[2] = {0};
    struct plan_look look = {.columns = row, .bytes = bytes};
    uint8_t places[512];

    ground_replay(&fixture.run);
    const struct graph *graph = model_graph(fixture.run.setup.model);
    const uint32_t blamed = graph->op_count - 1;

    // All its cases have passed: the model diverges with it.
    SHORT_MUST(blame_write(fixture.run.store, "other",
                           &(struct blame_row){.instance = graph->ops[blamed].instance,
                                               .kind = BLAME_TOGETHER,
                                               .margin = NAN,
                                               .reason = "the model diverges",
                                               .evidence = BLAME_MODEL,
                                               .source = "",
                                               .label = ""}));
    SHORT_MUST(ground_open(&fixture));
    cr_assert_eq(ground->question.n_places, 2u);
    cr_assert_leq(ground->question.n_ops, sizeof(places));
    cr_expect_str_eq(ground->names[1], "other");
    cr_expect_eq(ground->places[1].may_run, ground->question.n_ops - 1);
    cr_expect_eq(ground->places[1].failed, 1u);
    cr_expect_eq(ground->places[1].unknown, 0u);
    cr_expect_not(ground->question.ops[blamed]->may_run[1]);
    cr_expect_gt(ground->question.ops[3]->time_ns[0], 0);
    cr_expect_gt(ground->question.ops[3]->time_ns[1], 0);
    SHORT_MUST(plan_ground_check(&fixture.ground, 0));

    resolve("op=linear -> other\n", places);
    cr_assert_leq(ground->columns.width, sizeof(row) / sizeof(*row));
    SHORT_MUST(plan_ground_look(&fixture.ground, places, &look));
    cr_expect_gt(bytes[1], 0u);
    cr_expect_eq(look.moves, 0u, "both places have host memory");

    cr_expect_eq(plan_ground_check(&fixture.ground, 16), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "no operator fits: the smallest takes "));
    SHORT_MUST(plan_ground_measure_divergence(&fixture.ground));
    cr_expect_eq(ground->columns.guesses[0], 0);
    SHORT_MUST(plan_ground_measure_time(&fixture.ground));
    cr_expect_eq(ground->columns.guesses[0], 1);
}

Test(plan_ground, what_was_not_replayed_stays)
{
    SHORT_MUST(run_metadata_settle(fixture.run.store, &fixture.run.config, &fixture.run.setup,
                                   &fixture.run.prompts));
    SHORT_MUST(ground_open(&fixture));
    cr_expect_eq(fixture.ground.places[1].may_run, 0u);
    cr_expect_eq(fixture.ground.places[1].unknown, fixture.ground.question.n_ops);
    cr_expect_eq(plan_ground_check(&fixture.ground, 0), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "no operator may leave the source"));
    cr_expect_not_null(strstr(status_message(), "have no fresh result"));
}

Test(plan_ground, a_folder_without_a_run_is_refused)
{
    struct ground_fixture other = {.run = fixture.run};

    (void)snprintf(other.run.scratch.folder, sizeof(other.run.scratch.folder), "/absent");
    cr_expect_eq(ground_open(&other), TAPML_PRECONDITION);
    cr_expect_not_null(strstr(status_message(), "'/absent' has no run"));
    plan_ground_close(&other.ground);
}
