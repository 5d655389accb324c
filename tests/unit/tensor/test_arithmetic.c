// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/arithmetic.h"

#include <tapml/backend.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static float one(uint32_t format, float value)
{
    arithmetic_round(format, 0, &value, 1, 1);
    return value;
}

Test(arithmetic, formats_without_a_scale_round_to_nearest)
{
    cr_assert_eq(one(TAPML_FORMAT_F32, 0.1F), 0.1F);
    cr_assert_eq(one(TAPML_FORMAT_TF32, 1 + 0x1p-11F), 1, "a tie goes to the even one");
    cr_assert_eq(one(TAPML_FORMAT_TF32, 1 + 0x1.8p-10F), 1 + 0x1p-9F);
    cr_assert_eq(one(TAPML_FORMAT_TF32, 0x1p100F), 0x1p100F, "exponents are those of f32");
    cr_assert_eq(one(TAPML_FORMAT_TF32_CUT, 1 + 0x1.8p-10F), 1 + 0x1p-10F);
    cr_assert_eq(one(TAPML_FORMAT_BF16, 1 + 0x1.8p-8F), 1 + 0x1p-7F);
    cr_assert_eq(one(TAPML_FORMAT_F16, 1 + 0x1.8p-11F), 1 + 0x1p-10F);
    cr_assert_eq(one(TAPML_FORMAT_F16, 1e6F), INFINITY);
    cr_assert_eq(one(TAPML_FORMAT_BF16, -INFINITY), -INFINITY);
    cr_assert(isnan(one(TAPML_FORMAT_Q8, NAN)));
}

Test(arithmetic, blocks_share_the_scale_of_their_largest)
{
    // 2 rows of 5 values in blocks of 4; the last block of a row has one value.
    float values[] = {127, 63.4F, -1.6F, 0.4F, 1, 0, 0, 0, 0, -3};
    const float right[] = {127, 63, -2, 0, 1, 0, 0, 0, 0, -3};
    arithmetic_round(TAPML_FORMAT_Q8, 4, values, 2, 5);
    for (int i = 0; i < 10; i++) {
        cr_assert_float_eq(values[i], right[i], 1e-6, "%d: %g", i, (double)values[i]);
    }
}

Test(arithmetic, a_block_of_0_values_is_a_row)
{
    float values[] = {448, 17.5F, 0, -33};
    arithmetic_round(TAPML_FORMAT_E4M3, 0, values, 1, 4);
    cr_assert_eq(values[0], 448);
    cr_assert_eq(values[1], 18);
    cr_assert_eq(values[3], -32);
}

Test(arithmetic, half_scales_are_those_that_quants_are_multiplied_by)
{
    float values[] = {1, 0.5F};
    arithmetic_round(TAPML_FORMAT_Q8_HALF, 32, values, 1, 2);
    const float scale = one(TAPML_FORMAT_F16, 1.0F / 127);
    cr_assert_eq(values[0], 127 * scale);
    cr_assert_eq(values[1], 64 * scale, "63.5 is a tie");
}

Test(arithmetic, is_described_by_what_is_lost)
{
    char text[ARITHMETIC_TEXT];
    arithmetic_describe(&arithmetic_f32, text);
    cr_assert_str_eq(text, "");
    cr_assert_not(arithmetic_is_reduced(&arithmetic_f32));
    const struct arithmetic q8 = {.inputs = TAPML_FORMAT_Q8,
                                  .block = 32,
                                  .accumulator = TAPML_FORMAT_F16,
                                  .result = TAPML_FORMAT_BF16};
    arithmetic_describe(&q8, text);
    cr_assert_str_eq(text, "inputs q8 in blocks of 32, sums f16, results bf16");
    cr_assert(arithmetic_is_reduced(&q8));
    cr_assert_eq(arithmetic_loss(&q8), ACTIVATION_BF16);
    cr_assert_eq(arithmetic_loss(&arithmetic_f32), ACTIVATION_F32);
}

Test(arithmetic, what_is_no_format_is_refused)
{
    const struct {
        struct arithmetic arithmetic;
        const char *message;
    } wrong[] = {
        {{.inputs = 99}, "inputs in format 99, which is not known"},
        {{.weights = TAPML_FORMAT_Q8}, "weights in q8, expected a format without a scale"},
        {{.accumulator = TAPML_FORMAT_TF32}, "sums in tf32, expected f32, f16 or bf16"},
        {{.accumulator = 12}, "sums in format 12, which is not known"},
        {{.result = TAPML_FORMAT_E4M3}, "results in e4m3, expected a format without a scale"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_assert_eq(arithmetic_check(&wrong[i].arithmetic), TAPML_INVALID);
        cr_assert_str_eq(status_message(), wrong[i].message);
    }
    cr_assert_eq(arithmetic_check(&(struct arithmetic){.inputs = TAPML_FORMAT_E5M2}), TAPML_OK);
}
