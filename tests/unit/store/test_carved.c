// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "one_case.h"
#include "store/carved.h"

TestSuite(carved, .init = begin, .fini = end);

Test(carved, counts_and_origins_are_those_of_the_rows)
{
    struct carved_counts counts;
    struct carved_origin origin;
    int has = 0;
    MUST(carved_count(store, &counts));
    cr_assert_eq(counts.prompts, 1, "a prompt that is not carved to its end counts");
    cr_assert_eq(counts.calls, 2);
    cr_assert_eq(counts.time_ns, 42);
    cr_assert_eq(counts.cases, 1);
    MUST(carved_find_origin(store, 7, &origin, &has));
    cr_assert(has);
    cr_assert_eq(origin.prompt, 2);
    cr_assert_eq(origin.step, 3);
    cr_assert_eq(origin.tokens, 1);
    MUST(carved_find_origin(store, 8, &origin, &has));
    cr_assert_not(has);
}

Test(carved, a_key_is_reported_in_hexadecimal)
{
    char key[CARVED_KEY] = "?";
    MUST(carved_find_key(store, 7, key));
    cr_assert_str_eq(key, "01");
    MUST(carved_find_key(store, 8, key));
    cr_assert_str_eq(key, "");
}

static tapml_status expect(void *user, const char *name, uint64_t number)
{
    int *visits = user;
    cr_assert_str_eq(name, *visits == 0 ? "x.op" : "bf16");
    cr_assert_eq(number, *visits == 0 ? 40 : 96);
    ++*visits;
    return TAPML_OK;
}

Test(carved, times_are_of_kept_calls_and_weights_by_dtype)
{
    int visits = 0;
    MUST(carved_visit_times(store, expect, &visits));
    MUST(carved_visit_weights(store, expect, &visits));
    cr_assert_eq(visits, 2);
}

Test(carved, instances_come_in_the_order_of_their_first_calls)
{
    struct carved_instance *items = NULL;
    size_t count = 0;
    MUST(carved_list_instances(store, arena, &items, &count));
    cr_assert_eq(count, 1);
    cr_expect_str_eq(items[0].op, "x.op");
    cr_expect_eq(items[0].version, 1u);
}

Test(carved, cases_of_an_op_are_listed_and_all_are_forgotten)
{
    struct carved_counts counts;
    int64_t *ids = NULL;
    size_t count = 0;
    MUST(carved_list_op(store, "x.op", arena, &ids, &count));
    cr_assert_eq(count, 1);
    cr_expect_eq(ids[0], 7);
    MUST(carved_list_op(store, "x.none", arena, &ids, &count));
    cr_expect_eq(count, 0);
    MUST(carved_list_weight(store, "none.weight", arena, &ids, &count));
    cr_expect_eq(count, 0);
    MUST(carved_forget(store));
    MUST(carved_count(store, &counts));
    cr_expect_eq(counts.cases, 0);
    cr_expect_eq(counts.calls, 0);
    cr_expect_eq(counts.prompts, 0);
}
