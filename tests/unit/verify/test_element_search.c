// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "verify/element_search.h"

#include <criterion/criterion.h>
#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { ROWS = 4, WIDTH = 5, COUNT = ROWS * WIDTH };

static struct arena *arena;
static float expected[COUNT];
static float computed[COUNT];
static struct case_argument argument;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
    for (int i = 0; i < COUNT; i++) {
        expected[i] = computed[i] = (float)(i + 1);
    }
    argument = (struct case_argument){.name = "y",
                                      .kind = TAPML_P_TENSOR_OUT,
                                      .dtype = TAPML_F32,
                                      .rank = 2,
                                      .shape = {ROWS, WIDTH},
                                      .stride = {WIDTH, 1}};
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(element_search, .init = begin, .fini = end);

static struct element_list find(const struct compare_limit *limit)
{
    struct element_list list;
    MUST(element_search_run(&(struct replay_output){.param = "y",
                                                    .dtype = TAPML_F32,
                                                    .expected = expected,
                                                    .computed = computed,
                                                    .rows = ROWS,
                                                    .width = WIDTH},
                            &argument, limit, arena, &list));
    return list;
}

Test(element_search, first_beyond_the_limit_are_listed_with_their_places)
{
    const struct compare_limit limit = compare_floor(COMPARE_ELEMENTWISE);
    computed[3] = nextafterf(expected[3], 99); // Within 16 units in the last place.
    computed[7] = 8.5F;
    computed[12] = NAN;
    const struct element_list list = find(&limit);
    cr_assert_eq(list.beyond, 2);
    cr_assert_eq(list.total, COUNT);
    cr_assert_eq(list.count, 2);
    cr_assert_str_eq(list.items[0].param, "y");
    cr_assert_str_eq(list.items[0].place, "1, 2");
    cr_assert_eq(list.items[0].expected, 8);
    cr_assert_eq(list.items[0].computed, 8.5);
    cr_assert_float_eq(list.items[0].allowed, 16 * 0x1p-20, 1e-12);
    cr_assert_str_eq(list.items[1].place, "2, 2");
    cr_assert(isnan(list.items[1].computed));
}

Test(element_search, no_more_than_a_few_are_listed_and_all_are_counted)
{
    const struct compare_limit limit = compare_floor(COMPARE_REDUCTION);
    for (int i = 0; i < COUNT; i++) {
        computed[i] = -expected[i];
    }
    const struct element_list list = find(&limit);
    cr_assert_eq(list.beyond, COUNT);
    cr_assert_eq(list.count, ELEMENTS_SHOWN);
    // The first row's root mean square is sqrt(11).
    cr_assert_float_eq(list.items[0].allowed, 1e-6 * sqrt(11), 1e-12);
}

Test(element_search, exact_ops_allow_no_other_bits)
{
    const struct compare_limit limit = compare_floor(COMPARE_EXACT);
    expected[1] = 0.0F;
    computed[1] = -0.0F;
    const struct element_list list = find(&limit);
    cr_assert_eq(list.beyond, 1);
    cr_assert_eq(list.items[0].allowed, 0);
    cr_assert_str_eq(list.items[0].place, "0, 1");
}

Test(element_search, largest_differences_stand_for_a_limit_of_the_whole_tensor)
{
    const struct compare_limit limit = {.class_ = COMPARE_REDUCTION, .nmse = 1e-13, .row_error = 1};
    computed[4] += 0.25F;
    computed[9] += 0.5F;
    const struct element_list list = find(&limit);
    cr_assert_eq(list.beyond, 0);
    cr_assert_eq(list.count, 2);
    cr_assert_str_eq(list.items[0].place, "1, 4");
    cr_assert_str_eq(list.items[1].place, "0, 4");
}

Test(element_search, rows_of_a_state_are_counted_as_the_state_counts_them)
{
    const struct compare_limit limit = compare_floor(COMPARE_EXACT);
    argument.effects = TAPML_E_STATE_WRITE;
    argument.kept_begin = 16;
    argument.kept_end = 16 + ROWS;
    computed[WIDTH] = -1;
    cr_assert_str_eq(find(&limit).items[0].place, "17, 0");
}
