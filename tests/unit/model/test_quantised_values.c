// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/quantised_values.h"
#include "quantised_tensor.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { VALUES_MAX = 256 };

static struct quantised_weight weight_of(const struct quantised_scheme *scheme,
                                         const struct checkpoint_tensor *quants,
                                         const struct checkpoint_tensor *scales,
                                         int64_t rows,
                                         int64_t columns)
{
    return (struct quantised_weight){.scheme = scheme,
                                     .quants = quants,
                                     .scales = scales,
                                     .matrices = 1,
                                     .rows = rows,
                                     .columns = columns,
                                     .tile_rows = rows,
                                     .tile_columns = columns,
                                     .tiles_down = 1,
                                     .tiles_across = 1};
}

// The values of all bytes, with a scale of 1.
static void write_bytes(const char *type, float out_values[VALUES_MAX])
{
    static const int64_t shape[] = {16, 16};
    static const int64_t one[] = {1, 1};
    static const float scale = 1.0F;
    unsigned char bytes[VALUES_MAX];
    for (unsigned i = 0; i < VALUES_MAX; ++i) {
        bytes[i] = (unsigned char)i;
    }
    const struct quantised_scheme scheme = {.layout = quantised_layout_get(QUANTISED_F8)};
    const struct checkpoint_tensor quants =
        quantised_tensor("m.weight", TAPML_U8, type, shape, bytes);
    const struct checkpoint_tensor scales =
        quantised_tensor("m.weight_scale", TAPML_F32, NULL, one, &scale);
    const struct quantised_weight weight = weight_of(&scheme, &quants, &scales, 16, 16);
    cr_assert_eq(quantised_values_write(&weight, TAPML_F32, out_values), TAPML_OK);
}

Test(quantised_values, bytes_are_small_floats)
{
    float values[VALUES_MAX];
    write_bytes("F8_E4M3", values);
    cr_assert_eq(values[0x00], 0.0F);
    cr_assert(signbit(values[0x80]));
    cr_assert_eq(values[0x01], 0x1p-9F, "the smallest");
    cr_assert_eq(values[0x07], 7 * 0x1p-9F);
    cr_assert_eq(values[0x08], 0x1p-6F, "the smallest that is normal");
    cr_assert_eq(values[0x38], 1.0F);
    cr_assert_eq(values[0xba], -1.25F);
    cr_assert_eq(values[0x7e], 448.0F, "the largest");
    cr_assert(isnan(values[0x7f]));
    cr_assert(isnan(values[0xff]));
    write_bytes("F8_E5M2", values);
    cr_assert_eq(values[0x01], 0x1p-16F);
    cr_assert_eq(values[0x3c], 1.0F);
    cr_assert_eq(values[0x7b], 57344.0F);
    cr_assert_eq(values[0xfc], -INFINITY);
    cr_assert(isnan(values[0x7d]));
    write_bytes("I8", values);
    cr_assert_eq(values[0x80], -128.0F);
    cr_assert_eq(values[0x7f], 127.0F);
}

