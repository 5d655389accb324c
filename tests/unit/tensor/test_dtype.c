// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/dtype.h"

#include <criterion/criterion.h>

Test(dtype, names_go_both_ways)
{
    const uint32_t dtypes[] = {TAPML_F32, TAPML_F16, TAPML_BF16, TAPML_F64,
                               TAPML_I32, TAPML_I64, TAPML_U8};
    const char *const names[] = {"f32", "f16", "bf16", "f64", "i32", "i64", "u8"};
    const size_t bytes[] = {4, 2, 2, 8, 4, 8, 1};
    for (size_t i = 0; i < 7; ++i) {
        cr_assert_str_eq(dtype_name(dtypes[i]), names[i]);
        cr_assert_eq(dtype_find(names[i]), dtypes[i]);
        cr_assert_eq(dtype_bytes(dtypes[i]), bytes[i]);
        cr_assert_eq(dtype_is_float(dtypes[i]), i < 4);
    }
}

Test(dtype, what_is_not_known_says_so)
{
    cr_assert_str_eq(dtype_name(TAPML_DT(0, 8)), "?");
    cr_assert_str_eq(dtype_name(0), "?");
    cr_assert_eq(dtype_find("F32"), 0);
    cr_assert_eq(dtype_find(""), 0);
}
