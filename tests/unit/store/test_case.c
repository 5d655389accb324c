// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "harness/cases.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "tensor/encoding.h"

static tapml_tensor tensor(uint32_t dtype, uint32_t rank, const int64_t *shape)
{
    return (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor), .dtype = dtype, .rank = rank, .shape = shape};
}

static tapml_value value(uint32_t kind, const tapml_tensor *of)
{
    return (tapml_value){.kind = kind, .u.p = of};
}

Test(case, class_of_a_matrix_product)
{
    const int64_t x_shape[] = {5, 128};
    const int64_t w_shape[] = {352, 128};
    const int64_t y_shape[] = {5, 352};
    const tapml_tensor x = tensor(TAPML_F32, 2, x_shape);
    const tapml_tensor w = tensor(TAPML_BF16, 2, w_shape);
    const tapml_tensor y = tensor(TAPML_F32, 2, y_shape);
    const tapml_value args[] = {
        value(TAPML_P_TENSOR_IN, &x), value(TAPML_P_TENSOR_IN, &w),  {.kind = TAPML_V_NONE},
        {.kind = TAPML_P_I64},        value(TAPML_P_TENSOR_OUT, &y),
    };
    char text[100];
    cr_assert_eq(case_shape_class(inferred_of(&tapml_linear, args), args, text, sizeof(text)),
                 TAPML_OK);
    cr_assert_str_eq(text, "x=[5,128] w=bf16[352,128]");
    cr_assert_eq(case_shape_class(inferred_of(&tapml_linear, args), args, text, 8), TAPML_OK);
    cr_assert_str_eq(text, "x=[5,12");
}

Test(case, panels_of_a_weight_are_one)
{
    const int64_t x_shape[] = {5, 128};
    const int64_t first_shape[] = {300, 128};
    const int64_t second_shape[] = {52, 128};
    const int64_t y_shape[] = {5, 352};
    const tapml_tensor x = tensor(TAPML_F32, 2, x_shape);
    const tapml_tensor second = tensor(TAPML_F32, 2, second_shape);
    tapml_tensor first = tensor(TAPML_F32, 2, first_shape);
    first.next = &second;
    const tapml_tensor y = tensor(TAPML_F32, 2, y_shape);
    const tapml_value args[] = {
        value(TAPML_P_TENSOR_IN, &x), value(TAPML_P_TENSOR_IN, &first), {.kind = TAPML_V_NONE},
        {.kind = TAPML_P_I64},        value(TAPML_P_TENSOR_OUT, &y),
    };
    char text[100];
    cr_assert_eq(case_shape_class(inferred_of(&tapml_linear, args), args, text, sizeof(text)),
                 TAPML_OK);
    cr_assert_str_eq(text, "x=[5,128] w=[352,128]");
}

static void attention_class(int64_t position, char *out_text, size_t size)
{
    const int64_t q_shape[] = {1, 4, 32};
    const int64_t state_shape[] = {256, 2, 32};
    const tapml_tensor q = tensor(TAPML_F32, 3, q_shape);
    const tapml_tensor state = tensor(TAPML_F32, 3, state_shape);
    tapml_value args[14] = {
        value(TAPML_P_TENSOR_IN, &q),
        value(TAPML_P_TENSOR_IN, &state),
        value(TAPML_P_TENSOR_IN, &state),
        {.kind = TAPML_V_NONE},
        {.kind = TAPML_V_NONE},
        {.kind = TAPML_V_NONE},
        {.kind = TAPML_P_I64, .u.i = position},
        {.kind = TAPML_P_F64, .u.d = 0.5},
    };
    for (uint32_t i = 8; i < tapml_attention.n_params; i++) {
        args[i].kind = tapml_attention.params[i]->kind;
    }
    args[tapml_attention.n_params - 1].u.p = &q;
    cr_assert_eq(tapml_attention.n_params, 14);
    cr_assert_eq(case_shape_class(inferred_of(&tapml_attention, args), args, out_text, size),
                 TAPML_OK);
}

Test(case, class_rounds_what_is_read_of_states_up)
{
    char text[100];
    char again[100];
    attention_class(16, text, sizeof(text));
    cr_assert_str_eq(text, "q=[1,4,32] k_state=[<=32,2,32] v_state=[<=32,2,32]");
    attention_class(31, again, sizeof(again));
    cr_assert_str_eq(text, again);
    attention_class(32, again, sizeof(again));
    cr_assert_str_neq(text, again);
    attention_class(0, again, sizeof(again));
    cr_assert_str_eq(again, "q=[1,4,32] k_state=[<=1,2,32] v_state=[<=1,2,32]");
}

