// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "judged_store.h"

TestSuite(verdict, .init = judged_store_begin, .fini = judged_store_end, .timeout = 110);

static struct verdict_list read_all(void)
{
    struct verdict_list list;
    MUST(verdict_read(store, "gpu", &list));
    return list;
}

static void judge_three(void)
{
    add_silu("s", 0, 0.5f);
    add_norm("n", 0, 0);
    add_append("k", 1, 0);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);
    verdict_list_release(&list);
}

Test(verdict, is_read_as_it_was_made)
{
    add_silu("s", 0, 0.5f);
    add_norm("n", 0, 1e-3f);
    add_append("k", 1, 1e-6f);
    const struct verdict_options options = options_for(exact);
    struct verdict_list made = judge(&options);
    struct verdict_list found = read_all();
    cr_assert_eq(found.count, made.count);
    for (size_t i = 0; i < found.count; i++) {
        cr_expect_eq(found.items[i].kind, made.items[i].kind);
        cr_expect_eq(found.items[i].margin, made.items[i].margin);
        cr_expect_str_eq(found.items[i].output, made.items[i].output);
        cr_expect_str_eq(found.items[i].reason, made.items[i].reason);
        cr_expect_eq(found.items[i].elements.count, made.items[i].elements.count);
        cr_expect_eq(found.items[i].elements.beyond, made.items[i].elements.beyond);
    }
    verdict_list_release(&made);
    verdict_list_release(&found);
}

Test(verdict, follows_a_changed_limit)
{
    judge_three();
    struct verdict_list list = read_all();
    const double before = list.items[0].margin;
    cr_assert_eq(list.items[0].kind, VERDICT_FAIL);
    verdict_list_release(&list);
    execute("UPDATE \"limit\" SET ulp = ulp * 1e9 WHERE op = 'tapml.silu'");
    list = read_all();
    cr_expect_eq(list.items[0].kind, VERDICT_PASS);
    cr_expect_float_eq(list.items[0].margin * 1e9, before, before * 1e-9);
    cr_expect_str_eq(list.items[0].reason, "");
    cr_expect_eq(list.items[0].elements.count, 0);
    verdict_list_release(&list);
    execute("UPDATE output_error SET row_error = 1 WHERE case_id = 2");
    list = read_all();
    cr_expect_eq(list.items[1].kind, VERDICT_FAIL);
    cr_expect_gt(list.items[1].margin, 1000);
    verdict_list_release(&list);
}

// The view is for a person at a shell, and says the same, but for what is stale.
Test(verdict, the_view_of_the_store_agrees)
{
    static const char *const changes[] = {
        "UPDATE output_error SET non_finite = 1 WHERE case_id = 3",
        "UPDATE output_error SET non_finite = 0, is_outside = 1 WHERE case_id = 3",
        "UPDATE output_error SET is_outside = 0, is_equal = 0 WHERE case_id = 3",
        "UPDATE output_error SET row_error = 1 WHERE case_id = 2",
        "UPDATE output_error SET nmse = 1, row_error = 0 WHERE case_id = 2",
        "UPDATE \"limit\" SET ulp = ulp * 1e9",
        "UPDATE output_error SET class = '', margin = 1 WHERE case_id = 1",
        "UPDATE output_error SET margin = 3.5 WHERE case_id = 1",
        "UPDATE result SET oracle = 'another' WHERE case_id = 2",
        "UPDATE result SET outcome = 'error' WHERE case_id = 3",
        "DELETE FROM output_error WHERE case_id = 1",
    };
    judge_three();
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        execute(changes[i]);
        struct verdict_list list = read_all();
        for (size_t k = 0; k < list.count; k++) {
            const struct verdict *verdict = &list.items[k];
            char sql[240];
            (void)snprintf(sql, sizeof(sql),
                           "SELECT count(*) FROM judged WHERE case_id = %d AND verdict = '%s'"
                           " AND iif(%d, margin IS NULL, iif(%d, margin > 1e308, margin = %.17g))",
                           (int)k + 1, verdict_name(verdict->measured_kind), isnan(verdict->margin),
                           isinf(verdict->margin), isfinite(verdict->margin) ? verdict->margin : 0);
            cr_expect_eq(number_of(sql), 1, "%s: %s", changes[i], sql);
        }
        verdict_list_release(&list);
    }
}

