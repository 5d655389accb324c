// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "contenders.h"
#include "run/contender_list.h"

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(contender_list, .init = begin, .fini = end);

static struct contender_list find(enum contender_over over, enum contender_measure measure)
{
    struct contender_list list;

    MUST(contender_list_find(contender_program, &contender_given, over, measure, arena, &list));
    return list;
}

Test(contender_list, encodings_are_all_or_those_that_are_named)
{
    CONTENDER_OPTIONS(NULL);
    const struct contender_list all = find(CONTENDER_ENCODINGS, CONTENDER_SPEED);

    cr_assert_eq(all.count, 9);
    cr_expect_str_eq(all.items[0].name, "stored");
    cr_expect_str_eq(all.items[1].weights, "q8_0");
    // From what is stored they diverge, and that from itself by nothing.
    cr_expect_eq(find(CONTENDER_ENCODINGS, CONTENDER_KL).count, 8);
    CONTENDER_OPTIONS("--weights", "q4_0", "--weights", "stored");
    const struct contender_list named = find(CONTENDER_ENCODINGS, CONTENDER_KL);

    cr_assert_eq(named.count, 2);
    cr_expect_str_eq(named.items[0].weights, "q4_0");
    cr_expect_str_eq(named.items[1].weights, "stored");
    cr_expect_null(named.items[0].model);
    CONTENDER_OPTIONS("--weights", "q3");
    struct contender_list list;

    cr_expect_eq(contender_list_find(contender_program, &contender_given, CONTENDER_ENCODINGS,
                                     CONTENDER_KL, arena, &list),
                 TAPML_INVALID);
}

Test(contender_list, plans_have_to_be_named)
{
    struct contender_list list;

    CONTENDER_OPTIONS(NULL);
    cr_expect_eq(contender_list_find(contender_program, &contender_given, CONTENDER_PLANS,
                                     CONTENDER_KL, arena, &list),
                 TAPML_INVALID);
    CONTENDER_OPTIONS("--plan", "a.txt", "--plan", "b.txt");
    list = find(CONTENDER_PLANS, CONTENDER_KL);
    cr_assert_eq(list.count, 2);
    cr_expect_str_eq(list.items[1].plan, "b.txt");
}

// The caches of the hub of this machine are those of the variables, which name an empty folder.
Test(contender_list, published_models_that_are_not_here_are_absent)
{
    struct scratch scratch;

    scratch_make(&scratch);
    cr_assert_eq(setenv("HF_HUB_CACHE", scratch.folder, 1), 0);
    cr_assert_eq(setenv("HF_HOME", scratch.folder, 1), 0);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    cr_assert_eq(setenv("HOME", scratch.folder, 1), 0);
    CONTENDER_OPTIONS(NULL);
    contender_given.given_count = 0;
    const struct contender_list list = find(CONTENDER_MODELS, CONTENDER_PERPLEXITY);

    cr_expect_eq(list.count, 0);
    cr_expect_gt(list.absent_count, 50);
    cr_expect_not_null(list.absent[0].why);
    scratch_remove(&scratch);
}
