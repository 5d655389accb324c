// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/part_rows.h"
#include "harness/scratch.h"

enum { ROWS, OTHERS, TOKEN = 7 };

static struct graph_part part = {
    .component = "eye", .output = "features", .width = 2, .token = TOKEN, .rows = 0, .others = 1};
static const struct graph graph = {.parts = &part, .part_count = 1};
static const float given[] = {1, 2, 3, 4};

static struct part_rows *open_set(void)
{
    struct part_rows *set = NULL;
    cr_assert_eq(part_rows_create(&graph, &set), TAPML_OK);
    cr_assert_eq(part_rows_give(set, 0, given, 2), TAPML_OK);
    return set;
}

// One call of a prompt of six tokens.
static tapml_status step(struct part_rows *set,
                         const int32_t *ids,
                         int64_t position,
                         int64_t count,
                         float rows[8],
                         float others[4])
{
    const struct part_rows_call call = {
        .ids = ids, .position = position, .count = count, .prompt = 6};
    TAPML_TRY(part_rows_write(set, ROWS, &call, rows));
    return part_rows_write(set, OTHERS, &call, others);
}

Test(part_rows, tokens_take_one_row_after_the_other)
{
    struct part_rows *set = open_set();
    float rows[8], others[4];
    cr_assert_eq(step(set, (const int32_t[]){5, TOKEN, 6}, 0, 3, rows, others), TAPML_OK);
    cr_expect_arr_eq(rows, ((const float[]){0, 0, 1, 2, 0, 0}), 24);
    cr_expect_arr_eq(others, ((const float[]){1, 0, 1}), 12);
    cr_assert_eq(step(set, (const int32_t[]){TOKEN, 4}, 3, 2, rows, others), TAPML_OK);
    cr_expect_arr_eq(rows, ((const float[]){3, 4, 0, 0}), 16);
    // The same call anew, then a new sequence.
    cr_assert_eq(step(set, (const int32_t[]){TOKEN, 4}, 3, 2, rows, others), TAPML_OK);
    cr_expect_arr_eq(rows, ((const float[]){3, 4, 0, 0}), 16);
    cr_assert_eq(step(set, (const int32_t[]){TOKEN}, 0, 1, rows, others), TAPML_OK);
    cr_expect_arr_eq(rows, ((const float[]){1, 2}), 8);
    part_rows_destroy(set);
}

Test(part_rows, a_generated_token_is_one_of_the_others)
{
    struct part_rows *set = open_set();
    float rows[8], others[4];
    cr_assert_eq(step(set, (const int32_t[]){TOKEN}, 6, 1, rows, others), TAPML_OK);
    cr_expect_arr_eq(rows, ((const float[]){0, 0}), 8);
    cr_expect_eq(others[0], 1);
    part_rows_destroy(set);
}

Test(part_rows, a_token_without_a_row_is_refused)
{
    struct part_rows *set = open_set();
    float rows[8], others[4];
    cr_assert_eq(step(set, (const int32_t[]){TOKEN, TOKEN, 1, TOKEN}, 0, 4, rows, others),
                 TAPML_INVALID);
    cr_expect_str_eq(status_message(),
                     "token 3 of the prompt is 7, which stands for a row of 'features' of 'eye': "
                     "expected as many rows as such tokens, found 2");
    cr_assert_eq(part_rows_give(set, 0, NULL, 0), TAPML_OK);
    cr_assert_eq(step(set, (const int32_t[]){TOKEN}, 0, 1, rows, others), TAPML_INVALID);
    cr_assert_eq(step(set, (const int32_t[]){1}, 0, 1, rows, others), TAPML_OK);
    part_rows_destroy(set);
}

Test(part_rows, tokens_are_counted)
{
    cr_expect_eq(part_rows_wanted(&part, (const int32_t[]){1, TOKEN, TOKEN, 2}, 4), 2);
    cr_expect_eq(part_rows_wanted(&part, NULL, 0), 0);
}

Test(part_rows, memory_may_run_out)
{
    struct part_rows *set = NULL;
    tapml_status status = TAPML_NO_MEMORY;
    const size_t live = alloc_live();
    for (int fail = 1; status == TAPML_NO_MEMORY; fail++) {
        alloc_fail_at((size_t)fail);
        status = part_rows_create(&graph, &set);
        if (status == TAPML_OK) {
            status = part_rows_give(set, 0, given, 2);
            part_rows_destroy(set);
        }
        alloc_fail_at(0);
    }
    cr_assert_eq(status, TAPML_OK);
    cr_assert_eq(alloc_live(), live);
}
