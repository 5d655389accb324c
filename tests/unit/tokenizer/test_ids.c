// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/ids.h"

#include <criterion/criterion.h>

static tapml_status build(void)
{
    struct ids row;
    struct ids twice;
    ids_init(&row);
    ids_init(&twice);
    tapml_status status = TAPML_OK;
    for (int32_t i = 0; i < 100 && status == TAPML_OK; ++i) {
        status = ids_add(&row, i * 3);
    }
    for (int i = 0; i < 2 && status == TAPML_OK; ++i) {
        status = ids_add_all(&twice, &row);
    }
    for (size_t i = 0; status == TAPML_OK && i < 200; ++i) {
        cr_assert_eq(twice.items[i], (int32_t)(i % 100 * 3));
    }
    cr_assert(status != TAPML_OK || twice.count == 200);
    ids_release(&row);
    ids_release(&twice);
    cr_assert_eq(twice.count, 0);
    return status;
}

Test(ids, rows_grow_and_follow_one_another)
{
    cr_assert_eq(build(), TAPML_OK);
    ids_release(NULL);
}

Test(ids, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