Test(case, content_shape_of_a_state_is_what_is_kept)
{
    struct cases_append made;
    int64_t shape[TAPML_MAX_RANK] = {0};
    cases_make_append(&made, "layers.0/k_append", 0);
    case_content_shape(&made.arguments[0], shape);
    cr_assert_eq(shape[0], 32);
    cr_assert_eq(shape[1], CASES_HEADS);
    cr_assert_eq(shape[2], CASES_HEAD);
    case_content_shape(&made.arguments[1], shape);
    cr_assert_eq(shape[0], 2);
}

Test(case, questions)
{
    struct cases_append append;
    struct cases_norm norm;
    cases_make_append(&append, "a", 0);
    cases_make_norm(&norm, "n", 0);
    cr_assert(case_is_state(&append.arguments[0]));
    cr_assert(case_is_output(&append.arguments[0]));
    cr_assert_not(case_is_state(&append.arguments[1]));
    cr_assert_not(case_is_output(&append.arguments[1]));
    cr_assert(case_is_reference(&norm.arguments[1]));
    cr_assert_not(case_is_reference(&norm.arguments[0]));
    norm.arguments[1].before = norm.weight;
    cr_assert_not(case_is_reference(&norm.arguments[1]));
}

Test(case, whole_cases_pass)
{
    struct cases_silu silu;
    struct cases_append append;
    struct cases_norm norm;
    cases_make_silu(&silu, "s", 0);
    cases_make_append(&append, "a", 0);
    cases_make_norm(&norm, "n", 0);
    const struct carved_case *items[] = {&silu.item, &append.item, &norm.item};
    const tapml_op *ops[] = {&tapml_silu, &tapml_state_append, &tapml_rms_norm};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(case_check_op(items[i], ops[i]), TAPML_OK, "%s", status_message());
        for (uint32_t k = 0; k < items[i]->argument_count; k++) {
            cr_assert_eq(case_check_argument(&items[i]->arguments[k]), TAPML_OK, "%s: %s",
                         items[i]->arguments[k].name, status_message());
        }
    }
}

