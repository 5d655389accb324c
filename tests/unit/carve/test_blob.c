// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "carve/blob.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(blob, lives_as_long_as_one_owner)
{
    const size_t live = alloc_live();
    struct blob *blob = blob_create(100);
    cr_assert_not_null(blob);
    cr_assert_eq(blob->bytes, 100);
    cr_assert_eq((uintptr_t)blob->data % _Alignof(max_align_t), 0);
    memset(blob->data, 7, blob->bytes);
    cr_assert_not(blob_is_shared(blob));
    cr_assert_eq(blob_ref(blob), blob);
    cr_assert(blob_is_shared(blob));
    blob_unref(blob);
    cr_assert_not(blob_is_shared(blob));
    cr_assert_eq(blob->data[99], 7);
    cr_assert_eq(alloc_live(), live + 1);
    blob_unref(blob);
    blob_unref(NULL);
    cr_assert_eq(alloc_live(), live);
}

Test(blob, may_be_empty_and_not_endless)
{
    struct blob *empty = blob_create(0);
    cr_assert_not_null(empty);
    blob_unref(empty);
    cr_assert_null(blob_create(SIZE_MAX));
    alloc_fail_at(1);
    cr_assert_null(blob_create(1));
}
