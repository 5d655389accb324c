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
