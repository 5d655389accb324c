// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "schema/expression.h"

#include "base/assert.h"
#include "schema/expression_form.h"

#include <string.h>

// -- Questions ---------------------------------------------------------------------------------

uint32_t expression_find(const struct expression_names *names, const char *name)
{
    for (uint32_t i = 0; i < names->count; i++) {
        if (strcmp(names->names[i], name) == 0) {
            return i;
        }
    }
    return EXPRESSION_NONE;
}

int expression_is_range(const struct expression *expression)
{
    return expression->is_range;
}

int expression_has(const struct expression *expression, uint32_t symbol)
{
    return (expression->uses >> symbol & 1) != 0;
}

int expression_has_rows(const struct expression *expression, uint32_t symbol)
{
    for (uint32_t n = 0; n < expression->node_count; n++) {
        const struct items *items = &expression->nodes[n].items;

        for (uint32_t i = 0; i < items->count; i++) {
            if (items->sums[i].is_rows && items->sums[i].alone == symbol) {
                return 1;
            }
        }
    }
    return 0;
}

int expression_begins_with(const struct expression *expression, uint32_t symbol)
{
    const struct node *first = expression->nodes;

    return first != NULL && first->items.count > 0 && !first->items.sums[0].is_rows &&
           first->items.sums[0].alone == symbol;
}

int expression_has_axis(const struct expression *expression, uint32_t symbol)
{
    for (uint32_t n = 0; n < expression->node_count; n++) {
        const struct items *items = &expression->nodes[n].items;
        uint32_t i = 0;

        while (i < items->count && items->sums[i].alone != symbol) {
            i++;
        }
        if (expression->nodes[n].condition == EXPRESSION_NONE && i == items->count) {
            return 0;
        }
    }
    return 1;
}

// -- Values ------------------------------------------------------------------------------------

void expression_scope_init(struct expression_scope *scope, const struct expression_names *names)
{
    scope->names = names;
    for (uint32_t i = 0; i < names->count; i++) {
        scope->symbols[i].is_bound = 0;
    }
}

static void bind(struct expression_symbol *symbol, const struct affine *value)
{
    symbol->is_bound = 1;
    symbol->is_known = 1;
    symbol->axis_count = 0;
    symbol->value = *value;
}

void expression_define(struct expression_scope *scope, uint32_t symbol, const struct affine *value)
{
    ASSERT(symbol < scope->names->count && !scope->symbols[symbol].is_bound);
    bind(&scope->symbols[symbol], value);
}

static tapml_status
symbol_value(const struct expression_scope *scope, uint32_t index, struct affine *out_value)
{
    const struct expression_symbol *symbol = &scope->symbols[index];

    if (!symbol->is_bound) {
        return status_fail(TAPML_INVALID, "'%s' has no value", scope->names->names[index]);
    }
    if (!symbol->is_known) {
        return status_fail(TAPML_INVALID, "'%s', a product of axes, is not affine",
                           scope->names->names[index]);
    }
    *out_value = symbol->value;
    return TAPML_OK;
}

// Replaces the two values on top by what an operator makes of them.
static tapml_status
combine(enum expression_step_kind kind, struct affine *left, const struct affine *right)
{
    switch (kind) {
    case STEP_ADD:
        return affine_add(left, right, left);
    case STEP_SUBTRACT:
        return affine_subtract(left, right, left);
    case STEP_MULTIPLY:
        return affine_multiply(left, right, left);
    case STEP_DIVIDE:
        return affine_divide(left, right, left);
    case STEP_NUMBER:
    case STEP_SYMBOL:
        break;
    }
    ASSERT(0); // Not an operator.
    return TAPML_INTERNAL;
}

static tapml_status
sum_value(const struct expression_scope *scope, const struct sum *sum, struct affine *out_value)
{
    struct affine stack[EXPRESSION_FORM_STACK];
    uint32_t count = 0;

    if (sum->alone != EXPRESSION_NONE) {
        return symbol_value(scope, sum->alone, out_value);
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        const struct expression_step *step = &sum->steps[i];

        if (step->kind == STEP_NUMBER) {
            stack[count++] = affine_constant(step->number);
        } else if (step->kind == STEP_SYMBOL) {
            TAPML_TRY(symbol_value(scope, step->symbol, &stack[count]));
            count++;
        } else {
            count--;
            TAPML_TRY(combine(step->kind, &stack[count - 1], &stack[count]));
        }
    }
    *out_value = stack[0];
    return TAPML_OK;
}

