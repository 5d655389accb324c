// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "tokenizer/piece_encoder.h"

#include <criterion/criterion.h>

Test(piece_encoder, what_is_empty_is_released)
{
    struct piece_work work;
    struct piece_encoder encoder = {.type = NULL};
    const size_t live = alloc_live();
    piece_encoder_work_init(&work);
    cr_assert_eq(merging_start(&work.merging, "abc", 3), TAPML_OK);
    piece_encoder_work_release(&work);
    piece_encoder_work_release(&work);
    piece_encoder_release(&encoder);
    cr_assert_eq(alloc_live(), live);
}
