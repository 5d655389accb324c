// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_first.h"

#include "base/arena.h"
#include "verify/derive.h"
#include "verify/derive_layout.h"

#include <stdlib.h>
#include <string.h>

static const double F64_VALUE = 0.75; // Not 0, 1 or a whole number: each term of a formula counts.

// A case while it is made.
struct first {
    const struct compiled_op *schema;
    struct arena *arena;
    struct expression_scope scope;
    struct case_argument *arguments;
};

// -- Symbols -----------------------------------------------------------------------------------

// All that is no attribute: one axis of the same extent.
static void set_extents(struct first *first)
{
    const struct affine extent = affine_constant(DERIVE_FIRST_EXTENT);
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
    } else if (param->kind == TAPML_P_TENSORS_IN) {
        argument->kind = TAPML_V_NONE;
        return (param->effects & TAPML_E_OPTIONAL) != 0
                   ? TAPML_OK
                   : status_fail(TAPML_UNIMPLEMENTED, "parameter '%s' is a list of tensors",
                                 param->name);
    }
    return TAPML_OK;
}

// Shape, and zeros: what is derived from them has values.
static tapml_status fill_tensor(struct first *first, uint32_t index)
{
    const struct compiled_param *param = &first->schema->params[index];
    struct case_argument *argument = &first->arguments[index];
    const struct compiled_param *listed =
        param->dtype_like != COMPILED_NONE ? &first->schema->params[param->dtype_like] : param;
    if (listed->dtype_count == 0) {
        return status_fail(TAPML_UNIMPLEMENTED, "parameter '%s' is encoded", argument->name);
    }
    argument->dtype = listed->dtypes[0];
    TAPML_TRY(derive_layout_place(first->schema, &first->scope, index, argument));
    void *zeros = arena_new(first->arena, argument->content_bytes);
    if (!zeros) {
        return status_no_memory();
    }
    argument->before = argument->kind == TAPML_P_TENSOR_OUT ? NULL : zeros;
    argument->after = case_is_output(argument) ? zeros : NULL;
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
    struct first first = {.schema = schema, .arena = arena};
    struct carved_case made = {.instance = "first",
                               .op_name = schema->op->name,
                               .op_version = schema->op->version,
                               .phase = "prefill",
                               .shape_class = "",
                               .tokens = DERIVE_FIRST_EXTENT,
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
