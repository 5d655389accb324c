// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "harness/schemas.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static const struct affine tokens = {0, {1, 0, 0, 0}};
static const struct affine position = {0, {0, 1, 0, 0}};
static const struct affine capacity = {0, {0, 0, 0, 1}};

static void expect_message(tapml_status status, const char *piece)
{
    cr_assert_eq(status, TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

static struct infer_argument f32(uint32_t rank, struct affine a, struct affine b, struct affine c)
{
    return (struct infer_argument){
        .is_present = 1, .dtype = TAPML_F32, .rank = rank, .shape = {a, b, c}};
}

static struct affine number(int64_t value)
{
    return affine_constant(value);
}

static const struct infer_argument present = {.is_present = 1};

Test(infer, the_output_of_linear)
{
    struct infer_argument arguments[] = {
        f32(2, tokens, number(8), number(0)),
        f32(2, number(6), number(8), number(0)),
        {0},
        present,
        present,
    };

    arguments[TAPML_LINEAR_W].dtype = TAPML_BF16;
    cr_assert_eq(infer_op(schema_of(&tapml_linear), arguments), TAPML_OK, "%s", status_message());
    cr_assert_eq(arguments[TAPML_LINEAR_Y].dtype, TAPML_F32);
    cr_assert_eq(arguments[TAPML_LINEAR_Y].rank, 2);
    cr_assert(affine_equal(&arguments[TAPML_LINEAR_Y].shape[0], &tokens));
    cr_assert_eq(arguments[TAPML_LINEAR_Y].shape[1].constant, 6);

    // The other way round, [in, out].
    arguments[TAPML_LINEAR_TRANSPOSED].i = number(1);
    expect_message(infer_op(schema_of(&tapml_linear), arguments),
                   "tapml.linear: parameter 'w': axis 0 is 6, 'in' is 8");
    arguments[TAPML_LINEAR_W] = f32(2, number(8), number(6), number(0));
    cr_assert_eq(infer_op(schema_of(&tapml_linear), arguments), TAPML_OK, "%s", status_message());

    arguments[TAPML_LINEAR_B] = f32(1, number(5), number(0), number(0));
    expect_message(infer_op(schema_of(&tapml_linear), arguments), "'b': axis 0 is 5, 'out' is 6");
    arguments[TAPML_LINEAR_B].is_present = 0;
    arguments[TAPML_LINEAR_X].dtype = TAPML_I32;
    expect_message(infer_op(schema_of(&tapml_linear), arguments),
                   "'x': dtype is i32, expected f32");
    arguments[TAPML_LINEAR_X].is_present = 0;
    expect_message(infer_op(schema_of(&tapml_linear), arguments), "'x': is left out");
}

Test(infer, attention_over_states)
{
    struct infer_argument arguments[14] = {
        f32(3, tokens, number(4), number(16)),
        f32(3, capacity, number(2), number(16)),
        f32(3, capacity, number(2), number(24)),
    };

    for (unsigned p = TAPML_ATTENTION_POSITION; p <= TAPML_ATTENTION_Y; p++) {
        arguments[p] = present;
    }
    arguments[TAPML_ATTENTION_POSITION].i = position;
    cr_assert_eq(infer_op(schema_of(&tapml_attention), arguments), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(arguments[TAPML_ATTENTION_Y].rank, 3);
    cr_assert_eq(arguments[TAPML_ATTENTION_Y].shape[2].constant, 24);

    // A mask over what the state holds: P + T keys.
    arguments[TAPML_ATTENTION_KEY_MASK] = f32(1, (struct affine){0, {1, 1, 0, 0}}, tokens, tokens);
    arguments[TAPML_ATTENTION_KEY_MASK].dtype = TAPML_I32;
    cr_assert_eq(infer_op(schema_of(&tapml_attention), arguments), TAPML_OK, "%s",
                 status_message());
    arguments[TAPML_ATTENTION_KEY_MASK].shape[0] = capacity;
    expect_message(infer_op(schema_of(&tapml_attention), arguments),
                   "'key_mask': axis 0 is C, 'position + T' is T + P");
}

Test(infer, types_and_shapes_of_other_parameters)
{
    struct infer_argument arguments[] = {f32(2, tokens, number(8), number(0)),
                                         f32(2, tokens, number(8), number(0)), present};

    cr_assert_eq(infer_op(schema_of(&tapml_add), arguments), TAPML_OK, "%s", status_message());
    cr_assert_eq(arguments[2].dtype, TAPML_F32);
    cr_assert_eq(arguments[2].rank, 2);
    arguments[1].shape[1] = number(4);
    expect_message(infer_op(schema_of(&tapml_add), arguments), "axis 1 is 4, that of 'a' is 8");
    arguments[1].dtype = TAPML_F16;
    expect_message(infer_op(schema_of(&tapml_add), arguments), "dtype is f16, expected f32");
    arguments[1] = f32(1, tokens, tokens, tokens);
    expect_message(infer_op(schema_of(&tapml_add), arguments), "rank is 1, that of 'a' is 2");
}

struct call {
    int64_t q_shape[3], k_shape[3], v_shape[3], y_shape[3];
    int64_t k_stride[3];
    tapml_tensor q, k, v, y;
    tapml_value args[14];
};

static tapml_tensor tensor(const int64_t *shape)
{
    return (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 3, .shape = shape};
}

// Attention of 3 tokens at position 10 over states of 32 rows, one in two of whose heads is seen.
static void call_init(struct call *call)
{
    *call = (struct call){.q_shape = {3, 4, 16},
                          .k_shape = {32, 2, 16},
                          .v_shape = {32, 2, 24},
                          .y_shape = {3, 4, 24},
                          .k_stride = {64, 32, 1}};
    call->q = tensor(call->q_shape);
    call->k = tensor(call->k_shape);
    call->v = tensor(call->v_shape);
    call->y = tensor(call->y_shape);
    call->k.stride = call->k_stride;
    for (unsigned p = 0; p < 14; p++) {
        call->args[p].kind = tapml_attention.params[p]->kind;
    }
    call->args[TAPML_ATTENTION_Q].u.p = &call->q;
    call->args[TAPML_ATTENTION_K_STATE].u.p = &call->k;
    call->args[TAPML_ATTENTION_V_STATE].u.p = &call->v;
    call->args[TAPML_ATTENTION_Y].u.p = &call->y;
    call->args[TAPML_ATTENTION_SLOPES].kind = TAPML_V_NONE;
    call->args[TAPML_ATTENTION_SINKS].kind = TAPML_V_NONE;
    call->args[TAPML_ATTENTION_KEY_MASK].kind = TAPML_V_NONE;
    call->args[TAPML_ATTENTION_POSITION].u.i = 10;
}

static tapml_status check(const struct call *call)
{
    struct inferred inferred;

    return infer_call(schema_of(&tapml_attention), call->args, &inferred);
}

Test(infer, a_right_call)
{
    const struct compiled_op *schema = schema_of(&tapml_attention);
    struct call call;
    struct inferred inferred;
    int64_t flops = 0;

    call_init(&call);
    const size_t made = alloc_made();
    cr_assert_eq(infer_call(schema, call.args, &inferred), TAPML_OK, "%s", status_message());
    cr_assert_eq(alloc_made(), made, "a check of every call must not allocate");
    cr_assert_eq(inferred.schema, schema);
    cr_assert_eq(expression_value(&inferred.scope, schema->flops, &flops), TAPML_OK);
    cr_assert_eq(flops, 2 * 3 * 4 * 13 * 40);
    cr_assert_eq(inferred.regions[TAPML_ATTENTION_K_STATE].begin, 0);
    cr_assert_eq(inferred.regions[TAPML_ATTENTION_K_STATE].end, 13);
}

Test(infer, domains)
{
    const uint32_t some = 1u << TAPML_ATTENTION_CAUSAL | 1u << TAPML_ATTENTION_SCALE |
                          1u << TAPML_ATTENTION_POSITION | 1u << TAPML_ATTENTION_Q;
    struct call call;
    struct inferred inferred;

    call_init(&call);
    call.args[TAPML_ATTENTION_CAUSAL].u.i = 1;
    call.args[TAPML_ATTENTION_SCALE].u.d = 0.5;
    cr_assert_eq(infer_call(schema_of(&tapml_attention), call.args, &inferred), TAPML_OK);
    cr_assert_eq(infer_domains(&inferred, call.args, some), TAPML_OK, "%s", status_message());
    call.args[TAPML_ATTENTION_SCALE].u.d = 1.5;
    expect_message(infer_domains(&inferred, call.args, some), "'scale': is 1.5, expected 0 .. 1");
    cr_assert_eq(infer_domains(&inferred, call.args, 1u << TAPML_ATTENTION_CAUSAL), TAPML_OK);
    call.args[TAPML_ATTENTION_CAUSAL].u.i = 2;
    expect_message(infer_domains(&inferred, call.args, 1u << TAPML_ATTENTION_CAUSAL),
                   "'causal': is 2, which is none of its values");
    call.args[TAPML_ATTENTION_POSITION].u.i = 30; // Of 0 .. C - T = 29.
    expect_message(infer_domains(&inferred, call.args, 1u << TAPML_ATTENTION_POSITION),
                   "'position': is 30, expected 0 .. 29");
}

Test(infer, kinds_and_presence)
{
    struct call call;

    call_init(&call);
    call.args[TAPML_ATTENTION_SCALE].kind = TAPML_P_I64;
    expect_message(check(&call), "'scale': is of kind 5, expected 6");
    call.args[TAPML_ATTENTION_SCALE].kind = TAPML_V_NONE;
    expect_message(check(&call), "'scale': is left out, and is not optional");
    call_init(&call);
    call.args[TAPML_ATTENTION_Y].kind = TAPML_P_TENSOR_IN;
    expect_message(check(&call), "'y': is of kind 1, expected 2");
    call_init(&call);
    call.args[TAPML_ATTENTION_Q].u.p = NULL;
    expect_message(check(&call), "'q': is no tensor");
}

Test(infer, malformed_tensors)
{
    struct call call;
    int64_t huge[3] = {(int64_t)1 << 40, (int64_t)1 << 40, 16};

    call_init(&call);
    call.q.hdr.struct_size = 8;
    expect_message(check(&call), "'q': is no tensor");
    call_init(&call);
    call.q.rank = 7;
    expect_message(check(&call), "rank is 7");
    call_init(&call);
    call.q.shape = NULL;
    expect_message(check(&call), "has no shape");
    call_init(&call);
    call.q_shape[1] = -4;
    expect_message(check(&call), "'q': axis 1 has a negative extent");
    call_init(&call);
    call.k_stride[0] = -64;
    expect_message(check(&call), "'k_state': axis 0 has a negative extent or stride");
    call_init(&call);
    call.q.dtype = 77;
    expect_message(check(&call), "dtype is ?, expected f32");
    call_init(&call);
    call.q.offset = 2;
    expect_message(check(&call), "offset 2 is no multiple of its 4-byte elements");
    call_init(&call);
    call.q.shape = huge;
    cr_assert_eq(check(&call), TAPML_INVALID);
    call_init(&call);
    call.q.offset = UINT64_MAX - 3;
    cr_assert_eq(check(&call), TAPML_INVALID);
}

Test(infer, types_shapes_and_layouts)
{
    struct call call;

    call_init(&call);
    call.q.dtype = TAPML_BF16;
    expect_message(check(&call), "'q': dtype is bf16, expected f32 f16");
    call.q.dtype = TAPML_F16;
    expect_message(check(&call), "'y': dtype is f32, expected f16");
    call_init(&call);
    call.y_shape[0] = 2;
    expect_message(check(&call), "'y': axis 0 is 2, 'T' is 3");
    call_init(&call);
    call.v_shape[0] = 31;
    expect_message(check(&call), "'v_state': axis 0 is 31, 'C' is 32");
    call_init(&call);
    call.k_stride[2] = 2;
    expect_message(check(&call), "'k_state': its strides are not of layout 'rows'");
}

Test(infer, regions_stay_inside_the_state)
{
    struct call call;

    call_init(&call);
    call.args[TAPML_ATTENTION_POSITION].u.i = 29;
    cr_assert_eq(check(&call), TAPML_OK, "%s", status_message());
    call.args[TAPML_ATTENTION_POSITION].u.i = 30;
    expect_message(check(&call), "0 .. position + T is 0 .. 33, it has 32 rows");

    int64_t rows_shape[3] = {3, 2, 16};
    tapml_tensor rows = tensor(rows_shape);
    tapml_value args[] = {{.kind = TAPML_P_TENSOR_INOUT, .u.p = &call.k},
                          {.kind = TAPML_P_TENSOR_IN, .u.p = &rows},
                          {.kind = TAPML_P_I64, .u.i = -1}};
    struct inferred inferred;

    expect_message(infer_call(schema_of(&tapml_state_append), args, &inferred), "is -1 .. 2");
    args[2].u.i = INT64_MAX;
    cr_assert_eq(infer_call(schema_of(&tapml_state_append), args, &inferred), TAPML_INVALID);
}

Test(infer, panels_and_encodings_of_weights)
{
    const int64_t x_shape[] = {5, 8};
    const int64_t w_shape[] = {4, 8};
    const int64_t rest_shape[] = {2, 8};
    const int64_t narrow_shape[] = {2, 7};
    const int64_t y_shape[] = {5, 6};
    tapml_tensor x = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = x_shape};
    tapml_tensor w = x;
    tapml_tensor rest = x;
    tapml_tensor y = x;
    const tapml_encoding encoding = {.hdr = TAPML_HDR(tapml_encoding), .id = "gguf.q4_0/1"};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_IN, .u.p = &w},
                                {.kind = TAPML_V_NONE},
                                {.kind = TAPML_P_I64},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    struct inferred inferred;

    w.shape = w_shape;
    w.next = &rest;
    rest.shape = rest_shape;
    y.shape = y_shape;
    cr_assert_eq(infer_call(schema_of(&tapml_linear), args, &inferred), TAPML_OK, "%s",
                 status_message());
    rest.shape = narrow_shape;
    expect_message(infer_call(schema_of(&tapml_linear), args, &inferred), "a panel differs");
    w.next = NULL;
    expect_message(infer_call(schema_of(&tapml_linear), args, &inferred),
                   "'y': axis 1 is 6, 'out' is 4");
    w.encoding = &encoding;
    expect_message(infer_call(schema_of(&tapml_linear), args, &inferred),
                   "has encoding 'gguf.q4_0/1'");
}

// Both states of a call are encoded alike.
Test(infer, encodings_of_states)
{
    static const tapml_span span = {.hdr = TAPML_HDR(tapml_span), .block_bytes = 36};
    static const tapml_span *const spans[] = {&span};
    static const tapml_encoding rows = {.hdr = TAPML_HDR(tapml_encoding),
                                        .id = TAPML_ENCODING_Q8_ROWS,
                                        .block_values = 8,
                                        .n_spans = 1,
                                        .spans = spans};
    struct call call;

    call_init(&call);
    call.k.stride = NULL;
    call.k.encoding = &rows;
    call.k.dtype = TAPML_U8;
    expect_message(check(&call), "'v_state': is f32, expected tapml.q8_rows/1");
    call.v.encoding = &rows;
    call.v.dtype = TAPML_U8;
    cr_assert_eq(check(&call), TAPML_OK, "%s", status_message());
}

Test(infer, several_tensors_in_one_parameter)
{
    static const tapml_param parts = {.hdr = TAPML_HDR(tapml_param),
                                      .name = "parts",
                                      .kind = TAPML_P_TENSORS_IN,
                                      .dtype = "f32",
                                      .shape = "out, in",
                                      .layout = "rows"};
    static const tapml_param *const params[] = {&parts};
    static const tapml_op op = {.hdr = TAPML_HDR(tapml_op),
                                .name = "org.example.stack",
                                .tolerance = "exact",
                                .version = 1,
                                .n_params = 1,
                                .params = params};
    const int64_t shape[] = {4, 8};
    const int64_t other[] = {4, 9};
    tapml_tensor first = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = shape};
    tapml_tensor second = first;
    const tapml_tensor *const both[] = {&first, &second};
    tapml_value args[] = {{.kind = TAPML_P_TENSORS_IN, .count = 2, .u.p = both}};
    struct inferred inferred;

    cr_assert_eq(infer_call(schema_of(&op), args, &inferred), TAPML_OK, "%s", status_message());
    second.shape = other;
    expect_message(infer_call(schema_of(&op), args, &inferred), "'parts': axis 1 is 9, 'in' is 8");
    args[0].count = 0;
    expect_message(infer_call(schema_of(&op), args, &inferred), "has no tensors");
}
