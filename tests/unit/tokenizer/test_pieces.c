// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/pieces.h"

#include <criterion/criterion.h>
#include <string.h>

Test(pieces, pieces_follow_one_another)
{
    struct pieces pieces;
    size_t length = 0;
    pieces_init(&pieces);
    cr_assert_eq(pieces_add(&pieces, "ab", 2), TAPML_OK);
    cr_assert_eq(pieces_add(&pieces, "", 0), TAPML_OK);
    text_append(&pieces.text, "c");
    cr_assert_eq(pieces_end(&pieces), TAPML_OK);
    cr_assert_eq(pieces.count, 2);
    cr_assert_arr_eq(pieces_get(&pieces, 0, &length), "ab", 2);
    cr_assert_eq(length, 2);
    cr_assert_arr_eq(pieces_get(&pieces, 1, &length), "c", 1);
    cr_assert_eq(length, 1);
    pieces_clear(&pieces);
    cr_assert_eq(pieces.count, 0);
    pieces_release(&pieces);
}

static tapml_status build(void)
{
    struct pieces pieces;
    pieces_init(&pieces);
    const tapml_status status = pieces_add(&pieces, "ab", 2);
    pieces_release(&pieces);
    return status;
}

Test(pieces, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
