// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/evaluator.h"

#include "template/conditions.h"
#include "template/filters.h"
#include "template/functions.h"
#include "template/methods.h"
#include "template/operators.h"

#include <string.h>

static tapml_status
evaluate(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    return evaluator_evaluate(evaluator, node, out);
}

static tapml_status evaluate_part(struct evaluator *evaluator,
                                  const struct syntax *node,
                                  size_t index,
                                  struct datum *out)
{
    return evaluate(evaluator, node->parts.items[index], out);
}

// -- Variables -----------------------------------------------------------------------------------

tapml_status evaluator_open_scope(struct evaluator *evaluator,
                                  const struct evaluator_scope *outer,
                                  struct evaluator_scope **out_scope)
{
    void *scope = NULL;
    TAPML_TRY(budget_array(evaluator->budget, 1, sizeof(struct evaluator_scope), &scope));
    *out_scope = scope;
    (*out_scope)->outer = outer;
    return TAPML_OK;
}

tapml_status evaluator_set(struct evaluator *evaluator, const char *name, const struct datum *value)
{
    struct evaluator_scope *scope = evaluator->scope;
    TAPML_TRY(budget_spend(evaluator->budget, 1 + scope->count / 4));
    for (size_t i = 0; i < scope->count; ++i) {
        if (strcmp(scope->variables[i].name, name) == 0) {
            scope->variables[i].value = *value;
            return TAPML_OK;
        }
    }
    TAPML_TRY(budget_grow(evaluator->budget, (void **)&scope->variables, scope->count,
                          sizeof(*scope->variables)));
    scope->variables[scope->count++] = (struct scope_variable){name, *value};
    return TAPML_OK;
}

static tapml_status make_function(struct evaluator *evaluator, const char *name, struct datum *out)
{
    void *function = NULL;
    TAPML_TRY(budget_array(evaluator->budget, 1, sizeof(struct evaluator_function), &function));
    ((struct evaluator_function *)function)->name = name;
    *out = (struct datum){.kind = DATUM_FUNCTION, .other = function};
    return TAPML_OK;
}

static tapml_status
evaluate_name(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    for (const struct evaluator_scope *scope = evaluator->scope; scope; scope = scope->outer) {
        TAPML_TRY(budget_spend(evaluator->budget, 1 + scope->count / 4));
        for (size_t i = 0; i < scope->count; ++i) {
            if (strcmp(scope->variables[i].name, node->name) == 0) {
                *out = scope->variables[i].value;
                return TAPML_OK;
            }
        }
    }
    *out = datum_undefined(node->name);
    const char *function = functions_find(node->name);
    return function ? make_function(evaluator, function, out) : TAPML_OK;
}

// -- Attributes ----------------------------------------------------------------------------------

static tapml_status loop_item(const struct evaluator_loop *loop, int offset, struct datum *out)
{
    const int64_t index = (int64_t)loop->index + offset;
    *out = index >= 0 && index < (int64_t)loop->items->count
               ? loop->items->items[index]
               : datum_undefined("there is no item beside that of the loop, which");
    return TAPML_OK;
}

static tapml_status
loop_attribute(const struct evaluator_loop *loop, const char *name, struct datum *out)
{
    const int64_t index = (int64_t)loop->index;
    const int64_t count = (int64_t)loop->items->count;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"index", index + 1},
        {"index0", index},
        {"revindex", count - index},
        {"revindex0", count - index - 1},
        {"length", count},
        {"depth", (int64_t)loop->depth + 1},
        {"depth0", (int64_t)loop->depth},
    };
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i) {
        if (strcmp(numbers[i].name, name) == 0) {
            *out = datum_integer(numbers[i].value);
            return TAPML_OK;
        }
    }
    if (strcmp(name, "first") == 0 || strcmp(name, "last") == 0) {
        *out = datum_bool(index == (name[0] == 'f' ? 0 : count - 1));
        return TAPML_OK;
    }
    if (strcmp(name, "previtem") == 0 || strcmp(name, "nextitem") == 0) {
        return loop_item(loop, name[0] == 'p' ? -1 : 1, out);
    }
    return status_fail(TAPML_INVALID, "the attribute 'loop.%.100s' is unsupported", name);
}

static tapml_status attribute_of(struct evaluator *evaluator,
                                 const struct datum *object,
                                 const char *name,
                                 struct datum *out)
{
    const struct datum key = datum_word(name);
    if (object->kind == DATUM_UNDEFINED) {
        return status_fail(TAPML_INVALID, "'%.*s' is undefined, and has no '%.100s'",
                           (int)(object->text.length < 100 ? object->text.length : 100),
                           object->text.bytes, name);
    }
    if (object->kind == DATUM_LOOP) {
        return loop_attribute(object->other, name, out);
    }
    if (methods_know(object, name)) {
        return make_function(evaluator, name, out);
    }
    return operators_item(evaluator->budget, object, &key, out);
}

