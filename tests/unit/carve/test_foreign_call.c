// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "carve/foreign_call.h"
#include "harness/schemas.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct foreign_call *call;

static void end(void)
{
    foreign_call_destroy(call);
}

TestSuite(foreign_call, .fini = end);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// Of rank 2, from `data` on.
static tapml_status
give(uint32_t position, enum foreign_moment moment, int64_t rows, int64_t width, const void *data)
{
    const int64_t shape[] = {rows, width};
    const struct foreign_tensor tensor = {
        .dtype = TAPML_F32, .rank = 2, .shape = shape, .data = data};

    return foreign_call_give(call, position, moment, &tensor, NULL);
}

static struct carved_case named(const char *op)
{
    return (struct carved_case){
        .instance = "a/b", .op_name = op, .op_version = 1, .phase = "prefill"};
}

static void refused(const char *sentence)
{
    struct carved_case item = named("tapml.op");
    struct call_line line;

    cr_assert_eq(foreign_call_make(call, &item, &line), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), sentence), "'%s' lacks '%s'", status_message(),
                       sentence);
    cr_assert_not_null(strstr(status_message(), "'a/b' (tapml.op)"), "%s", status_message());
}

Test(foreign_call, strided_data_becomes_a_dense_case_with_its_line)
{
    static const float base[] = {1, 2, 9, 3, -4, 9}, y[] = {5, 6, 7, 8};
    static const int64_t shape[] = {2, 2}, stride[] = {3, 1};
    const struct foreign_tensor x = {
        .dtype = TAPML_F32, .rank = 2, .shape = shape, .stride = stride, .data = base};
    struct carved_case item = named("tapml.silu");
    struct call_line line;

    MUST(foreign_call_create(schema_of(&tapml_silu), &call));
    MUST(foreign_call_give(call, 0, FOREIGN_BEFORE, &x, NULL));
    MUST(give(1, FOREIGN_AFTER, 2, 2, y));
    foreign_call_set_origin(call, 0, "a/up");
    MUST(foreign_call_make(call, &item, &line));
    cr_assert_str_eq(item.shape_class, "x=[2,2]");
    cr_assert_str_eq(item.arguments[0].origin, "a/up");
    cr_assert_eq(((const float *)item.arguments[0].before)[2], 3);
    cr_assert_eq(((const float *)item.arguments[1].after)[3], 8);
    MUST(case_check_op(&item, &tapml_silu));
    MUST(case_check_argument(&item.arguments[0]));
    cr_assert_eq(line.output_count, 1u);
    cr_assert_eq(line.outputs[0].largest, 8);
}

Test(foreign_call, what_is_missing_or_does_not_fit_is_named)
{
    static const float values[6] = {0};

    MUST(foreign_call_create(schema_of(&tapml_rms_norm), &call));
    MUST(give(0, FOREIGN_BEFORE, 2, 3, values));
    refused("parameter 'eps': expected a number, found none");
    MUST(foreign_call_give_i64(call, 2, 0)); // A whole number is a number.
    MUST(foreign_call_give_f64(call, 3, 0));
    refused("parameter 'y': what came out of it is missing");
    MUST(give(4, FOREIGN_AFTER, 2, 2, values));
    refused("parameter 'y'");
    cr_assert_eq(give(4, FOREIGN_AFTER, 2, 3, values), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "parameter 'y': it was given before"));
    cr_assert_eq(give(5, FOREIGN_AFTER, 2, 3, values), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "there is no parameter 5, expected 0 to 4"));
    cr_assert_eq(foreign_call_give_f64(call, 0, 1), TAPML_INVALID);
}

Test(foreign_call, what_is_only_read_has_no_contents_after_it)
{
    static const float values[6] = {0};

    MUST(foreign_call_create(schema_of(&tapml_silu), &call));
    MUST(give(0, FOREIGN_BEFORE, 2, 3, values));
    MUST(give(0, FOREIGN_AFTER, 2, 3, values));
    refused("parameter 'x': it is only read");
}

Test(foreign_call, numbers_out_of_their_domain_and_tensors_too_large_are_refused)
{
    static const float values[6] = {0};
    const int64_t vast[] = {INT64_C(1) << 40, INT64_C(1) << 40};
    const struct foreign_tensor tensor = {
        .dtype = TAPML_F32, .rank = 2, .shape = vast, .data = values};

    MUST(foreign_call_create(schema_of(&tapml_rms_norm), &call));
    cr_assert_eq(foreign_call_give(call, 0, FOREIGN_BEFORE, &tensor, NULL), TAPML_INVALID);
    MUST(give(0, FOREIGN_BEFORE, 2, 3, values));
    MUST(give(4, FOREIGN_AFTER, 2, 3, values));
    MUST(foreign_call_give_f64(call, 2, 7));
    MUST(foreign_call_give_f64(call, 3, 0));
    refused("'eps'");
}

