// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "exec/plan.h"
#include "harness/scratch.h"
#include "offload/alone.h"
#include "store/blame.h"
#include "store/instance.h"
#include "store/offloaded.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/verdict.h"

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct store *store;
static struct arena *arena;
static struct plan *goal;
static struct verdict kept[8], derived[8];
static struct verdict_list list;
static struct alone_counts counts;

static void begin(void)
{
    static const struct instance_row instances[] = {{"c", "tapml.silu", "elementwise"},
                                                    {"a", "tapml.silu", "elementwise"},
                                                    {"b", "tapml.linear", "reduction"}};

    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    MUST(store_begin(store));
    MUST(instance_replace(store, instances, 3));
    MUST(store_commit(store));
    MUST(plan_parse("* -> gpu\n", "the goal", &goal));
    arena = arena_create();
    list = (struct verdict_list){.items = kept, .derived = derived};
}

static void end(void)
{
    plan_destroy(goal);
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(alone, .init = begin, .fini = end);

static struct verdict
make(const char *instance, const char *label, enum verdict_kind kind, double margin)
{
    return (struct verdict){.case_id = (int64_t)margin,
                            .source = *label != '\0' ? "boundary" : "carved",
                            .label = label,
                            .instance = instance,
                            .kind = kind,
                            .margin = margin,
                            .reason = kind == VERDICT_PASS ? "" : "it is so"};
}

static void add_kept(const char *instance, enum verdict_kind kind, double margin)
{
    kept[list.count++] = make(instance, "", kind, margin);
}

static void settle(void)
{
    MUST(alone_settle(
        &(struct alone_options){.store = store, .target = "gpu", .goal = goal, .verdicts = &list},
        &counts));
}

static const struct blame_row *blames(size_t *out_count)
{
    struct blame_row *rows = NULL;

    MUST(blame_list(store, "gpu", arena, &rows, out_count));
    return rows;
}

Test(alone, what_passes_runs_on_the_target_and_nothing_is_judged_end_to_end)
{
    struct offloaded_row row;
    size_t count = 0;

    add_kept("a", VERDICT_PASS, 0.5);
    add_kept("b", VERDICT_PASS, 0.5);
    add_kept("c", VERDICT_PASS, 0.5);
    settle();
    cr_assert_eq(counts.wanted, 3u);
    cr_assert_eq(counts.moved, 3u);
    (void)blames(&count);
    cr_assert_eq(count, 0u);
    MUST(offloaded_find(store, "gpu", arena, &row));
    cr_assert_str_eq(row.plan, "* -> gpu\n");
    cr_assert_neq(row.finished_s, 0);
    cr_assert_not_null(strstr(row.sentence, "no model to run"));
}

Test(alone, a_kept_failure_beats_a_derived_one_and_the_larger_margin_the_smaller)
{
    size_t count = 0;

    add_kept("a", VERDICT_FAIL, 2);
    add_kept("a", VERDICT_FAIL, 4);
    add_kept("b", VERDICT_PASS, 0);
    add_kept("c", VERDICT_PASS, 0);
    derived[list.derived_count++] = make("a", "tiny", VERDICT_FAIL, 100);
    derived[list.derived_count++] = make("b", "tiny", VERDICT_FAIL, 3);
    settle();
    cr_assert_eq(counts.moved, 1u);
    const struct blame_row *rows = blames(&count);

    cr_assert_eq(count, 2u);
    cr_assert_str_eq(rows[0].instance, "a");
    cr_assert_str_eq(rows[0].evidence, BLAME_CASE);
    cr_assert_eq(rows[0].case_id, 4);
    cr_assert_str_eq(rows[1].instance, "b");
    cr_assert_str_eq(rows[1].evidence, BLAME_DERIVED);
    cr_assert_str_eq(rows[1].label, "tiny");
}

Test(alone, what_was_never_compared_is_no_pass)
{
    struct offloaded_row row;
    size_t count = 0;

    add_kept("a", VERDICT_SKIPPED, NAN);
    add_kept("b", VERDICT_UNSUPPORTED, NAN);
    add_kept("b", VERDICT_PASS, 0.1);
    settle(); // And `c` has no case.
    cr_assert_eq(counts.moved, 1u);
    const struct blame_row *rows = blames(&count);

    cr_assert_eq(count, 2u);
    cr_assert_str_eq(rows[0].instance, "c");
    cr_assert_str_eq(rows[0].reason, "it has no case that was run");
    cr_assert_str_eq(rows[1].instance, "a");
    cr_assert_str_eq(rows[1].kind, BLAME_UNSUPPORTED);
    MUST(offloaded_find(store, "gpu", arena, &row));
    cr_assert_str_eq(row.plan, "* -> gpu\ninstance=c -> source\ninstance=a -> source\n");
}

Test(alone, what_the_goal_leaves_is_not_blamed)
{
    size_t count = 0;

    plan_destroy(goal);
    MUST(plan_parse("op=linear -> gpu\n", "the goal", &goal));
    add_kept("a", VERDICT_FAIL, 9);
    add_kept("b", VERDICT_PASS, 0.1);
    settle();
    cr_assert_eq(counts.wanted, 1u);
    cr_assert_eq(counts.moved, 1u);
    (void)blames(&count);
    cr_assert_eq(count, 0u);
}

Test(alone, a_second_time_the_first_is_replaced)
{
    struct step_row *steps = NULL;
    size_t count = 0;

    add_kept("a", VERDICT_FAIL, 9);
    settle();
    list.count = 0;
    add_kept("a", VERDICT_PASS, 0.1);
    settle();
    (void)blames(&count);
    cr_assert_eq(count, 2u, "b and c have no case");
    MUST(step_list(store, "gpu", arena, &steps, &count));
    cr_assert_str_eq(steps[0].reason, "0 of 3 instances right, by their cases alone");
}
