// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/schemas.h"
#include "verify/derive_layout.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct expression_scope scope;

// Every symbol of the schema has this value.
static const struct compiled_op *begin(const tapml_op *op, int64_t value)
{
    const struct compiled_op *schema = schema_of(op);
    expression_scope_init(&scope, &schema->names);
    for (uint32_t i = 0; i < schema->names.count; i++) {
        const struct affine extent = affine_constant(value);
        scope.symbols[i] =
            (struct expression_symbol){.is_bound = 1,
                                       .is_known = 1,
                                       .axis_count = derive_layout_is_leading(schema, i) ? 1 : 0,
                                       .value = extent,
                                       .axes = {extent}};
    }
    return schema;
}

static struct case_argument argument_of(const tapml_op *op, uint32_t index)
{
    return (struct case_argument){.name = op->params[index]->name,
                                  .kind = op->params[index]->kind,
                                  .effects = op->params[index]->effects,
                                  .dtype = TAPML_F32,
                                  .origin = ""};
}

Test(derive_layout, a_tensor_is_dense)
{
    const struct compiled_op *schema = begin(&tapml_rms_norm, 6);
    struct case_argument x = argument_of(&tapml_rms_norm, TAPML_RMS_NORM_X);
    cr_assert_eq(derive_layout_place(schema, &scope, TAPML_RMS_NORM_X, &x), TAPML_OK, "%s",
                 status_message());
    cr_expect_eq(x.rank, 2u);
    cr_expect_eq(x.stride[0], 6);
    cr_expect_eq(x.stride[1], 1);
    cr_expect_eq(x.base_bytes, 6 * 6 * sizeof(float));
    cr_expect_eq(x.content_bytes, x.base_bytes);
}

Test(derive_layout, what_is_empty_or_too_large_is_refused)
{
    const struct compiled_op *schema = begin(&tapml_rms_norm, 0);
    struct case_argument x = argument_of(&tapml_rms_norm, TAPML_RMS_NORM_X);
    cr_expect_eq(derive_layout_place(schema, &scope, TAPML_RMS_NORM_X, &x), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "an axis of 'x' would be empty"));
    schema = begin(&tapml_rms_norm, 1 << 14);
    cr_expect_eq(derive_layout_place(schema, &scope, TAPML_RMS_NORM_X, &x), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "'x' would be too large"));
}

Test(derive_layout, a_state_has_its_rows_in_pages)
{
    const struct compiled_op *schema = begin(&tapml_state_append, 4);
    const uint32_t capacity = expression_find(&schema->names, "C");
    const uint32_t position = expression_find(&schema->names, "position");
    uint32_t index = 0;
    while ((tapml_state_append.params[index]->effects & TAPML_E_STATE_WRITE) == 0) {
        index++;
    }
    struct case_argument state = argument_of(&tapml_state_append, index);
    int64_t first = 0;
    int64_t last = 0;
    cr_assert_neq(capacity, EXPRESSION_NONE);
    cr_assert_neq(position, EXPRESSION_NONE);
    cr_expect(derive_layout_is_place(schema, position));
    cr_expect(derive_layout_is_attribute(schema, position));
    cr_expect_not(derive_layout_is_place(schema, capacity));
    scope.symbols[capacity].value = affine_constant(40);
    scope.symbols[position].value = affine_constant(15);
    cr_assert_eq(derive_layout_region(schema, &scope, index, &first, &last), TAPML_OK);
    cr_expect_eq(first, 15);
    cr_expect_eq(last, 19);
    cr_assert_eq(derive_layout_place(schema, &scope, index, &state), TAPML_OK, "%s",
                 status_message());
    cr_expect_eq(state.kept_begin, 0);
    cr_expect_eq(state.kept_end, 32);
    scope.symbols[position].value = affine_constant(39);
    cr_expect_eq(derive_layout_place(schema, &scope, index, &state), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "has no such rows"), "%s", status_message());
}