Test(foreign_call, of_a_state_whole_pages_are_kept)
{
    enum { CAPACITY = 40 };
    static const int64_t state_shape[] = {CAPACITY, 1, 2}, rows_shape[] = {1, 1, 2};
    static float before[2 * CAPACITY], after[2 * CAPACITY], rows[2] = {7, 8};
    const struct foreign_tensor tensors[] = {
        {.dtype = TAPML_F32, .rank = 3, .shape = state_shape, .data = before},
        {.dtype = TAPML_F32, .rank = 3, .shape = state_shape, .data = after},
        {.dtype = TAPML_F32, .rank = 3, .shape = rows_shape, .data = rows}};
    struct carved_case item = named("tapml.state_append");
    struct call_line line;

    after[2 * 20] = 7;
    after[2 * 20 + 1] = 8;
    MUST(foreign_call_create(schema_of(&tapml_state_append), &call));
    MUST(foreign_call_give(call, 0, FOREIGN_BEFORE, &tensors[0], NULL));
    MUST(foreign_call_give(call, 0, FOREIGN_AFTER, &tensors[1], NULL));
    MUST(foreign_call_give(call, 1, FOREIGN_BEFORE, &tensors[2], NULL));
    MUST(foreign_call_give_i64(call, 2, 20));
    MUST(foreign_call_make(call, &item, &line));
    cr_assert_eq(item.arguments[0].kept_begin, 16);
    cr_assert_eq(item.arguments[0].kept_end, 32);
    cr_assert_eq(((const float *)item.arguments[0].after)[2 * 4], 7);
    cr_assert_eq(line.outputs[0].count, 2u, "the row that was written");
    cr_assert_eq(line.outputs[0].largest, 8);
    MUST(case_check_argument(&item.arguments[0]));
}

Test(foreign_call, a_weight_is_known_by_its_name)
{
    static const float values[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t shape[] = {3};
    const struct foreign_tensor weight = {
        .dtype = TAPML_F32, .rank = 1, .shape = shape, .data = values};
    struct carved_case item = named("tapml.rms_norm");
    struct call_line line;
    uint32_t dtype = 0;
    uint64_t bytes = 0;

    MUST(foreign_call_create(schema_of(&tapml_rms_norm), &call));
    MUST(give(0, FOREIGN_BEFORE, 2, 3, values));
    MUST(foreign_call_give(call, 1, FOREIGN_BEFORE, &weight, "norm.weight"));
    MUST(foreign_call_give_f64(call, 2, 1e-5));
    MUST(foreign_call_give_f64(call, 3, 0));
    MUST(give(4, FOREIGN_AFTER, 2, 3, values));
    MUST(foreign_call_make(call, &item, &line));
    cr_assert(case_is_reference(&item.arguments[1]));
    cr_assert_str_eq(item.arguments[1].origin, "norm.weight");
    cr_assert_str_eq(foreign_call_weight(call, 1), "norm.weight");
    cr_assert_eq(((const float *)foreign_call_bytes(call, 1, FOREIGN_BEFORE, &dtype, &bytes))[2],
                 3);
    cr_assert_eq(bytes, 12u);
}

Test(foreign_call, a_list_is_a_stack)
{
    static float stack[2 * 3 * 4], x[4], y[3];
    static const int32_t chosen[] = {1};
    static const int64_t stack_shape[] = {2, 3, 4}, x_shape[] = {1, 1, 4}, y_shape[] = {1, 1, 3},
                         chosen_shape[] = {1, 1};
    const struct foreign_tensor tensors[] = {
        {.dtype = TAPML_F32, .rank = 3, .shape = x_shape, .data = x},
        {.dtype = TAPML_I32, .rank = 2, .shape = chosen_shape, .data = chosen},
        {.dtype = TAPML_F32, .rank = 3, .shape = stack_shape, .data = stack},
        {.dtype = TAPML_F32, .rank = 3, .shape = y_shape, .data = y}};
    struct carved_case item = named("tapml.linear_experts");
    struct call_line line;

    MUST(foreign_call_create(schema_of(&tapml_linear_experts), &call));
    MUST(foreign_call_give(call, 0, FOREIGN_BEFORE, &tensors[0], NULL));
    MUST(foreign_call_give(call, 1, FOREIGN_BEFORE, &tensors[1], NULL));
    MUST(foreign_call_give(call, 2, FOREIGN_BEFORE, &tensors[2], NULL));
    MUST(foreign_call_give_i64(call, 4, 0));
    MUST(foreign_call_give(call, 5, FOREIGN_AFTER, &tensors[3], NULL));
    MUST(foreign_call_make(call, &item, &line));
    cr_assert_eq(item.arguments[2].kind, TAPML_P_TENSORS_IN);
    cr_assert_eq(item.arguments[2].shape[0], 2);
    cr_assert_eq(item.arguments[3].kind, TAPML_V_NONE);
    MUST(case_check_argument(&item.arguments[2]));
}

Test(foreign_call, an_opaque_call_keeps_its_tensors)
{
    static const float values[6] = {1, 2, 3, 4, 5, 6};
    struct carved_case item = named("opaque.sort");
    struct call_line line;

    MUST(foreign_call_create(NULL, &call));
    MUST(give(0, FOREIGN_BEFORE, 2, 3, values));
    MUST(foreign_call_give_i64(call, 1, 4));
    MUST(give(3, FOREIGN_AFTER, 3, 2, values));
    MUST(foreign_call_make(call, &item, &line));
    cr_assert_eq(item.argument_count, 4u);
    cr_assert_eq(item.arguments[1].i, 4);
    cr_assert_eq(item.arguments[2].kind, TAPML_V_NONE);
    cr_assert_eq(item.arguments[3].kind, TAPML_P_TENSOR_OUT);
    cr_assert_str_eq(item.shape_class, "0=f32[2, 3] 3=f32[3, 2]");
    cr_assert_eq(line.outputs[0].count, 6u);
}

Test(foreign_call, without_an_output_there_is_nothing_to_compare)
{
    static const float values[6] = {0};
    struct carved_case item = named("opaque.print");
    struct call_line line;

    MUST(foreign_call_create(NULL, &call));
    MUST(give(0, FOREIGN_BEFORE, 2, 3, values));
    cr_assert_eq(foreign_call_make(call, &item, &line), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "no output"));
}
