// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "tokenizer/merging.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// Two neighbours merge if they are equal; the shorter ones first.
static int merge_equal(const void *user,
                       const struct merging *merging,
                       const struct merging_symbol *left,
                       const struct merging_symbol *right,
                       uint32_t *out_rank,
                       int32_t *out_id)
{
    (void)user;
    *out_rank = left->length;
    *out_id = left->id + 1;
    return left->id == right->id && left->length == right->length &&
           merging->piece[left->begin] == merging->piece[right->begin];
}

Test(merging, equal_neighbours_become_one)
{
    struct merging merging;
    merging_init(&merging);
    cr_assert_eq(merging_start(&merging, "aaabaa", 6), TAPML_OK);
    for (size_t i = 0; i < 6; ++i) {
        merging_add(&merging, i, 1, 0);
    }
    merging_run(&merging, merge_equal, NULL);
    char found[64] = "";
    for (int32_t at = 0; at >= 0; at = merging.symbols[at].next) {
        const struct merging_symbol *symbol = &merging.symbols[at];
        snprintf(found + strlen(found), 16, "%u+%u=%d ", symbol->begin, symbol->length, symbol->id);
    }
    cr_assert_str_eq(found, "0+2=1 2+1=0 3+1=0 4+2=1 ");
    merging_release(&merging);
}

Test(merging, a_piece_has_a_largest_length)
{
    struct merging merging;
    merging_init(&merging);
    cr_assert_eq(merging_start(&merging, "", (size_t)MERGING_LENGTH_MAX + 1), TAPML_INVALID);
    cr_assert_eq(merging_start(&merging, "", 0), TAPML_OK);
    merging_run(&merging, merge_equal, NULL);
    cr_assert_eq(merging.count, 0);
    merging_release(&merging);
}