// One number of a good argument is wrong.
#define REFUSES(good_, change_)                                                                    \
    do {                                                                                           \
        struct case_argument bad = (good_);                                                        \
        change_;                                                                                   \
        cr_expect_eq(case_check_argument(&bad), TAPML_INVALID, "%s", #change_);                    \
    } while (0)

Test(case, wrong_numbers_are_refused)
{
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    const struct case_argument x = made.arguments[0];
    const struct case_argument y = made.arguments[1];
    REFUSES(x, bad.rank = TAPML_MAX_RANK + 1);
    REFUSES(x, bad.dtype = 0);
    REFUSES(x, bad.dtype = 12345);
    REFUSES(x, bad.shape[0] = -1);
    REFUSES(x, bad.shape[0] = INT64_MAX);
    REFUSES(x, bad.shape[0] = 3);
    REFUSES(x, bad.stride[0] = -5);
    REFUSES(x, bad.stride[0] = INT64_MAX / 2);
    REFUSES(x, bad.stride[1] = 3);
    REFUSES(x, bad.offset_bytes = 2);
    REFUSES(x, bad.offset_bytes = 16);
    REFUSES(x, bad.offset_bytes = UINT64_MAX - 3);
    REFUSES(x, bad.base_bytes = 32);
    REFUSES(x, bad.base_bytes = UINT64_MAX);
    REFUSES(x, bad.content_bytes = 20);
    REFUSES(x, bad.before = NULL);
    REFUSES(x, bad.kind = TAPML_P_TENSORS_IN);
    REFUSES(x, bad.kind = 99);
    REFUSES(y, bad.after = NULL);
}

Test(case, wrong_state_rows_are_refused)
{
    struct cases_append made;
    cases_make_append(&made, "a", 0);
    const struct case_argument state = made.arguments[0];
    REFUSES(state, bad.kept_begin = -16);
    REFUSES(state, bad.kept_begin = 3);
    REFUSES(state, bad.kept_begin = 16);
    REFUSES(state, bad.kept_end = 16);
    REFUSES(state, bad.kept_end = 48);
    REFUSES(state, bad.region_end = 14);
    REFUSES(state, bad.region_end = INT64_MAX);
    REFUSES(state, bad.region_begin = INT64_MIN);
    REFUSES(state, bad.rank = 0);
    REFUSES(state, bad.before = NULL);
    REFUSES(state, bad.after = NULL);
}

Test(case, huge_stride_zero_tensors_do_not_wrap)
{
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    struct case_argument bad = made.arguments[0];
    bad.shape[0] = INT64_C(1) << 62;
    bad.shape[1] = 1;
    bad.stride[0] = 0;
    bad.content_bytes = 0; // What 2^62 * 4 is in 64 bits.
    cr_assert_eq(case_check_argument(&bad), TAPML_INVALID);
}

Test(case, another_op_is_refused)
{
    struct cases_silu made;
    cases_make_silu(&made, "s", 0);
    cr_assert_eq(case_check_op(&made.item, &tapml_mul), TAPML_INVALID);
    made.item.op_version = 2;
    cr_assert_eq(case_check_op(&made.item, &tapml_silu), TAPML_INVALID);
    cases_make_silu(&made, "s", 0);
    made.item.argument_count = 1;
    cr_assert_eq(case_check_op(&made.item, &tapml_silu), TAPML_INVALID);
    cases_make_silu(&made, "s", 0);
    made.arguments[1].kind = TAPML_P_TENSOR_INOUT;
    cr_assert_eq(case_check_op(&made.item, &tapml_silu), TAPML_INVALID);
    cases_make_silu(&made, "s", 0);
    made.arguments[1].kind = TAPML_V_NONE;
    cr_assert_eq(case_check_op(&made.item, &tapml_silu), TAPML_INVALID, "it is not optional");
    cases_make_silu(&made, "s", 0);
    made.arguments[0].name = "z";
    cr_assert_eq(case_check_op(&made.item, &tapml_silu), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'z'"), "%s", status_message());
}

static tapml_status class_of_silu(void)
{
    const int64_t shape[] = {5, 128};
    const tapml_tensor x = tensor(TAPML_F32, 2, shape);
    const tapml_value args[] = {value(TAPML_P_TENSOR_IN, &x), value(TAPML_P_TENSOR_OUT, &x)};
    char text[100];
    return case_shape_class(inferred_of(&tapml_silu, args), args, text, sizeof(text));
}

Test(case, survives_a_lack_of_memory)
{
    (void)schema_of(&tapml_silu); // Not what is tried here.
    SCRATCH_SWEEP(class_of_silu());
}

Test(case, weights_in_blocks_are_dense_and_whole)
{
    struct cases_blocks made;
    char text[128];
    tapml_value *values = NULL;
    struct arena *arena = arena_create();
    cases_make_blocks(&made, "q", 0);
    struct case_argument *w = &made.arguments[1];
    cr_assert_eq(case_check_argument(w), TAPML_OK, "%s", status_message());
    cr_assert_eq(case_values(&made.item, arena, &values), TAPML_OK);
    cr_assert_eq(case_shape_class(inferred_of(&tapml_linear, values), values, text, sizeof(text)),
                 TAPML_OK, "%s", status_message());
    cr_assert_str_eq(text, "x=[2,64] w=tapml.q4/1[4,64]");

    struct case_argument wrong = *w;
    wrong.base_bytes = wrong.content_bytes = CASES_BLOCK_BYTES - 16;
    cr_assert_eq(case_check_argument(&wrong), TAPML_INVALID);
    wrong = *w;
    wrong.stride[0] = 128;
    cr_assert_eq(case_check_argument(&wrong), TAPML_INVALID);
    wrong = *w;
    wrong.shape[1] = 33;
    cr_assert_eq(case_check_argument(&wrong), TAPML_INVALID);
    wrong = *w;
    wrong.effects = 0;
    cr_assert_eq(case_check_argument(&wrong), TAPML_INVALID);
    arena_destroy(arena);
}

// Rows of a state are kept as rows of bytes.
Test(case, states_in_blocks_are_dense)
{
    struct cases_rows made;
    int64_t shape[TAPML_MAX_RANK] = {0};
    cases_make_rows(&made, "a", 0);
    const struct case_argument state = made.arguments[0];
    cr_assert_eq(case_check_argument(&state), TAPML_OK, "%s", status_message());
    cr_assert_eq(case_check_op(&made.item, &tapml_state_append), TAPML_OK, "%s", status_message());
    case_content_shape(&state, shape);
    cr_expect_eq(shape[0], 32);
    cr_expect_eq(shape[1], CASES_HEADS);
    cr_expect_eq(shape[2], 36);
    const struct case_argument view = case_content_view(&state);
    cr_expect_null(view.encoding);
    cr_expect_eq(view.stride[0], CASES_ROW_BYTES);
    REFUSES(state, bad.dtype = TAPML_F32);
    REFUSES(state, bad.stride[0] = 128);
    REFUSES(state, bad.shape[2] = 48);
    REFUSES(state, bad.encoding = encoding_find(TAPML_ENCODING_Q8));
    REFUSES(state, bad.kept_end = 48);
    REFUSES(state, bad.base_bytes = 16);
}
