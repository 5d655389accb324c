// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/kindred.h"

#include <stdio.h>
#include <string.h>

enum { WHEN_TEXT = 256 };

static int is_zero(const struct affine *value)
{
    return affine_is(value, 0);
}

static int shares_tensor(const struct graph *graph, uint32_t value, uint32_t other)
{
    const struct graph_value *a = &graph->values[value], *b = &graph->values[other];

    return a->dtype == b->dtype && a->encoding == b->encoding;
}

static int shares_argument(const struct graph *graph,
                           const struct graph_argument *argument,
                           const struct graph_argument *other)
{
    if (argument->kind != other->kind) {
        return 0;
    }
    switch (argument->kind) {
    case TAPML_P_TENSOR_IN:
    case TAPML_P_TENSOR_OUT:
    case TAPML_P_TENSOR_INOUT:
        return shares_tensor(graph, argument->value, other->value);
    case TAPML_P_I64:
        return is_zero(&argument->i) == is_zero(&other->i);
    case TAPML_P_F64:
        return (argument->d != 0) == (other->d != 0);
    default: // Kinds are numbers of the ABI, and no enum.
        return 1;
    }
}

int kindred_shares(const struct graph *graph, uint32_t op, uint32_t other)
{
    const struct graph_op *a = &graph->ops[op], *b = &graph->ops[other];

    if (a->op != b->op) {
        return 0;
    }
    for (uint32_t i = 0; i < a->op->n_params; i++) {
        if (!shares_argument(graph, &a->arguments[i], &b->arguments[i])) {
            return 0;
        }
    }
    return 1;
}

static int can_be(const struct affine *value, int64_t wanted)
{
    return !affine_is_constant(value) || affine_is(value, wanted);
}

// Whether an axis of a shape's text, "rows" of "*rows, width", can have the extent. 1 too if the
// text does not have the symbol alone.
static int axis_can_be(const struct graph_value *value,
                       const char *text,
                       const char *symbol,
                       int64_t wanted,
                       int *out_has)
{
    const size_t length = strlen(symbol);
    uint32_t axes = 1, axis = 0;

    *out_has = 0;
    for (const char *at = text; *at != '\0'; at++) {
        axes += *at == ',';
    }
    for (const char *at = text; axis < axes; axis++) {
        at += strspn(at, " ");
        const int is_leading = *at == '*';
        const char *word = at + is_leading;
        const size_t end = strcspn(at, ",");

        if (strncmp(word, symbol, length) == 0 &&
            strspn(word + length, " ") + length + (size_t)is_leading == end) {
            const uint32_t first = is_leading ? 0 : value->rank - (axes - axis);
            const uint32_t count = is_leading ? value->rank - (axes - 1) : 1;
            int can = 0;

            for (uint32_t i = first; i < first + count && i < value->rank; i++) {
                can |= can_be(&value->shape[i], wanted);
            }
            *out_has = 1;
            return can;
        }
        at += end + (at[end] == ',');
    }
    return 1;
}

static int symbol_can_be(const struct graph *graph, uint32_t op, const char *symbol, int64_t wanted)
{
    const struct graph_op *item = &graph->ops[op];

    for (uint32_t i = 0; i < item->op->n_params; i++) {
        const tapml_param *param = item->op->params[i];
        const struct graph_argument *argument = &item->arguments[i];
        int has = 0;

        if (argument->kind == TAPML_P_I64 && strcmp(param->name, symbol) == 0) {
            return can_be(&argument->i, wanted);
        }
        if (argument->kind != TAPML_P_TENSOR_IN && argument->kind != TAPML_P_TENSOR_OUT) {
            continue; // A state has rows that no call may have.
        }
        const int can =
            axis_can_be(&graph->values[argument->value], param->shape, symbol, wanted, &has);

        if (has) {
            return can;
        }
    }
    return 1;
}

int kindred_reaches(const struct graph *graph, uint32_t op, const struct derive_recipe *recipe)
{
    if (recipe == NULL || recipe->source != DERIVE_SHAPE) {
        return 1;
    }
    return symbol_can_be(graph, op, recipe->symbol, recipe->value) &&
           (recipe->other[0] == '\0' ||
            symbol_can_be(graph, op, recipe->other, recipe->other_value));
}

static tapml_status
blame_kindred_of(struct trial *trial, uint32_t carrier, const struct verdict *verdict)
{
    char when[WHEN_TEXT];

    (void)snprintf(when, sizeof(when),
                   "its kernel fails in a derived %s case of %.120s, %.60s: ", verdict->source,
                   trial->graph->ops[carrier].instance, verdict->label);
    for (uint32_t i = 0; i < trial->graph->op_count; i++) {
        struct trial_mark *mark = &trial->marks[i];

        if (i != carrier && !mark->is_blamed && kindred_shares(trial->graph, carrier, i) &&
            kindred_reaches(trial->graph, i, verdict->recipe)) {
            mark->is_alone = 1;
            mark->tried = mark->failed = 1;
            TAPML_TRY(trial_blame(trial, i, TRIAL_DERIVED, verdict, when));
        }
    }
    return TAPML_OK;
}

tapml_status kindred_blame(struct trial *trial, const struct verdict_list *verdicts)
{
    for (size_t i = 0; i < verdicts->derived_count; i++) {
        const struct verdict *verdict = &verdicts->derived[i];
        const uint32_t carrier = verdict_count_failed(verdict, 1) > 0
                                     ? graph_find_op(trial->graph, verdict->instance)
                                     : GRAPH_NONE;

        if (carrier != GRAPH_NONE && trial->marks[carrier].is_blamed &&
            trial->marks[carrier].evidence == TRIAL_DERIVED) {
            TAPML_TRY(blame_kindred_of(trial, carrier, verdict));
        }
    }
    return TAPML_OK;
}
