// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/activation.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { COUNT = 8 };

Test(activation, rows_agree_with_their_conversions)
{
    for (unsigned i = 0; i < ACTIVATION_COUNT; i++) {
        const struct activation_type *type = activation_type((enum activation)i);
        float values[COUNT], back[COUNT];
        unsigned char elements[COUNT * sizeof(float)];
        for (int k = 0; k < COUNT; k++) {
            values[k] = 1 + 1.999f * (float)(k - 4) / 3;
        }
        type->from_f32(values, COUNT, elements);
        type->to_f32(elements, COUNT, back);
        for (int k = 0; k < COUNT; k++) {
            cr_expect_leq(fabs((double)values[k] - (double)back[k]),
                          type->rounding * fabs((double)values[k]), "%s", type->name);
        }
        cr_expect_eq(type->bytes, TAPML_DT_BYTES(type->dtype));
        cr_expect_eq(type->is_reduced, type->bytes < sizeof(float));
        cr_expect_eq(activation_is_reduced((enum activation)i), type->is_reduced);
        cr_expect_eq(activation_find(type->dtype), i, "%s", type->name);
        cr_expect_eq(type->remark[0] != 0, type->is_reduced);
    }
    cr_expect_eq(activation_find(TAPML_I32), ACTIVATION_F32);
}

Test(activation, what_is_marked_has_fewer_bytes)
{
    const struct activation_bytes bytes = activation_bytes(64, activation_bit(ACTIVATION_F16));
    cr_expect_eq(bytes.at[ACTIVATION_F32], 64);
    cr_expect_eq(bytes.at[ACTIVATION_F16], 32);
    cr_expect_eq(bytes.at[ACTIVATION_BF16], 64);
}

Test(activation, the_coarser_one_loses_more)
{
    cr_expect_eq(activation_coarser(ACTIVATION_F16, ACTIVATION_F32), ACTIVATION_F16);
    cr_expect_eq(activation_coarser(ACTIVATION_F16, ACTIVATION_BF16), ACTIVATION_BF16);
    cr_expect_eq(activation_coarser(ACTIVATION_F32, ACTIVATION_F32), ACTIVATION_F32);
}

Test(activation, is_read_by_its_name)
{
    enum activation activation = ACTIVATION_BF16;
    cr_assert_eq(activation_read("--activations", "f32", &activation), TAPML_OK);
    cr_expect_eq(activation, ACTIVATION_F32);
    cr_assert_eq(activation_read("--activations", "f16", &activation), TAPML_OK);
    cr_expect_eq(activation, ACTIVATION_F16);
    cr_assert_eq(activation_read("--activations", "bf16", &activation), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "--activations is 'bf16', expected 'f32' or 'f16'");
    cr_assert_eq(activation_read("--activations", "", &activation), TAPML_INVALID);
    cr_expect_eq(activation, ACTIVATION_F16);
}
