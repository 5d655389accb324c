// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/reduced.h"
#include "harness/plain.h"
#include "harness/schemas.h"
#include "tensor/encoding.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

Test(reduced, says_its_dtype_and_leaves_the_rest_as_it_is)
{
    struct backend *inner = plain_create();
    struct reduced *reduced = NULL;
    cr_assert_eq(reduced_create(inner, ACTIVATION_F16, &reduced), TAPML_OK);
    cr_expect_eq(backend_info(reduced_backend(reduced))->activation, ACTIVATION_F16);
    cr_expect(backend_info(reduced_backend(reduced))->is_host_memory,
              "weights stay where they are");
    cr_expect_eq(backend_info(inner)->activation, ACTIVATION_F32);
    reduced_destroy(reduced);
    reduced_destroy(NULL);
    backend_release(inner);
}

Test(reduced, refuses_what_the_schema_does_not_take)
{
    struct backend *inner = plain_create();
    struct reduced *reduced = NULL;
    const int64_t shape[] = {2, 4};
    const tapml_tensor half = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F16, .rank = 2, .shape = shape};
    tapml_tensor other = half;
    other.dtype = TAPML_F32;
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &half},
                                {.kind = TAPML_P_TENSOR_IN, .u.p = &other},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &half}};
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support), .grade = TAPML_SUPPORT_YES};
    cr_assert_eq(reduced_create(inner, ACTIVATION_F16, &reduced), TAPML_OK);
    cr_assert_eq(backend_supports(reduced_backend(reduced), schema_of(&tapml_add), args, &answer),
                 TAPML_OK);
    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_expect_str_eq(answer.reason, "in f16: tapml.add: parameter 'b': dtype is f32, expected f16");
    reduced_destroy(reduced);
    backend_release(inner);
}

// The rows are f16 there before they are encoded, and give other bits.
Test(reduced, refuses_to_write_blocks)
{
    struct backend *inner = plain_create();
    struct reduced *reduced = NULL;
    const int64_t shape[] = {2, 1, 32};
    const tapml_tensor rows = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F16, .rank = 3, .shape = shape};
    tapml_tensor state = rows;
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_INOUT, .u.p = &state},
                                {.kind = TAPML_P_TENSOR_IN, .u.p = &rows},
                                {.kind = TAPML_P_I64}};
    tapml_support answer = {.hdr = TAPML_HDR(tapml_support)};
    state.dtype = TAPML_U8;
    state.encoding = encoding_find(TAPML_ENCODING_Q8_ROWS);
    cr_assert_eq(reduced_create(inner, ACTIVATION_F16, &reduced), TAPML_OK);
    cr_assert_eq(
        backend_supports(reduced_backend(reduced), schema_of(&tapml_state_append), args, &answer),
        TAPML_OK);
    cr_expect_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_expect_str_eq(answer.reason, "in f16: rows are rounded before they are encoded");
    reduced_destroy(reduced);
    backend_release(inner);
}
