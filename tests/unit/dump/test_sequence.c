// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "dump/sequence.h"
#include "harness/scratch.h"

#define COUNT(array_) (sizeof(array_) / sizeof(*(array_)))

Test(sequence, what_one_side_lacks_moves_nothing)
{
    static const size_t first[] = {1, 2, 3, 1, 2, 3}, second[] = {2, 3, 1, 2, 4, 3};
    static const size_t expected[] = {SEQUENCE_NONE, 0, 1, 2, 3, 5};
    size_t places[COUNT(first)];

    cr_assert_eq(sequence_align(first, COUNT(first), second, COUNT(second), places), TAPML_OK);
    cr_assert_arr_eq(places, expected, sizeof(expected));
}

Test(sequence, empty_and_long_ones)
{
    static const size_t first[] = {1};
    size_t places[1] = {7};

    cr_assert_eq(sequence_align(first, 1, first, 0, places), TAPML_OK);
    cr_assert_eq(places[0], SEQUENCE_NONE);
    cr_assert_eq(sequence_align(first, 0, first, 1, places), TAPML_OK);
    cr_assert_eq(sequence_align(first, (size_t)1 << 20, first, 1 << 20, places),
                 TAPML_UNIMPLEMENTED);
}

static tapml_status sweep(void)
{
    static const size_t first[] = {1, 2};
    size_t places[2];

    return sequence_align(first, 2, first, 2, places);
}

Test(sequence, without_memory_nothing_leaks)
{
    SCRATCH_SWEEP(sweep());
}
