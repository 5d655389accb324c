// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/random.h"
#include "store/case.h"
#include "verify/near_case.h"

#include <criterion/criterion.h>
#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { COUNT = 64 };

static float input[COUNT], weight[COUNT];
static int32_t ids[COUNT];
static struct case_argument arguments[3];
static struct carved_case item;
static struct random source;
static struct arena *arena;

static void begin(void)
{
    for (int i = 0; i < COUNT; i++) {
        input[i] = weight[i] = (float)(i - 20) * 0.375F;
        ids[i] = i;
    }
    arguments[0] = (struct case_argument){
        .name = "x", .dtype = TAPML_F32, .before = input, .content_bytes = sizeof(input)};
    arguments[1] = (struct case_argument){.name = "w",
                                          .dtype = TAPML_F32,
                                          .effects = TAPML_E_WEIGHT,
                                          .before = weight,
                                          .content_bytes = sizeof(weight)};
    arguments[2] = (struct case_argument){
        .name = "ids", .dtype = TAPML_I32, .before = ids, .content_bytes = sizeof(ids)};
    item = (struct carved_case){.arguments = arguments, .argument_count = 3};
    random_init(&source, 1);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(near_case, .init = begin, .fini = end);

Test(near_case, a_copy_has_arguments_of_its_own)
{
    struct carved_case copy;
    MUST(near_case_copy(&item, arena, &copy));
    cr_assert_neq(copy.arguments, item.arguments);
    cr_assert_eq(copy.arguments[0].before, input);
    copy.arguments[0].before = NULL;
    cr_assert_eq(arguments[0].before, input);
}

Test(near_case, numbers_that_go_in_move_by_the_step)
{
    const double step = 0x1p-10;
    struct carved_case made;
    int moved = 0;
    MUST(near_case_make(&item, step, &source, arena, &made));
    const float *values = made.arguments[0].before;
    cr_assert_neq(values, input);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_leq(fabs((double)values[i] - (double)input[i]),
                      1.001 * step * fabs((double)input[i]));
        moved += values[i] != input[i];
    }
    cr_assert_gt(moved, COUNT / 2);
    cr_assert_eq(made.arguments[1].before, weight, "weights stay");
    cr_assert_eq(made.arguments[2].before, ids, "and what is no number of f32");
}

Test(near_case, without_a_step_it_is_the_next_number)
{
    struct carved_case made;
    int above = 0;
    MUST(near_case_make(&item, 0, &source, arena, &made));
    const float *values = made.arguments[0].before;
    for (int i = 0; i < COUNT; i++) {
        const int is_above = values[i] > input[i];
        cr_assert_eq(values[i], nextafterf(input[i], is_above ? INFINITY : -INFINITY));
        above += is_above;
    }
    cr_assert(above > 0 && above < COUNT, "%d on one side", above);
}
