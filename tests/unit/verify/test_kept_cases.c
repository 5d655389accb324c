// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/budget.h"
#include "harness/late.h"
#include "judged_store.h"
#include "verify/examiner.h"
#include "verify/fault_rule.h"

TestSuite(kept_cases, .init = judged_store_begin, .fini = judged_store_end, .timeout = 110);

// A case of silu, which is `error` off, and one of rms_norm: ids 1 and 2.
static void add_pair(float error)
{
    add_silu("s", 0, error);
    add_norm("n", 0, 0);
}

// Judges all cases on a device that counts its calls.
static struct verdict_list judge_counted(uint64_t *out_calls)
{
    struct backend *late = late_create(&(struct late_options){.inner = exact});
    const struct verdict_options options = options_for(late);
    struct verdict_list list = judge(&options);
    *out_calls = late_counts(late).calls;
    backend_release(late);
    return list;
}

Test(kept_cases, stale_results_are_computed_again_and_fresh_ones_are_not)
{
    add_pair(0);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);
    cr_expect_eq(list.replayed, 2);
    verdict_list_release(&list);
    list = judge(&options);
    cr_expect_eq(list.replayed, 0);
    verdict_list_release(&list);
    execute("UPDATE result SET implementation = 'org.tapml.cpu corrupted' WHERE case_id = 1");
    list = judge(&options);
    cr_expect_eq(list.replayed, 1);
    cr_expect_eq(list.items[0].kind, VERDICT_PASS);
    verdict_list_release(&list);
}

Test(kept_cases, a_changed_limit_is_judged_by_and_nothing_runs)
{
    uint64_t calls = 0;
    add_pair(0.5f);
    struct verdict_list list = judge_counted(&calls);
    cr_expect_gt(calls, 0);
    cr_expect_eq(list.items[0].kind, VERDICT_FAIL);
    verdict_list_release(&list);
    execute("UPDATE \"limit\" SET ulp = ulp * 1e9");
    list = judge_counted(&calls);
    cr_expect_eq(calls, 0);
    cr_expect_eq(list.replayed, 0);
    cr_expect_eq(list.items[0].kind, VERDICT_PASS);
    verdict_list_release(&list);
}

Test(kept_cases, what_the_source_did_not_compute_says_nothing_about_a_target)
{
    const struct verdict refutation = {
        .case_id = 1, .kind = VERDICT_FAIL, .reason = "y[0] is 1, expected 2"};
    const struct verdict_list refuted = {.items = (struct verdict *)(uintptr_t)&refutation,
                                         .count = 1};
    struct verdict_options options = options_for(exact);
    add_pair(0.5f);
    options.refuted = &refuted;
    struct verdict_list list = judge(&options);
    cr_expect_eq(list.items[0].kind, VERDICT_SKIPPED);
    cr_expect_str_eq(list.items[0].reason,
                     "the source recorded something else than its op computes: y[0] is 1, "
                     "expected 2");
    cr_expect_eq(list.items[1].kind, VERDICT_PASS);
    verdict_list_release(&list);
}

// Another factor or other code of the oracle: limits are measured, the target is not asked.
Test(kept_cases, another_oracle_measures_limits_alone)
{
    uint64_t calls = 0;
    add_pair(0.5f);
    struct verdict_list list = judge_counted(&calls);
    const double margin = list.items[1].margin;
    verdict_list_release(&list);
    execute("UPDATE \"limit\" SET oracle = 'older', nmse = 1, row_error = 1");
    execute("UPDATE result SET oracle = 'older'");
    list = judge_counted(&calls);
    cr_expect_eq(calls, 0);
    cr_expect_eq(list.replayed, 0);
    cr_expect_gt(list.executions_calibrating, 0);
    cr_expect_eq(list.items[0].kind, VERDICT_FAIL);
    cr_expect_eq(list.items[1].margin, margin);
    cr_expect_eq(number_of("SELECT count(*) FROM result WHERE oracle = 'older'"), 0);
    cr_expect_eq(number_of("SELECT count(*) FROM \"limit\" WHERE oracle = 'older'"), 0);
    verdict_list_release(&list);
    list = judge_counted(&calls);
    cr_expect_eq(list.executions_calibrating, 0);
    verdict_list_release(&list);
}

