// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "harness/cases.h"
#include "new_store.h"
#include "store/prompt.h"

TestSuite(prompt, .init = make_store, .fini = remove_store);

Test(prompt, prompts)
{
    const int32_t ids[] = {5, 17, 3};
    const int32_t greedy[] = {9, -1};
    const struct hash hash = {.high = 0xffff000000000000, .low = 1};
    struct carved_prompt prompt = {.hash = hash,
                                   .index = 4,
                                   .text = "it's",
                                   .ids = ids,
                                   .id_count = 3,
                                   .greedy = greedy,
                                   .greedy_count = 2};
    int32_t *again = NULL;
    int64_t count = 0;
    cr_assert_not(prompt_is_carved(store, hash));
    cr_assert_eq(prompt_greedy(store, hash, &again, &count), TAPML_NOT_FOUND);
    cr_assert_eq(prompt_add(store, &prompt), TAPML_OK, "%s", status_message());
    reopen();
    cr_assert(prompt_is_carved(store, hash));
    cr_assert_eq(prompt_greedy(store, hash, &again, &count), TAPML_OK);
    cr_assert_eq(count, 2);
    cr_assert_arr_eq(again, greedy, sizeof(greedy));
    alloc_free(again);
    cr_assert_eq(number_of("SELECT position = 4 AND text = 'it''s' AND ids = '[5,17,3]'"
                           " FROM prompt WHERE hash = 'ffff0000000000000000000000000001'"),
                 1);
}

Test(prompt, those_that_are_carved_are_listed_as_they_stand)
{
    const struct hash first = {.high = 7, .low = 1}, second = {.high = 3, .low = 2};
    struct arena *own = arena_create();
    struct hash *list = NULL;
    size_t count = 0;

    cr_assert_eq(prompt_add(store, &(struct carved_prompt){.hash = second, .index = 1, .text = ""}),
                 TAPML_OK);
    cr_assert_eq(prompt_add(store, &(struct carved_prompt){.hash = first, .index = 0, .text = ""}),
                 TAPML_OK);
    cr_assert_eq(prompt_begin(store, (struct hash){.high = 9}), TAPML_OK);
    cr_assert_eq(prompt_list_carved(store, own, &list, &count), TAPML_OK);
    cr_assert_eq(count, 2u);
    cr_expect(hash_equal(list[0], first));
    cr_expect(hash_equal(list[1], second));
    arena_destroy(own);
}

Test(prompt, a_prompt_that_has_only_begun_is_not_there)
{
    struct cases_silu silu;
    cases_make_silu(&silu, "s", 0);
    (void)add(&silu.item);
    cr_assert_not(prompt_is_carved(store, silu.item.prompt));
    struct carved_prompt prompt = {.hash = silu.item.prompt, .text = "", .greedy_count = 0};
    cr_assert_eq(prompt_add(store, &prompt), TAPML_OK);
    cr_assert(prompt_is_carved(store, silu.item.prompt), "one without greedy tokens too");
}