Test(quantised_values, nibbles_come_low_half_first)
{
    static const float expected[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    static const unsigned char nibbles[] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
    static const unsigned char exponents[] = {128};
    static const int64_t shape[] = {1, 8};
    static const int64_t one[] = {1, 1};
    uint16_t halves[16];
    float values[16];
    const struct quantised_scheme scheme = {.layout = quantised_layout_get(QUANTISED_F4_PACKED)};
    const struct checkpoint_tensor quants =
        quantised_tensor("m.weight_packed", TAPML_U8, NULL, shape, nibbles);
    const struct checkpoint_tensor scales =
        quantised_tensor("m.weight_scale", TAPML_U8, NULL, one, exponents);
    const struct quantised_weight weight = weight_of(&scheme, &quants, &scales, 1, 16);
    cr_assert_eq(quantised_values_write(&weight, TAPML_F32, values), TAPML_OK);
    cr_assert_eq(quantised_values_write(&weight, TAPML_BF16, halves), TAPML_OK);
    for (unsigned i = 0; i < 16; ++i) {
        uint32_t bits = 0;
        cr_assert_eq(values[i], 2 * (i < 8 ? expected[i] : -expected[i - 8]), "%u", i);
        memcpy(&bits, &values[i], sizeof(bits));
        cr_assert_eq(halves[i], bits >> 16, "%u", i);
    }
}

Test(quantised_values, what_bf16_cannot_hold_is_not_rounded)
{
    static const unsigned char bytes[] = {0x08, 0x0f};
    static const unsigned char exponents[] = {1}; // 2^-126: the values are subnormal.
    static const int64_t shape[] = {1, 2};
    static const int64_t one[] = {1, 1};
    uint16_t halves[2];
    float values[2];
    const struct quantised_scheme scheme = {.layout = quantised_layout_get(QUANTISED_F8_INVERSE)};
    const struct checkpoint_tensor quants =
        quantised_tensor("m.weight", TAPML_U8, "F8_E4M3", shape, bytes);
    const struct checkpoint_tensor scales =
        quantised_tensor("m.weight_scale_inv", TAPML_U8, "F8_E8M0", one, exponents);
    const struct quantised_weight weight = weight_of(&scheme, &quants, &scales, 1, 2);
    cr_assert_eq(quantised_values_write(&weight, TAPML_F32, values), TAPML_OK);
    cr_assert_eq(values[1], 0x1.ep-132F);
    cr_assert_eq(quantised_values_write(&weight, TAPML_BF16, halves), TAPML_UNIMPLEMENTED);
}

// 8 rows and 8 columns, quants and zero points of which every nibble differs from its neighbour.
Test(quantised_values, words_of_awq_have_their_own_order)
{
    static const uint32_t words[8] = {0x76543210u};
    static const uint32_t zeros = 0;
    static const uint16_t scales_f16[8] = {0x3c00, 0x3c00, 0x3c00, 0x3c00,
                                           0x3c00, 0x3c00, 0x3c00, 0x4000};
    static const int64_t quants_shape[] = {8, 1};
    static const int64_t zeros_shape[] = {1, 1};
    static const int64_t scales_shape[] = {1, 8};
    // The nibble of row i lies at 0, 4, 1, 5, 2, 6, 3, 7.
    static const float expected[8] = {0, 4, 1, 5, 2, 6, 3, 14};
    float values[64];
    const struct quantised_scheme scheme = {.layout = quantised_layout_get(QUANTISED_AWQ),
                                            .bits = 4};
    const struct checkpoint_tensor quants =
        quantised_tensor("m.qweight", TAPML_I32, NULL, quants_shape, words);
    const struct checkpoint_tensor zero =
        quantised_tensor("m.qzeros", TAPML_I32, NULL, zeros_shape, &zeros);
    const struct checkpoint_tensor scales =
        quantised_tensor("m.scales", TAPML_F16, NULL, scales_shape, scales_f16);
    struct quantised_weight weight = weight_of(&scheme, &quants, &scales, 8, 8);
    weight.zeros = &zero;
    weight.tile_rows = 1;
    weight.tiles_down = 8;
    cr_assert_eq(quantised_values_write(&weight, TAPML_F32, values), TAPML_OK);
    for (unsigned i = 0; i < 8; ++i) {
        cr_assert_eq(values[i * 8], expected[i], "row %u: %g", i, (double)values[i * 8]);
        cr_assert_eq(values[i * 8 + 1], 0);
    }
}

Test(quantised_values, zero_points_of_gptq_are_less_by_one)
{
    static const uint32_t words[8] = {0x0000000fu};
    static const uint32_t zeros = 0x00000006u;
    static const float scales_f32[8] = {0.5F, 1, 1, 1, 1, 1, 1, 1};
    static const int64_t quants_shape[] = {1, 8};
    static const int64_t zeros_shape[] = {1, 1};
    static const int64_t scales_shape[] = {1, 8};
    float values[64];
    const struct quantised_scheme scheme = {
        .layout = quantised_layout_get(QUANTISED_GPTQ), .bits = 4, .zero_added = 1};
    const struct checkpoint_tensor quants =
        quantised_tensor("m.qweight", TAPML_I32, NULL, quants_shape, words);
    const struct checkpoint_tensor zero =
        quantised_tensor("m.qzeros", TAPML_I32, NULL, zeros_shape, &zeros);
    const struct checkpoint_tensor scales =
        quantised_tensor("m.scales", TAPML_F32, NULL, scales_shape, scales_f32);
    struct quantised_weight weight = weight_of(&scheme, &quants, &scales, 8, 8);
    weight.zeros = &zero;
    weight.tile_rows = 1;
    weight.tiles_down = 8;
    cr_assert_eq(quantised_values_write(&weight, TAPML_F32, values), TAPML_OK);
    cr_assert_eq(values[0], 0.5F * (15 - 7));
    cr_assert_eq(values[1], 0.5F * (0 - 7));
    cr_assert_eq(values[8], 0 - 1, "the next row has another zero point");
}
