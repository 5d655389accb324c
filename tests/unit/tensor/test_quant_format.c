// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "tensor/quant_format.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

Test(quant_format, steps_of_numbers)
{
    const struct quant_format *e4m3 = quant_format_get(QUANT_FORMAT_E4M3);
    cr_assert_eq(quant_format_step(e4m3, 448), 32);
    cr_assert_eq(quant_format_step(e4m3, 1), 0.125);
    cr_assert_eq(quant_format_step(e4m3, 0x1p-8), 0x1p-9);
    cr_assert_eq(quant_format_step(e4m3, 0), 0x1p-9);
    cr_assert_eq(quant_format_step(quant_format_get(QUANT_FORMAT_E2M1), 5), 2);
    cr_assert_eq(quant_format_step(quant_format_get(QUANT_FORMAT_I8), 100), 1);
}

Test(quant_format, parameters_are_those_of_the_op)
{
    cr_assert(quant_format_is_op(&tapml_fake_quantise));
    cr_assert_not(quant_format_is_op(&tapml_silu));
    cr_assert_eq((int)QUANT_FORMAT_BLOCK, (int)TAPML_FAKE_QUANTISE_BLOCK);
    cr_assert_eq((int)QUANT_FORMAT_FORMAT, (int)TAPML_FAKE_QUANTISE_FORMAT);
    cr_assert_eq((int)QUANT_FORMAT_SCALING, (int)TAPML_FAKE_QUANTISE_SCALING);
    cr_assert_eq((int)QUANT_FORMAT_LOW, (int)TAPML_FAKE_QUANTISE_LOW);
    cr_assert_eq((int)QUANT_FORMAT_HIGH, (int)TAPML_FAKE_QUANTISE_HIGH);
    cr_assert_eq((int)QUANT_FORMAT_FACTOR, (int)TAPML_FAKE_QUANTISE_FACTOR);
}