// Follows the conditions at the front of a shape to the list of items that counts.
static tapml_status select_items(const struct expression_scope *scope,
                                 const struct expression *expression,
                                 const struct items **out_items)
{
    const struct node *node = expression->nodes;

    ASSERT(!expression->is_range);
    while (node->condition != EXPRESSION_NONE) {
        struct affine condition;

        TAPML_TRY(symbol_value(scope, node->condition, &condition));
        if (!affine_is_constant(&condition)) {
            return status_fail(TAPML_INVALID, "the condition '%s' must be a plain number",
                               scope->names->names[node->condition]);
        }
        node = &expression->nodes[condition.constant != 0 ? node->yes : node->no];
    }
    *out_items = &node->items;
    return TAPML_OK;
}

static tapml_status
differs(uint32_t axis, const struct affine *found, struct span item, const struct affine *expected)
{
    char found_text[80];
    char expected_text[80];

    affine_text(found, found_text, sizeof(found_text));
    affine_text(expected, expected_text, sizeof(expected_text));
    return status_fail(TAPML_INVALID, "axis %u is %s, '%.*s' is %s", axis, found_text,
                       expression_form_length(item), item.at, expected_text);
}

static tapml_status wrong_rank(struct span items, uint32_t rank)
{
    return status_fail(TAPML_INVALID, "rank is %u, expected [%.*s]", rank,
                       expression_form_length(items), items.at);
}

static tapml_status match_rows(struct expression_symbol *symbol,
                               struct span name,
                               const struct affine *axes,
                               uint32_t count)
{
    if (symbol->is_bound) {
        if (symbol->axis_count != count) {
            return status_fail(TAPML_INVALID, "%u leading axes, '*%.*s' has %u", count,
                               expression_form_length(name), name.at, symbol->axis_count);
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!affine_equal(&axes[i], &symbol->axes[i])) {
                return differs(i, &axes[i], name, &symbol->axes[i]);
            }
        }
        return TAPML_OK;
    }

    const struct affine one = affine_constant(1);

    bind(symbol, &one);
    symbol->axis_count = count;
    for (uint32_t i = 0; i < count; i++) {
        symbol->axes[i] = axes[i];
        symbol->is_known = symbol->is_known &&
                           affine_multiply(&symbol->value, &axes[i], &symbol->value) == TAPML_OK;
    }
    return TAPML_OK;
}

static tapml_status match_axis(struct expression_scope *scope,
                               const struct sum *item,
                               const struct affine *extent,
                               uint32_t axis)
{
    if (item->alone != EXPRESSION_NONE && !scope->symbols[item->alone].is_bound) {
        bind(&scope->symbols[item->alone], extent);
        return TAPML_OK;
    }

    struct affine expected;

    TAPML_TRY(sum_value(scope, item, &expected));
    return affine_equal(&expected, extent) ? TAPML_OK
                                           : differs(axis, extent, item->text, &expected);
}

tapml_status expression_match(struct expression_scope *scope,
                              const struct expression *expression,
                              const struct affine *shape,
                              uint32_t rank)
{
    const struct items *items = NULL;
    uint32_t axis = 0;

    TAPML_TRY(select_items(scope, expression, &items));
    for (uint32_t i = 0; i < items->count; i++) {
        const struct sum *item = &items->sums[i];
        const uint32_t behind = items->count - 1 - i;

        if (axis + behind + !item->is_rows > rank) {
            return wrong_rank(items->text, rank);
        }
        if (item->is_rows) {
            TAPML_TRY(match_rows(&scope->symbols[item->alone], item->text, shape + axis,
                                 rank - axis - behind));
            axis = rank - behind;
        } else {
            TAPML_TRY(match_axis(scope, item, &shape[axis], axis));
            axis++;
        }
    }
    return axis == rank ? TAPML_OK : wrong_rank(items->text, rank);
}

