// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/schemas.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/encoding.h"
#include "verify/recast.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// What a device of f16 activations says of itself.
static const struct backend_info half = {.activation = ACTIVATION_F16,
                                         .takes = ENCODING_TAKES_BLOCKS};

static struct arena *arena;

static void begin(void)
{
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(recast, .init = begin, .fini = end);

static float half_of(const void *halves, size_t index)
{
    return convert_f16_to_f32(((const uint16_t *)halves)[index]);
}

Test(recast, a_case_keeps_its_layout)
{
    struct cases_silu made;
    struct carved_case reduced;
    cases_make_silu(&made, "s", 0);
    made.x[0] = 2049;
    MUST(recast_case(&made.item, schema_of(&tapml_silu), &half, arena, &reduced));
    const struct case_argument *x = &reduced.arguments[0], *given = &made.arguments[0];
    cr_expect_eq(x->dtype, TAPML_F16);
    cr_expect_eq(x->offset_bytes, given->offset_bytes / 2);
    cr_expect_eq(x->base_bytes, given->base_bytes / 2);
    cr_expect_eq(x->content_bytes, given->content_bytes / 2);
    cr_expect_arr_eq(x->stride, given->stride, sizeof(x->stride));
    cr_expect_eq(half_of(x->before, 0), 2048);
    cr_expect_null(x->after);
    cr_expect_null(reduced.arguments[1].before);
    cr_expect_not_null(reduced.arguments[1].after);
    for (uint32_t i = 0; i < reduced.argument_count; i++) {
        MUST(case_check_argument(&reduced.arguments[i]));
    }
    cr_expect_eq(given->dtype, TAPML_F32, "the given one stays as it is");
}

Test(recast, states_with_their_kept_rows)
{
    struct cases_append made;
    struct carved_case reduced;
    cases_make_append(&made, "k", 0);
    MUST(recast_case(&made.item, schema_of(&tapml_state_append), &half, arena, &reduced));
    const struct case_argument *state = &reduced.arguments[0];
    cr_expect_eq(state->dtype, TAPML_F16);
    cr_expect_eq(state->kept_end, made.arguments[0].kept_end);
    cr_expect_float_eq(half_of(state->after, 5), made.after[5], fabsf(made.after[5]) * 0x1p-10f);
    MUST(case_check_argument(state));
}

Test(recast, weights_stay)
{
    struct cases_norm made;
    struct cases_blocks blocks;
    struct carved_case reduced;
    cases_make_norm(&made, "n", 0);
    MUST(recast_case(&made.item, schema_of(&tapml_rms_norm), &half, arena, &reduced));
    cr_expect_eq(reduced.arguments[0].dtype, TAPML_F16);
    cr_expect_eq(reduced.arguments[1].dtype, TAPML_F32);
    cases_make_blocks(&blocks, "q", 0);
    MUST(recast_case(&blocks.item, schema_of(&tapml_linear), &half, arena, &reduced));
    cr_expect_eq(reduced.arguments[0].dtype, TAPML_F16);
    cr_expect_eq(reduced.arguments[1].dtype, TAPML_U8);
    cr_expect_eq(reduced.arguments[1].before, blocks.w);
}

// The tables of rope, whatever stands in the other arguments.
Test(recast, what_is_f32_alone_stays)
{
    struct cases_silu made;
    struct carved_case rope, reduced;
    struct case_argument arguments[3];
    cases_make_silu(&made, "s", 0);
    for (int i = 0; i < 3; i++) {
        arguments[i] = made.arguments[0];
    }
    rope = made.item;
    rope.arguments = arguments;
    rope.argument_count = 3;
    MUST(recast_case(&rope, schema_of(&tapml_rope), &half, arena, &reduced));
    cr_expect_eq(reduced.arguments[0].dtype, TAPML_F16);
    cr_expect_eq(reduced.arguments[1].dtype, TAPML_F32);
    cr_expect_eq(reduced.arguments[2].dtype, TAPML_F32);
}

Test(recast, goes_back)
{
    struct cases_silu made;
    struct carved_case reduced, wide;
    cases_make_silu(&made, "s", 0);
    MUST(recast_case(&made.item, schema_of(&tapml_silu), &half, arena, &reduced));
    MUST(recast_widen_case(&reduced, ACTIVATION_F16, arena, &wide));
    cr_expect_eq(wide.arguments[0].dtype, TAPML_F32);
    cr_expect_eq(wide.arguments[0].offset_bytes, made.arguments[0].offset_bytes);
    cr_expect_eq(wide.arguments[1].content_bytes, made.arguments[1].content_bytes);
    const float *x = wide.arguments[0].before;
    for (size_t i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        cr_expect_eq(x[i], half_of(reduced.arguments[0].before, i));
    }
    MUST(recast_widen_case(&made.item, ACTIVATION_F16, arena, &wide));
    cr_expect_eq(wide.arguments[0].before, made.x, "of f32 there is nothing to widen");
}

Test(recast, what_is_expected_is_rounded_where_bits_count)
{
    const float expected[] = {0.1f, 2049, 1e6f, -3};
    const uint16_t computed[] = {0x2e66, 0x6800, 0x7c00, 0xc200};
    struct replay_output output = {
        .dtype = TAPML_F16, .expected = expected, .computed = computed, .rows = 2, .width = 2};
    MUST(recast_widen_output(&tapml_gather_rows, ACTIVATION_F16, arena, &output));
    cr_expect_eq(output.dtype, TAPML_F32);
    cr_expect_arr_eq(output.expected, output.computed, sizeof(expected));
    cr_expect_eq(((const float *)output.computed)[1], 2048);
    cr_expect(isinf(((const float *)output.computed)[2]));

    output = (struct replay_output){
        .dtype = TAPML_F16, .expected = expected, .computed = computed, .rows = 2, .width = 2};
    MUST(recast_widen_output(&tapml_silu, ACTIVATION_F16, arena, &output));
    cr_expect_eq(output.expected, expected);
}

// A block of a file has zeros with a sign where its scale has one; what it is spread to has none.
Test(recast, zeros_from_blocks_of_files_have_no_sign)
{
    const float expected[] = {-0.0f, 1, 0, -2}, computed[] = {0, 1, -0.0f, -2};
    const struct replay_output given = {
        .dtype = TAPML_F32, .expected = expected, .computed = computed, .rows = 2, .width = 2};
    struct case_argument table = {.encoding = encoding_find("gguf.q5_0/1")};
    const struct carved_case item = {.arguments = &table, .argument_count = 1};
    struct replay_output output = given;
    MUST(recast_drop_zero_signs(&item, &tapml_embed, arena, &output));
    cr_expect_arr_eq(output.expected, output.computed, sizeof(expected));
    cr_expect_eq(((const float *)output.expected)[3], -2);

    output = given;
    MUST(recast_drop_zero_signs(&item, &tapml_silu, arena, &output));
    cr_expect_eq(output.expected, expected);
    table.encoding = encoding_find(TAPML_ENCODING_Q5);
    MUST(recast_drop_zero_signs(&item, &tapml_embed, arena, &output));
    cr_expect_eq(output.expected, expected);
}
