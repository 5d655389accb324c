// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "store/case.h"
#include "verify/replay_output.h"

#include <criterion/criterion.h>
#include <string.h>

// [2, 3] with a gap behind each row, 4 bytes into the buffer.
static struct case_argument view_with_gaps(const float *expected)
{
    return (struct case_argument){.name = "y",
                                  .kind = TAPML_P_TENSOR_OUT,
                                  .dtype = TAPML_F32,
                                  .rank = 2,
                                  .shape = {2, 3},
                                  .stride = {4, 1},
                                  .offset_bytes = 4,
                                  .content_bytes = 6 * sizeof(float),
                                  .after = expected};
}

Test(replay_output, it_is_dense_in_rows_of_the_last_axis)
{
    static const float found[] = {9, 1, 2, 3, 9, 4, 5, 6, 9}, dense[] = {1, 2, 3, 4, 5, 6};
    struct arena *arena = arena_create();
    const struct case_argument argument = view_with_gaps(dense);
    struct replay_output output;

    cr_assert_eq(replay_output_take(&argument, found, arena, &output), TAPML_OK);
    cr_assert_str_eq(output.param, "y");
    cr_assert_eq(output.expected, dense);
    cr_assert_eq(memcmp(output.computed, dense, sizeof(dense)), 0);
    cr_assert_eq(output.rows, 2u);
    cr_assert_eq(output.width, 3u);
    cr_assert_eq(replay_output_count(&output), 6u);
    cr_assert_not(output.wrote_outside || output.is_unwritten);
    arena_destroy(arena);
}