// Appends the axes of `*rows`.
static tapml_status shape_rows(const struct expression_scope *scope,
                               uint32_t index,
                               struct affine *shape,
                               uint32_t *rank)
{
    const struct expression_symbol *symbol = &scope->symbols[index];

    if (!symbol->is_bound) {
        return status_fail(TAPML_INVALID, "'*%s' has no value", scope->names->names[index]);
    }
    if (*rank + symbol->axis_count > TAPML_MAX_RANK) {
        return status_fail(TAPML_INVALID, "more than %u axes", TAPML_MAX_RANK);
    }
    memcpy(shape + *rank, symbol->axes, symbol->axis_count * sizeof(*shape));
    *rank += symbol->axis_count;
    return TAPML_OK;
}

tapml_status expression_shape(const struct expression_scope *scope,
                              const struct expression *expression,
                              struct affine *out_shape,
                              uint32_t *out_rank)
{
    const struct items *items = NULL;
    struct affine shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    TAPML_TRY(select_items(scope, expression, &items));
    for (uint32_t i = 0; i < items->count; i++) {
        const struct sum *item = &items->sums[i];

        if (item->is_rows) {
            TAPML_TRY(shape_rows(scope, item->alone, shape, &rank));
            continue;
        }
        if (rank == TAPML_MAX_RANK) {
            return status_fail(TAPML_INVALID, "more than %u axes in '%.*s'", TAPML_MAX_RANK,
                               expression_form_length(items->text), items->text.at);
        }
        TAPML_TRY(sum_value(scope, item, &shape[rank]));
        rank++;
    }
    memcpy(out_shape, shape, rank * sizeof(*shape));
    *out_rank = rank;
    return TAPML_OK;
}

void expression_axes(const struct expression_scope *scope,
                     const struct expression *expression,
                     uint32_t symbol,
                     uint32_t rank,
                     uint32_t *out_first,
                     uint32_t *out_count)
{
    const struct items *items = NULL;
    uint32_t axis = 0;

    *out_count = 0;
    if (select_items(scope, expression, &items) != TAPML_OK || rank + 1 < items->count) {
        return;
    }
    for (uint32_t i = 0; i < items->count; i++) {
        const uint32_t behind = items->count - 1 - i;
        const uint32_t width = !items->sums[i].is_rows ? 1
                               : rank > axis + behind  ? rank - axis - behind
                                                       : 0;

        if (items->sums[i].alone == symbol) {
            *out_first = axis;
            *out_count = width;
            return;
        }
        axis += width;
    }
}

static tapml_status
plain_value(const struct expression_scope *scope, const struct sum *sum, int64_t *out_value)
{
    struct affine value;

    TAPML_TRY(sum_value(scope, sum, &value));
    if (!affine_is_constant(&value)) {
        return status_fail(TAPML_INVALID, "'%.*s' is no plain number",
                           expression_form_length(sum->text), sum->text.at);
    }
    *out_value = value.constant;
    return TAPML_OK;
}

tapml_status expression_value(const struct expression_scope *scope,
                              const struct expression *expression,
                              int64_t *out_value)
{
    const struct items *items = NULL;

    TAPML_TRY(select_items(scope, expression, &items));
    return items->count == 1 && !items->sums[0].is_rows
               ? plain_value(scope, &items->sums[0], out_value)
               : status_fail(TAPML_INVALID, "one sum is expected, found '%.*s'",
                             expression_form_length(items->text), items->text.at);
}

tapml_status expression_range(const struct expression_scope *scope,
                              const struct expression *expression,
                              int64_t *out_begin,
                              int64_t *out_end)
{
    int64_t begin = 0;

    ASSERT(expression->is_range);
    TAPML_TRY(plain_value(scope, &expression->begin, &begin));
    TAPML_TRY(plain_value(scope, &expression->end, out_end));
    *out_begin = begin;
    return TAPML_OK;
}

tapml_status expression_range_affine(const struct expression_scope *scope,
                                     const struct expression *expression,
                                     struct affine *out_begin,
                                     struct affine *out_end)
{
    struct affine begin;

    ASSERT(expression->is_range);
    TAPML_TRY(sum_value(scope, &expression->begin, &begin));
    TAPML_TRY(sum_value(scope, &expression->end, out_end));
    *out_begin = begin;
    return TAPML_OK;
}