Test(verdict, without_its_limit_says_nothing)
{
    judge_three();
    execute("DELETE FROM \"limit\" WHERE op = 'tapml.silu'");
    struct verdict_list list = read_all();
    cr_expect_eq(list.items[0].kind, VERDICT_SKIPPED);
    cr_expect_not_null(strstr(list.items[0].reason, "its limits are not known"));
    cr_expect_eq(list.items[1].kind, VERDICT_PASS);
    verdict_list_release(&list);
}

Test(verdict, of_an_unknown_word_is_refused)
{
    enum verdict_kind kind = VERDICT_PASS;
    struct verdict_list list;
    cr_expect_eq(verdict_find_kind("perhaps", &kind), TAPML_INVALID);
    MUST(verdict_find_kind("unsupported", &kind));
    cr_expect_eq(kind, VERDICT_UNSUPPORTED);
    judge_three();
    execute("UPDATE output_error SET class = 'strange' WHERE case_id = 1");
    cr_expect_eq(verdict_read(store, "gpu", &list), TAPML_INVALID);
}

static void expect_one(const char *change,
                       enum verdict_kind kind,
                       enum verdict_freshness freshness,
                       const char *reason)
{
    execute(change);
    struct verdict_list list = read_all();
    cr_expect_eq(list.items[1].kind, kind, "%s: %s", change, verdict_name(list.items[1].kind));
    cr_expect_eq(list.items[1].freshness, freshness, "%s", change);
    cr_expect_not_null(strstr(list.items[1].reason, reason), "%s: %s", change,
                       list.items[1].reason);
    cr_expect_eq(list.items[2].freshness, VERDICT_FRESH, "%s: of another op", change);
    verdict_list_release(&list);
}

Test(verdict, of_something_else_is_stale)
{
    judge_three();
    expect_one("SELECT 1", VERDICT_PASS, VERDICT_FRESH, "");
    expect_one("UPDATE result SET implementation = 'x' WHERE case_id = 2", VERDICT_STALE,
               VERDICT_OUTDATED, "pass before its code changed: the next start replays it");
    expect_one("UPDATE result SET driver = 'x' WHERE case_id = 2", VERDICT_STALE, VERDICT_OUTDATED,
               "pass before the driver changed");
    expect_one("UPDATE result SET device = 'x' WHERE case_id = 2", VERDICT_STALE, VERDICT_OUTDATED,
               "pass before the device changed");
    expect_one("UPDATE output_error SET row_error = 1 WHERE case_id = 2", VERDICT_STALE,
               VERDICT_OUTDATED,
               "fail before the device changed: the next start replays it; y is ");
    execute("UPDATE result SET (implementation, device, driver) ="
            " (SELECT implementation, device, driver FROM maker WHERE op = 'tapml.rms_norm')"
            " WHERE case_id = 2");
    expect_one("UPDATE result SET options = 'x' WHERE case_id = 2", VERDICT_STALE, VERDICT_OUTDATED,
               "fail before an option changed");
    expect_one("DELETE FROM maker", VERDICT_FAIL, VERDICT_FRESH, "y is ");
    expect_one("UPDATE output_error SET class = '', margin = 0.5 WHERE case_id = 2", VERDICT_STALE,
               VERDICT_OUTDATED, "pass by a host that kept no errors");
    expect_one("DELETE FROM output_error WHERE case_id = 2", VERDICT_STALE, VERDICT_OUTDATED,
               "its errors are not known");
}

Test(verdict, is_inherited_by_the_content_key)
{
    judge_three();
    execute("UPDATE \"case\" SET key = (SELECT key FROM \"case\" WHERE id = 1) WHERE id = 2");
    expect_one("UPDATE result SET implementation = 'x' WHERE case_id = 2", VERDICT_FAIL,
               VERDICT_INHERITED, "y[");
    struct verdict_list list = read_all();
    cr_expect_eq(list.items[1].margin, list.items[0].margin);
    cr_expect_str_eq(list.items[1].instance, "n", "it is another case");
    verdict_list_release(&list);
    execute("UPDATE result SET implementation = 'x' WHERE case_id = 1");
    expect_one("SELECT 1", VERDICT_STALE, VERDICT_OUTDATED, "pass before its code changed");
}

Test(verdict, says_whose_limits_are_another_oracles)
{
    judge_three();
    struct verdict_list list = read_all();
    cr_expect(!list.items[1].has_stale_limits);
    verdict_list_release(&list);
    execute("UPDATE maker SET oracle = 'another' WHERE op = 'tapml.rms_norm'");
    list = read_all();
    cr_expect(!list.items[0].has_stale_limits && list.items[1].has_stale_limits);
    cr_expect_eq(list.items[1].kind, VERDICT_PASS);
    verdict_list_release(&list);
}
