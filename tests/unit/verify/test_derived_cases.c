// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "judged_store.h"
#include "verify/neighbours.h"

TestSuite(derived_cases, .init = judged_store_begin, .fini = judged_store_end, .timeout = 110);

static struct verdict_list judge_derived(const struct verdict_list *known)
{
    struct verdict_options options = options_for(exact);
    options.derived = 1;
    options.known = known;
    return judge(&options);
}

Test(derived_cases, known_verdicts_of_the_same_basis_are_taken_over)
{
    add_silu("s", 0, 0);
    struct verdict_list first = judge_derived(NULL);
    cr_assert_gt(first.derived_count, 1);
    cr_expect_eq(first.derived_replayed, first.derived_count);
    struct verdict_list second = judge_derived(&first);
    cr_expect_eq(second.derived_count, first.derived_count);
    cr_expect_eq(second.derived_replayed, 0);
    for (size_t i = 0; i < first.derived_count; i++) {
        cr_expect_str_eq(second.derived[i].label, first.derived[i].label);
        cr_expect_eq(second.derived[i].kind, first.derived[i].kind);
    }
    verdict_list_release(&second);
    add_silu("s", 1, 0); // Another phase: another case is derived from.
    second = judge_derived(&first);
    cr_expect_eq(second.derived_replayed, second.derived_count);
    verdict_list_release(&second);
    verdict_list_release(&first);
}

static int takes_second(void *taker, size_t index)
{
    (*(size_t *)taker)++;
    return index == 1;
}

Test(derived_cases, a_process_beside_others_judges_the_ops_that_it_takes)
{
    struct verdict_options options = options_for(exact);
    const int64_t none = 0;
    size_t asked = 0;

    add_silu("s", 0, 0);
    add_norm("n", 0, 0);
    options.derived = 1;
    struct verdict_list all = judge(&options);
    options.ids = &none;
    options.takes_op = takes_second;
    options.taker = &asked;
    struct verdict_list taken = judge(&options);
    const size_t first = all.derived_count - taken.derived_count;

    cr_expect_eq(asked, 2);
    cr_expect_eq(taken.count, 0, "kept cases are not its work");
    cr_assert(taken.derived_count > 0 && taken.derived_count < all.derived_count);
    for (size_t i = 0; i < taken.derived_count; i++) {
        cr_expect_str_eq(taken.derived[i].op_name, all.derived[first + i].op_name);
        cr_expect_str_eq(taken.derived[i].label, all.derived[first + i].label);
        cr_expect_eq(taken.derived[i].kind, all.derived[first + i].kind);
    }
    options.known = &all;
    asked = 0;
    struct verdict_list again = judge(&options);
    cr_expect_eq(asked, 0, "what is known is nobody's work");
    cr_expect_eq(again.derived_count, 0);
    verdict_list_release(&again);
    verdict_list_release(&taken);
    verdict_list_release(&all);
}
