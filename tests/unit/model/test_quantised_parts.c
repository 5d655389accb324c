// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/quantised_parts.h"
#include "quantised_tensor.h"

#include <criterion/criterion.h>
#include <string.h>

static const unsigned char bytes[256];
static const int64_t five_by_six[] = {5, 6};

static struct quantised_scheme scheme_of(enum quantised_layout_id id, int64_t rows, int64_t columns)
{
    return (struct quantised_scheme){
        .layout = quantised_layout_get(id), .bits = 4, .tile_rows = rows, .tile_columns = columns};
}

// Finds the parts of tensor 0, which is that of module "m".
static tapml_status find(const struct quantised_scheme *scheme,
                         const struct checkpoint_tensor *tensors,
                         size_t count,
                         struct quantised_weight *out_weight)
{
    struct checkpoint *checkpoint = quantised_checkpoint(tensors, count);
    int matches = 0;
    char module[QUANTISED_MODULE_MAX];
    cr_assert_eq(quantised_parts_match(scheme->layout, &tensors[0], &matches, module), TAPML_OK);
    cr_assert(matches);
    cr_assert_str_eq(module, "m");
    const struct checkpoint_tensor *quants = checkpoint_find(checkpoint, tensors[0].name);
    const tapml_status status =
        quantised_parts_find(checkpoint, scheme, quants, module, out_weight);
    for (size_t i = 1; i < count; ++i) {
        cr_assert(quantised_parts_has(checkpoint, scheme->layout, &tensors[i]), "%s",
                  tensors[i].name);
    }
    cr_assert_not(quantised_parts_has(checkpoint, scheme->layout, &tensors[0]));
    checkpoint_close(checkpoint);
    return status;
}

static tapml_status find_fp8(const struct checkpoint_tensor *scales,
                             struct quantised_weight *weight)
{
    const struct quantised_scheme scheme = scheme_of(QUANTISED_F8_INVERSE, 2, 4);
    const struct checkpoint_tensor tensors[] = {
        quantised_tensor("m.weight", TAPML_U8, "F8_E4M3", five_by_six, bytes),
        *scales,
    };
    return find(&scheme, tensors, 2, weight);
}

Test(quantised_parts, blocks_may_be_partial)
{
    static const int64_t tiles[] = {3, 2};
    struct quantised_weight weight;
    const struct checkpoint_tensor scales =
        quantised_tensor("m.weight_scale_inv", TAPML_F32, NULL, tiles, bytes);
    cr_assert_eq(find_fp8(&scales, &weight), TAPML_OK, "%s", status_message());
    cr_assert_eq(weight.rows, 5);
    cr_assert_eq(weight.columns, 6);
    cr_assert_eq(weight.tiles_down, 3);
    cr_assert_eq(weight.tiles_across, 2);
}

Test(quantised_parts, scales_of_another_shape_or_type_are_refused)
{
    static const int64_t turned[] = {2, 3};
    static const int64_t tiles[] = {3, 2};
    struct quantised_weight weight;
    struct checkpoint_tensor scales =
        quantised_tensor("m.weight_scale_inv", TAPML_F32, NULL, turned, bytes);
    cr_assert_eq(find_fp8(&scales, &weight), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "w.safetensors: tensor 'm.weight_scale_inv': expected the "
                                       "shape [1, 3, 2], found [2, 3]");
    scales = quantised_tensor("m.weight_scale_inv", TAPML_I32, NULL, tiles, bytes);
    cr_assert_eq(find_fp8(&scales, &weight), TAPML_INVALID);
    cr_assert_str_eq(status_message(),
                     "w.safetensors: tensor 'm.weight_scale_inv': expected a type of F32 BF16 F16 "
                     "U8 F8_E8M0, found I32");
    const struct quantised_scheme scheme = scheme_of(QUANTISED_F8_INVERSE, 2, 4);
    const struct checkpoint_tensor alone =
        quantised_tensor("m.weight", TAPML_U8, "F8_E4M3", five_by_six, bytes);
    cr_assert_eq(find(&scheme, &alone, 1, &weight), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "w.safetensors: tensor 'm.weight': expected "
                                       "'m.weight_scale_inv' beside it, found none");
}

Test(quantised_parts, scales_may_say_what_a_tile_is)
{
    static const int64_t one[] = {1, 1};
    static const int64_t rows[] = {5, 1};
    struct quantised_weight weight;
    struct quantised_scheme scheme = scheme_of(QUANTISED_F8, 0, 0);
    scheme.tiles_by_scales = 1;
    struct checkpoint_tensor tensors[] = {
        quantised_tensor("m.weight", TAPML_U8, "F8_E4M3", five_by_six, bytes),
        quantised_tensor("m.weight_scale", TAPML_F32, NULL, one, bytes),
    };
    cr_assert_eq(find(&scheme, tensors, 2, &weight), TAPML_OK, "%s", status_message());
    cr_assert_eq(weight.tile_rows, 5);
    tensors[1] = quantised_tensor("m.weight_scale", TAPML_F32, NULL, rows, bytes);
    cr_assert_eq(find(&scheme, tensors, 2, &weight), TAPML_OK, "%s", status_message());
    cr_assert_eq(weight.tile_rows, 1);
}

