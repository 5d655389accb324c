// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Arguments of ops, for the files that make them.
#pragma once

#include <tapml/model/context.h>

// No value is an optional parameter left out.
static inline tapml_value tensor(tapml_graph_value value)
{
    return (tapml_value){.kind = value != 0 ? TAPML_V_ID : TAPML_V_NONE, .u.id = value};
}

static inline tapml_value whole(int64_t number)
{
    return (tapml_value){.kind = TAPML_P_I64, .u.i = number};
}

static inline tapml_value symbol(int64_t code)
{
    return (tapml_value){.kind = TAPML_V_SYM, .u.i = code};
}

static inline tapml_value real(double number)
{
    return (tapml_value){.kind = TAPML_P_F64, .u.d = number};
}

static inline tapml_value result(void)
{
    return (tapml_value){.kind = TAPML_P_TENSOR_OUT};
}

// Adds version 1 of an op whose output, if it has one, is its last parameter.
static inline tapml_graph_value add_op(struct model_context *context,
                                       const char *name,
                                       const char *op,
                                       tapml_value *args,
                                       uint32_t count)
{
    if (context->status != TAPML_OK) {
        return 0;
    }
    model_note(context,
               context->graph_table->op(context->graph, context->call, name, op, 1, args, count));
    return context->status == TAPML_OK && args[count - 1].kind == TAPML_P_TENSOR_OUT
               ? args[count - 1].u.id
               : 0;
}

// As many values, or none, for a parameter that is a list.
static inline tapml_value list(const tapml_graph_value *values, uint32_t count)
{
    return values != NULL ? (tapml_value){.kind = TAPML_V_IDS, .count = count, .u.p = values}
                          : (tapml_value){.kind = TAPML_V_NONE};
}

#define COUNT(array_) (sizeof(array_) / sizeof((array_)[0]))