static tapml_status
evaluate_attribute(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum object;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &object));
    return attribute_of(evaluator, &object, node->name, out);
}

// object['name']: a method too, where there is no such member.
static tapml_status
evaluate_item(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum object;
    struct datum key;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &object));
    TAPML_TRY(evaluate_part(evaluator, node, 1, &key));
    if (object.kind == DATUM_LOOP && key.kind == DATUM_TEXT) {
        TAPML_TRY(datum_copy_text(evaluator->budget, key.text.bytes, key.text.length, &key));
        return loop_attribute(object.other, key.text.bytes, out);
    }
    return operators_item(evaluator->budget, &object, &key, out);
}

static tapml_status
evaluate_slice(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum object;
    struct datum bounds[3] = {datum_none(), datum_none(), datum_none()};
    TAPML_TRY(evaluate_part(evaluator, node, 0, &object));
    for (size_t i = 0; i < 3; ++i) {
        if (node->parts.items[i + 1]) {
            TAPML_TRY(evaluate_part(evaluator, node, i + 1, &bounds[i]));
        }
    }
    return operators_slice(evaluator->budget, &object, bounds, out);
}

// -- Calls ---------------------------------------------------------------------------------------

// The arguments from part `first`, behind `input` unless it is NULL.
static tapml_status evaluate_arguments(struct evaluator *evaluator,
                                       const struct syntax *node,
                                       const struct datum *input,
                                       struct arguments *out)
{
    void *items = NULL;
    void *keywords = NULL;
    const size_t count = node->parts.count;
    *out = (struct arguments){.count = 0};
    TAPML_TRY(budget_array(evaluator->budget, count, sizeof(*out->items), &items));
    TAPML_TRY(budget_array(evaluator->budget, count, sizeof(*out->keywords), &keywords));
    out->items = items;
    out->keywords = keywords;
    if (input) {
        out->items[out->count++] = *input;
    }
    for (size_t i = 1; i < count; ++i) {
        const struct syntax *part = node->parts.items[i];
        if (part->kind == SYNTAX_KEYWORD) {
            struct arguments_keyword *keyword = &out->keywords[out->keyword_count++];
            keyword->name = part->name;
            TAPML_TRY(evaluate_part(evaluator, part, 0, &keyword->value));
        } else {
            TAPML_TRY(evaluate(evaluator, part, &out->items[out->count++]));
        }
    }
    return TAPML_OK;
}

static tapml_status call_function(struct evaluator *evaluator,
                                  const struct syntax *callee,
                                  const struct datum *value,
                                  const struct arguments *arguments,
                                  struct datum *out)
{
    const struct evaluator_function *function = value->other;
    if (value->kind != DATUM_FUNCTION) {
        return status_fail(TAPML_INVALID, "the function '%.100s' is unsupported",
                           callee->name ? callee->name : datum_kind_name(value));
    }
    return function->macro
               ? evaluator->call_macro(evaluator, function, arguments, out)
               : functions_call(evaluator->budget, function->name, arguments, evaluator->now, out);
}

static tapml_status
evaluate_call(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    const struct syntax *callee = node->parts.items[0];
    struct arguments arguments;
    struct datum object;
    struct datum value;
    if (callee->kind != SYNTAX_ATTRIBUTE) {
        TAPML_TRY(evaluate(evaluator, callee, &value));
        TAPML_TRY(evaluate_arguments(evaluator, node, NULL, &arguments));
        return call_function(evaluator, callee, &value, &arguments, out);
    }
    TAPML_TRY(evaluate_part(evaluator, callee, 0, &object));
    TAPML_TRY(attribute_of(evaluator, &object, callee->name, &value));
    TAPML_TRY(evaluate_arguments(evaluator, node, NULL, &arguments));
    const struct evaluator_function *function = value.other;
    if (value.kind == DATUM_FUNCTION && function->macro) {
        return evaluator->call_macro(evaluator, function, &arguments, out);
    }
    return methods_call(evaluator->budget, &object, callee->name, &arguments, out);
}

static tapml_status
evaluate_filter(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum input;
    struct arguments arguments;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &input));
    TAPML_TRY(evaluate_arguments(evaluator, node, &input, &arguments));
    return filters_apply(evaluator->budget, node->name, &arguments, out);
}

static tapml_status
evaluate_test(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum input;
    struct arguments arguments;
    int is_true = 0;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &input));
    TAPML_TRY(evaluate_arguments(evaluator, node, &input, &arguments));
    TAPML_TRY(conditions_apply(evaluator->budget, node->name, &arguments, &is_true));
    *out = datum_bool(is_true);
    return TAPML_OK;
}

// -- Operators -----------------------------------------------------------------------------------

static tapml_status
evaluate_unary(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum value;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &value));
    if (strcmp(node->name, "not") == 0) {
        *out = datum_bool(!datum_is_true(&value));
        return TAPML_OK;
    }
    return operators_sign(node->name, &value, out);
}