Test(kept_cases, results_without_errors_are_replayed)
{
    uint64_t calls = 0;
    add_pair(0);
    struct verdict_list list = judge_counted(&calls);
    verdict_list_release(&list);
    execute("UPDATE output_error SET class = '', margin = 3 WHERE case_id = 1");
    list = judge_counted(&calls);
    cr_expect_eq(list.replayed, 1);
    cr_expect_eq(list.items[0].kind, VERDICT_PASS);
    verdict_list_release(&list);
    execute("DELETE FROM output_error WHERE case_id = 2");
    list = judge_counted(&calls);
    cr_expect_eq(list.replayed, 1);
    verdict_list_release(&list);
}

// The order of the cases has no part in what a verdict is held against.
Test(kept_cases, all_are_judged_by_the_limits_that_all_have_led_to)
{
    add_norm("n", 0, 0);
    add_norm("n", 1, 0);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);
    verdict_list_release(&list);
    execute("DELETE FROM result WHERE case_id = 2");
    execute("UPDATE \"limit\" SET nmse = nmse / 1e3, row_error = row_error / 1e3");
    list = judge(&options);
    struct verdict_list again;
    MUST(verdict_read(store, "gpu", &again));
    for (size_t i = 0; i < list.count; i++) {
        cr_expect_eq(list.items[i].margin, again.items[i].margin);
        cr_expect_eq(list.items[i].kind, again.items[i].kind);
    }
    verdict_list_release(&list);
    verdict_list_release(&again);
}

// What is left is no result, and comes later; nothing is lost if somebody ends it on the way.
Test(kept_cases, no_more_is_replayed_than_may_be_spent)
{
    struct case_budget spend = {.kind = BUDGET_CASES};
    struct verdict_options options = options_for(exact);
    for (int64_t step = 0; step < 4; step++) {
        add_silu("s", step, 0.5f);
    }
    options.spend = &spend;
    struct verdict_list list = judge(&options);
    cr_expect(list.replayed == 0 && list.count == 0 && list.left == 4 && list.not_run == 4);
    verdict_list_release(&list);
    spend.amount = 3;
    list = judge(&options);
    cr_expect(list.replayed == 3 && list.count == 3 && list.left == 1);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 3);
    verdict_list_release(&list);
    spend = (struct case_budget){BUDGET_SHARE, 0.25};
    list = judge(&options);
    cr_expect(list.replayed == 1 && list.count == 4 && list.left == 0 && list.not_run == 0);
    verdict_list_release(&list);
    execute("DELETE FROM result");
    spend = (struct case_budget){BUDGET_SECONDS, 0};
    list = judge(&options);
    cr_expect(list.replayed == 0 && list.left == 4);
    verdict_list_release(&list);
}

// What was run, in its order: "s0 s1 t0 ".
struct run_order {
    char text[256];
};

static void
note_run(void *user, const struct examination *examination, const struct verdict *verdict)
{
    struct run_order *order = user;
    const size_t used = strlen(order->text);
    (void)verdict;
    snprintf(order->text + used, sizeof(order->text) - used, "%s%d ", examination->item->instance,
             (int)examination->item->step);
}

static void expect_run(const struct verdict_options *given, const char *expected)
{
    struct run_order order = {.text = ""};
    struct verdict_options options = *given;
    options.fresh = 1;
    options.observe = note_run;
    options.user = &order;
    struct verdict_list list = judge(&options);
    cr_expect_str_eq(order.text, expected);
    for (size_t i = 0; i < list.count; i++) {
        cr_expect_eq(list.items[i].case_id, (int64_t)i + 1, "the list is in the store's order");
    }
    verdict_list_release(&list);
}

Test(kept_cases, cases_of_an_instance_are_replayed_one_behind_the_other)
{
    struct verdict_options options = options_for(exact);
    for (int i = 0; i < 3; i++) {
        add_silu("s", i, 0);
        add_silu("t", i, 0);
        add_norm("n", i, 0);
    }
    expect_run(&options, "s0 s1 s2 t0 t1 t2 n0 n1 n2 ");
    const struct fault_rule rule = {.name = "fault.1", .op = "*", .instance = "none"};
    options.faults = &rule;
    options.fault_count = 1;
    expect_run(&options, "s0 t0 n0 s1 t1 n1 s2 t2 n2 ");
}