// A GPTQ weight of 8 rows and 16 columns in groups of 8.
static tapml_status find_gptq(const int64_t *zeros_shape, int32_t last_group)
{
    static const int64_t quants_shape[] = {2, 8};
    static const int64_t scales_shape[] = {2, 8};
    static const int64_t groups_shape[] = {1, 16};
    int32_t groups[16] = {0};
    struct quantised_weight weight;
    const struct quantised_scheme scheme = scheme_of(QUANTISED_GPTQ, 1, 8);
    groups[15] = last_group;
    const struct checkpoint_tensor tensors[] = {
        quantised_tensor("m.qweight", TAPML_I32, NULL, quants_shape, bytes),
        quantised_tensor("m.qzeros", TAPML_I32, NULL, zeros_shape, bytes),
        quantised_tensor("m.scales", TAPML_F16, NULL, scales_shape, bytes),
        quantised_tensor("m.g_idx", TAPML_I32, NULL, groups_shape, groups),
    };
    const tapml_status status = find(&scheme, tensors, 4, &weight);
    if (status == TAPML_OK) {
        cr_assert_eq(weight.rows, 8);
        cr_assert_eq(weight.columns, 16);
    }
    return status;
}

Test(quantised_parts, every_column_has_a_group)
{
    static const int64_t zeros[] = {2, 1};
    static const int64_t wrong[] = {2, 2};
    cr_assert_eq(find_gptq(zeros, 1), TAPML_OK, "%s", status_message());
    cr_assert_eq(find_gptq(zeros, 2), TAPML_INVALID);
    cr_assert_str_eq(status_message(), "w.safetensors: tensor 'm.g_idx': expected the indices of 2 "
                                       "groups, found 2 at column 15");
    cr_assert_eq(find_gptq(zeros, -1), TAPML_INVALID);
    cr_assert_eq(find_gptq(wrong, 0), TAPML_INVALID);
    cr_assert(strstr(status_message(), "'m.qzeros': expected the shape [2, 1], found [2, 2]"));
}

static tapml_status find_packed(const int64_t *extents)
{
    static const int64_t quants_shape[] = {3, 2};
    static const int64_t scales_shape[] = {3, 1};
    static const int64_t extents_shape[] = {1, 2};
    struct quantised_weight weight;
    const struct quantised_scheme scheme = scheme_of(QUANTISED_PACKED, 1, 0);
    const struct checkpoint_tensor tensors[] = {
        quantised_tensor("m.weight_packed", TAPML_I32, NULL, quants_shape, bytes),
        quantised_tensor("m.weight_scale", TAPML_BF16, NULL, scales_shape, bytes),
        quantised_tensor("m.weight_shape", TAPML_I64, NULL, extents_shape, extents),
    };
    const tapml_status status = find(&scheme, tensors, 3, &weight);
    if (status == TAPML_OK) {
        cr_assert_eq(weight.columns, extents[1]);
    }
    return status;
}

Test(quantised_parts, words_hold_the_columns)
{
    cr_assert_eq(find_packed((int64_t[]){3, 16}), TAPML_OK, "%s", status_message());
    cr_assert_eq(find_packed((int64_t[]){3, 9}), TAPML_OK, "%s", status_message());
    cr_assert_eq(find_packed((int64_t[]){3, 8}), TAPML_INVALID, "one word would do");
    cr_assert_eq(find_packed((int64_t[]){3, 17}), TAPML_INVALID);
    cr_assert_eq(find_packed((int64_t[]){3, INT64_MAX}), TAPML_INVALID);
    cr_assert_eq(find_packed((int64_t[]){3, -16}), TAPML_INVALID);
    cr_assert_eq(find_packed((int64_t[]){4, 16}), TAPML_INVALID);
    cr_assert(strstr(status_message(), "'m.weight_shape': expected 3 rows and a number of columns "
                                       "that 2 words of 4-bit values hold, found [4, 16]"));
}

Test(quantised_parts, an_empty_weight_is_refused)
{
    static const int64_t empty[] = {0, 6};
    static const int64_t one[] = {1, 1};
    struct quantised_weight weight;
    const struct quantised_scheme scheme = scheme_of(QUANTISED_F8_INVERSE, 2, 4);
    const struct checkpoint_tensor tensors[] = {
        quantised_tensor("m.weight", TAPML_U8, "F8_E5M2", empty, bytes),
        quantised_tensor("m.weight_scale_inv", TAPML_F32, NULL, one, bytes),
    };
    cr_assert_eq(find(&scheme, tensors, 2, &weight), TAPML_INVALID);
    cr_assert(strstr(status_message(), "expected 2 axes that are not empty, found [0, 6]"));
}

Test(quantised_parts, other_names_and_types_are_no_quants)
{
    int matches = 1;
    char module[QUANTISED_MODULE_MAX];
    const struct quantised_layout *layout = quantised_layout_get(QUANTISED_F8);
    const struct checkpoint_tensor plain =
        quantised_tensor("m.weight", TAPML_BF16, NULL, five_by_six, bytes);
    const struct checkpoint_tensor bias =
        quantised_tensor("m.bias", TAPML_U8, "F8_E4M3", five_by_six, bytes);
    const struct checkpoint_tensor bare =
        quantised_tensor(".weight", TAPML_U8, "F8_E4M3", five_by_six, bytes);
    cr_assert_eq(quantised_parts_match(layout, &plain, &matches, module), TAPML_OK);
    cr_assert_not(matches);
    cr_assert_eq(quantised_parts_match(layout, &bias, &matches, module), TAPML_OK);
    cr_assert_not(matches);
    cr_assert_eq(quantised_parts_match(layout, &bare, &matches, module), TAPML_OK);
    cr_assert_not(matches);
    cr_assert_str_eq(quantised_parts_type(&plain), "BF16");
    cr_assert_str_eq(quantised_parts_type(&bias), "F8_E4M3");
}
