// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "gguf/gguf_type.h"

#include <criterion/criterion.h>

Test(gguf_type, types_have_their_sizes)
{
    const struct gguf_type *f32 = gguf_type_find(0);
    const struct gguf_type *q6_k = gguf_type_find(14);
    cr_assert_str_eq(f32->name, "F32");
    cr_assert_eq(f32->dtype, TAPML_F32);
    cr_assert_eq(f32->block_bytes, 4);
    cr_assert_eq(q6_k->block_values, 256);
    cr_assert_eq(q6_k->block_bytes, 210);
    cr_assert_eq(q6_k->dtype, 0);
}

Test(gguf_type, what_is_no_type_is_not_found)
{
    cr_assert_null(gguf_type_find(4));
    cr_assert_null(gguf_type_find(UINT32_MAX));
}

Test(gguf_type, plain_types_have_no_encoding)
{
    cr_assert_null(gguf_type_encoding(gguf_type_find(0)));
    cr_assert_null(gguf_type_encoding(gguf_type_find(16)), "IQ2_XXS");
}
