// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_first.h"

#include "base/arena.h"
#include "base/random.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"
#include "verify/derive.h"
#include "verify/derive_layout.h"

#include <stdlib.h>
#include <string.h>

static const double F64_VALUE = 0.75; // Not 0, 1 or a whole number: each term of a formula counts.

// Of a tensor that is always encoded: of the encodings of devices the one that loses least.
static const char ENCODING[] = TAPML_ENCODING_Q8;

// A case while it is made.
struct first {
    const struct compiled_op *schema;
    int64_t extent;
    struct arena *arena;
    struct expression_scope scope;
    struct case_argument *arguments;
};

// -- Symbols -----------------------------------------------------------------------------------

// All that is no attribute: one axis of the same extent.
static void set_extents(struct first *first)
{
    const struct affine extent = affine_constant(first->extent);
    for (uint32_t i = 0; i < first->schema->names.count; i++) {
        struct expression_symbol *symbol = &first->scope.symbols[i];
        if (!symbol->is_bound) {
            *symbol = (struct expression_symbol){
                .is_bound = 1, .is_known = 1, .value = extent, .axes = {extent}};
            symbol->axis_count = derive_layout_is_leading(first->schema, i) ? 1 : 0;
        }
    }
}

// A place in a state, a switch, a number of something.
static int64_t choose_i64(const struct compiled_op *schema, const struct compiled_param *param)
{
    if (param->choice_count > 0) {
        return (int64_t)param->choices[0];
    }
    return derive_layout_is_place(schema, param->symbol) ? 0 : 1;
}

// Within its range, which may depend on extents.
static tapml_status fit_i64(struct first *first, uint32_t index)
{
    const struct compiled_param *param = &first->schema->params[index];
    struct case_argument *argument = &first->arguments[index];
    int64_t least = 0;
    int64_t largest = 0;
    if (!param->domain || param->choice_count > 0) {
        return TAPML_OK;
    }
    TAPML_TRY(expression_range(&first->scope, param->domain, &least, &largest));
    argument->i = argument->i < least ? least : argument->i > largest ? largest : argument->i;
    first->scope.symbols[param->symbol].value = affine_constant(argument->i);
    return TAPML_OK;
}

// "LOW .. HIGH" of numbers; anything else says nothing.
static double choose_f64(const tapml_param *param, const struct compiled_param *compiled)
{
    const char *dots = param->domain ? strstr(param->domain, "..") : NULL;
    char *end = NULL;
    if (compiled->choice_count > 0) {
        return compiled->choices[0];
    }
    if (!dots) {
        return F64_VALUE;
    }
    const double least = strtod(param->domain, &end);
    const int has_least = end != param->domain;
    const double largest = strtod(dots + 2, &end);
    if (!has_least || end == dots + 2) {
        return F64_VALUE;
    }
    return F64_VALUE < least || F64_VALUE > largest ? (least + largest) / 2 : F64_VALUE;
}

// -- Arguments ---------------------------------------------------------------------------------

static tapml_status name_argument(struct first *first, uint32_t index)
{
    const tapml_param *param = first->schema->op->params[index];
    const struct compiled_param *compiled = &first->schema->params[index];
    struct case_argument *argument = &first->arguments[index];
    *argument = (struct case_argument){
        .name = param->name, .kind = param->kind, .effects = param->effects, .origin = ""};
    if (param->kind == TAPML_P_I64) {
        const struct affine value = affine_constant(choose_i64(first->schema, compiled));
        argument->i = value.constant;
        expression_define(&first->scope, compiled->symbol, &value);
    } else if (param->kind == TAPML_P_F64) {
        argument->d = choose_f64(param, compiled);
    }
    return TAPML_OK;
}

// The parameter whose types a tensor has.
static const struct compiled_param *find_listed(const struct compiled_op *schema, uint32_t index)
{
    const struct compiled_param *param = &schema->params[index];
    return param->dtype_like != COMPILED_NONE ? &schema->params[param->dtype_like] : param;
}

static int is_encoded(const struct compiled_op *schema, uint32_t index)
{
    const struct compiled_param *listed = find_listed(schema, index);
    return listed->takes_encoded && listed->dtype_count == 0;
}

// A block of the encoding, where a tensor has to be encoded: rows are whole blocks.
static int64_t choose_extent(const struct compiled_op *schema)
{
    for (uint32_t i = 0; i < schema->op->n_params; i++) {
        if (is_encoded(schema, i)) {
            return encoding_find(ENCODING)->block_values;
        }
    }
    return DERIVE_FIRST_EXTENT;
}

// Type and shape.
static tapml_status place_tensor(struct first *first, uint32_t index)
{
    const struct compiled_param *listed = find_listed(first->schema, index);
    struct case_argument *argument = &first->arguments[index];
    if (is_encoded(first->schema, index)) {
        argument->encoding = encoding_find(ENCODING);
        argument->dtype = TAPML_U8;
    } else {
        argument->dtype = listed->dtypes[0];
    }
    return derive_layout_place(first->schema, &first->scope, index, argument);
}