// `and` and `or` give one of their operands, and evaluate the right one only where it counts.
static tapml_status
evaluate_binary(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum left;
    struct datum right;
    const int is_and = strcmp(node->name, "and") == 0;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &left));
    if (is_and || strcmp(node->name, "or") == 0) {
        if (datum_is_true(&left) == is_and) {
            return evaluate_part(evaluator, node, 1, out);
        }
        *out = left;
        return TAPML_OK;
    }
    TAPML_TRY(evaluate_part(evaluator, node, 1, &right));
    return operators_apply(evaluator->budget, node->name, &left, &right, out);
}

static tapml_status
evaluate_compare(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum left;
    int is_true = 1;
    TAPML_TRY(evaluate_part(evaluator, node, 0, &left));
    for (size_t i = 1; i < node->parts.count && is_true; ++i) {
        const struct syntax *operand = node->parts.items[i];
        struct datum right;
        TAPML_TRY(evaluate_part(evaluator, operand, 0, &right));
        TAPML_TRY(operators_compare(evaluator->budget, operand->name, &left, &right, &is_true));
        left = right;
    }
    *out = datum_bool(is_true);
    return TAPML_OK;
}

static tapml_status
evaluate_condition(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum test;
    TAPML_TRY(evaluate_part(evaluator, node, 1, &test));
    if (datum_is_true(&test)) {
        return evaluate_part(evaluator, node, 0, out);
    }
    if (node->parts.items[2]) {
        return evaluate_part(evaluator, node, 2, out);
    }
    *out = datum_undefined("the value of an 'if' without 'else'");
    return TAPML_OK;
}

// -- Containers ----------------------------------------------------------------------------------

static tapml_status
evaluate_list(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    struct datum *items = NULL;
    const enum datum_kind kind = node->kind == SYNTAX_TUPLE ? DATUM_TUPLE : DATUM_LIST;
    TAPML_TRY(datum_make_list(evaluator->budget, kind, node->parts.count, &items, out));
    for (size_t i = 0; i < node->parts.count; ++i) {
        TAPML_TRY(evaluate_part(evaluator, node, i, &items[i]));
    }
    return TAPML_OK;
}

static tapml_status
evaluate_map(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    TAPML_TRY(datum_make_map(evaluator->budget, DATUM_MAP, out));
    for (size_t i = 0; i + 1 < node->parts.count; i += 2) {
        struct datum key;
        struct datum value;
        TAPML_TRY(evaluate_part(evaluator, node, i, &key));
        TAPML_TRY(evaluate_part(evaluator, node, i + 1, &value));
        TAPML_TRY(datum_set(evaluator->budget, out, &key, &value));
    }
    return TAPML_OK;
}

static tapml_status
evaluate_constant(struct evaluator *evaluator, const struct syntax *node, struct datum *out)
{
    (void)evaluator;
    *out = node->constant;
    return TAPML_OK;
}

typedef tapml_status (*evaluate_fn)(struct evaluator *evaluator,
                                    const struct syntax *node,
                                    struct datum *out);

static const evaluate_fn functions[] = {
    [SYNTAX_CONSTANT] = evaluate_constant,
    [SYNTAX_NAME] = evaluate_name,
    [SYNTAX_ATTRIBUTE] = evaluate_attribute,
    [SYNTAX_ITEM] = evaluate_item,
    [SYNTAX_SLICE] = evaluate_slice,
    [SYNTAX_CALL] = evaluate_call,
    [SYNTAX_FILTER] = evaluate_filter,
    [SYNTAX_TEST] = evaluate_test,
    [SYNTAX_UNARY] = evaluate_unary,
    [SYNTAX_BINARY] = evaluate_binary,
    [SYNTAX_COMPARE] = evaluate_compare,
    [SYNTAX_CONDITION] = evaluate_condition,
    [SYNTAX_LIST] = evaluate_list,
    [SYNTAX_TUPLE] = evaluate_list,
    [SYNTAX_MAP] = evaluate_map,
};

tapml_status evaluator_explain(struct evaluator *evaluator, unsigned line, tapml_status status)
{
    if (status == TAPML_OK || evaluator->is_explained) {
        return status;
    }
    evaluator->is_explained = 1;
    return status_explain(status, "%s:%u", evaluator->name, line);
}

tapml_status
evaluator_evaluate(struct evaluator *evaluator, const struct syntax *node, struct datum *out_value)
{
    struct datum value = datum_none();
    tapml_status status = budget_spend(evaluator->budget, 1);
    if (status == TAPML_OK) {
        status = budget_enter(evaluator->budget);
    }
    if (status == TAPML_OK) {
        status = functions[node->kind](evaluator, node, &value);
        budget_leave(evaluator->budget);
    }
    if (status == TAPML_OK) {
        *out_value = value;
    }
    return evaluator_explain(evaluator, node->line, status);
}
