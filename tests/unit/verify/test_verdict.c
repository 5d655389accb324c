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

// The view is for a person at a shell, and says the same.
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
                           (int)k + 1, verdict_name(verdict->kind), isnan(verdict->margin),
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