// Zeros, in whose place a derived case has values.
static tapml_status fill_tensor(struct first *first, uint32_t index)
{
    struct case_argument *argument = &first->arguments[index];
    TAPML_TRY(place_tensor(first, index));
    void *zeros = arena_new(first->arena, argument->content_bytes);
    if (!zeros) {
        return status_no_memory();
    }
    argument->before = argument->kind == TAPML_P_TENSOR_OUT ? NULL : zeros;
    argument->after = case_is_output(argument) ? zeros : NULL;
    return TAPML_OK;
}

// Values of `count` elements of a list, as its tensors have them.
static tapml_status
fill_values(struct first *first, uint32_t index, uint64_t count, void **out_contents)
{
    const struct case_argument *argument = &first->arguments[index];
    struct encoding_loss loss = {0};
    struct random random;
    double *values = arena_array(first->arena, count, sizeof(*values));
    *out_contents = arena_new(first->arena, argument->content_bytes * DERIVE_FIRST_LIST);
    if (!values || !*out_contents) {
        return status_no_memory();
    }
    random_init(&random, index);
    for (uint64_t i = 0; i < count; i++) {
        values[i] = random_between(&random, -1, 1);
    }
    if (!argument->encoding) {
        convert_from_f64(argument->dtype, values, count, *out_contents);
        return TAPML_OK;
    }
    return encoding_encode(argument->encoding, TAPML_F64, values,
                           count / argument->encoding->block_values, *out_contents, &loss);
}

// Tensors of one shape one behind the other, as a case holds a list. Derived cases keep them.
static tapml_status fill_list(struct first *first, uint32_t index)
{
    struct case_argument *argument = &first->arguments[index];
    void *contents = NULL;
    int64_t count = 0;
    argument->kind = TAPML_P_TENSOR_IN;
    TAPML_TRY(place_tensor(first, index));
    if (argument->rank == TAPML_MAX_RANK) {
        return status_fail(TAPML_UNIMPLEMENTED, "parameter '%s' is a list of tensors of %u axes",
                           argument->name, argument->rank);
    }
    TAPML_TRY(shape_count(argument->shape, argument->rank, &count));
    TAPML_TRY(fill_values(first, index, (uint64_t)count * DERIVE_FIRST_LIST, &contents));
    argument->kind = TAPML_P_TENSORS_IN;
    memmove(argument->shape + 1, argument->shape, argument->rank * sizeof(*argument->shape));
    argument->shape[0] = DERIVE_FIRST_LIST;
    argument->rank++;
    shape_dense_strides(argument->shape, argument->rank, argument->stride);
    argument->content_bytes *= DERIVE_FIRST_LIST;
    argument->base_bytes = argument->content_bytes;
    argument->before = contents;
    return TAPML_OK;
}

static tapml_status fill_arguments(struct first *first)
{
    const uint32_t count = first->schema->op->n_params;
    for (uint32_t i = 0; i < count; i++) {
        TAPML_TRY(name_argument(first, i));
    }
    set_extents(first);
    for (uint32_t i = 0; i < count; i++) {
        if (first->arguments[i].kind == TAPML_P_I64) {
            TAPML_TRY(fit_i64(first, i));
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (derive_layout_has(first->arguments[i].kind)) {
            TAPML_TRY(fill_tensor(first, i));
        } else if (first->arguments[i].kind == TAPML_P_TENSORS_IN) {
            TAPML_TRY(fill_list(first, i));
        }
    }
    return TAPML_OK;
}

tapml_status derive_first_make(const struct compiled_op *schema,
                               struct arena *arena,
                               struct carved_case *out_case)
{
    const struct derive_recipe recipe = {
        .source = DERIVE_UNIFORM, .values = DERIVE_VALUES_UNIFORM, .label = "first"};
    struct first first = {.schema = schema, .extent = choose_extent(schema), .arena = arena};
    struct carved_case made = {.instance = "first",
                               .op_name = schema->op->name,
                               .op_version = schema->op->version,
                               .phase = "prefill",
                               .shape_class = "",
                               .tokens = first.extent,
                               .argument_count = schema->op->n_params};
    first.arguments = arena_array(arena, (size_t)made.argument_count + 1, sizeof(*made.arguments));
    if (!first.arguments) {
        return status_no_memory();
    }
    made.arguments = first.arguments;
    expression_scope_init(&first.scope, &schema->names);
    TAPML_TRY(fill_arguments(&first));
    TAPML_TRY(derive_make(&made, schema, &recipe, arena, &made));
    made.is_derived = 0;
    *out_case = made;
    return TAPML_OK;
}
