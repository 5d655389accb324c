// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "harness/offload_fixture.h"
#include "offload/evidence.h"

#include <string.h>

static struct offload_fixture fixture;
static const struct graph *graph;
static struct verdict kept[8], derived[8];
static struct verdict_list verdicts;
static uint8_t *found;

static void begin(void)
{
    offload_fixture_open(&fixture, (struct corruptor_options){.factor = 1}, NULL);
    graph = model_graph(fixture.tiny.model);
    verdicts = (struct verdict_list){.items = kept, .derived = derived};
    found = calloc(graph->op_count, 1);
}

static void end(void)
{
    free(found);
    offload_fixture_close(&fixture);
}

TestSuite(evidence, .init = begin, .fini = end, .timeout = 60);

static void add_kept(uint32_t op, enum verdict_kind kind)
{
    kept[verdicts.count++] = (struct verdict){.case_id = (int64_t)verdicts.count + 1,
                                              .instance = graph->ops[op].instance,
                                              .source = "carved",
                                              .label = "",
                                              .phase = "",
                                              .shape_class = "",
                                              .output = "",
                                              .reason = "wrong",
                                              .kind = kind};
}

static void add_derived(uint32_t op, enum verdict_kind kind)
{
    derived[verdicts.derived_count++] = (struct verdict){.instance = graph->ops[op].instance,
                                                         .source = "shape",
                                                         .label = "rows=3",
                                                         .phase = "",
                                                         .shape_class = "",
                                                         .output = "",
                                                         .reason = "wrong",
                                                         .kind = kind};
}

Test(evidence, an_op_without_cases_has_none)
{
    MUST(evidence_read(graph, &verdicts, found));
    for (uint32_t i = 0; i < graph->op_count; i++) {
        cr_assert_eq(found[i], EVIDENCE_NONE);
    }
}

Test(evidence, every_kept_case_counts)
{
    add_kept(0, VERDICT_PASS);
    add_kept(0, VERDICT_PASS);
    add_kept(1, VERDICT_PASS);
    add_kept(1, VERDICT_SKIPPED);
    add_kept(2, VERDICT_UNSUPPORTED);
    add_kept(2, VERDICT_UNSUPPORTED);
    add_kept(3, VERDICT_UNSUPPORTED);
    add_kept(3, VERDICT_PASS);
    MUST(evidence_read(graph, &verdicts, found));
    cr_assert_eq(found[0], EVIDENCE_PROVED);
    cr_assert_eq(found[1], EVIDENCE_NONE, "one was not judged");
    cr_assert_eq(found[2], EVIDENCE_REFUSED);
    cr_assert_eq(found[3], EVIDENCE_NONE);
}

Test(evidence, a_derived_case_that_fails_is_enough)
{
    for (uint32_t op = 0; op < 4; op++) {
        add_kept(op, op == 3 ? VERDICT_STALE : VERDICT_PASS);
    }
    add_derived(0, VERDICT_PASS);
    add_derived(0, VERDICT_SKIPPED);
    add_derived(1, VERDICT_PASS);
    add_derived(1, VERDICT_ERROR);
    MUST(evidence_read(graph, &verdicts, found));
    cr_assert_eq(found[0], EVIDENCE_PROVED, "no device can be judged by a skipped one");
    cr_assert_eq(found[1], EVIDENCE_NONE);
    cr_assert_eq(found[2], EVIDENCE_PROVED);
    cr_assert_eq(found[3], EVIDENCE_NONE);
}

// Which op the case was of is not known.
Test(evidence, a_case_that_a_choice_has_left_out_may_be_one_that_fails)
{
    add_kept(0, VERDICT_PASS);
    add_kept(1, VERDICT_UNSUPPORTED);
    verdicts.not_run = 1;
    MUST(evidence_read(graph, &verdicts, found));
    cr_assert_eq(found[0], EVIDENCE_NONE);
    cr_assert_eq(found[1], EVIDENCE_REFUSED);
}

// It is not moved to where it is refused, whatever a shape that no case of the model has gives.
Test(evidence, what_is_refused_stays_so_with_a_derived_case_that_fails)
{
    add_kept(0, VERDICT_UNSUPPORTED);
    add_derived(0, VERDICT_FAIL);
    MUST(evidence_read(graph, &verdicts, found));
    cr_assert_eq(found[0], EVIDENCE_REFUSED);
}

Test(evidence, what_fails_is_blamed_by_itself)
{
    struct trial trial = {
        .graph = graph, .goal = fixture.goal, .target = "target", .arena = arena_create()};

    MUST(trial_init(&trial));
    add_kept(0, VERDICT_FAIL);
    add_kept(1, VERDICT_PASS);
    add_derived(2, VERDICT_FAIL);
    MUST(evidence_blame(&trial, &verdicts));
    cr_assert_eq(trial_count_blamed(&trial), 2u);
    cr_assert_eq(trial.marks[0].evidence, TRIAL_CASE);
    cr_assert_eq(trial.marks[2].evidence, TRIAL_DERIVED);
    cr_assert(trial.marks[0].is_alone && trial.marks[2].is_alone);
    cr_assert_not(trial.marks[1].is_blamed);
    trial_release(&trial);
    arena_destroy(trial.arena);
}

Test(evidence, survives_a_lack_of_memory)
{
    add_kept(0, VERDICT_PASS);
    alloc_fail_at(1);
    cr_assert_eq(evidence_read(graph, &verdicts, found), TAPML_NO_MEMORY);
    alloc_fail_at(0);
}
