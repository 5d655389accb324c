// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/op_integers.h"

#include <string.h>

// Whether a parameter may be integers, by itself or as another one that it has the type of.
static int may_be_integer(const tapml_op *op, const tapml_param *param)
{
    const char *dtype = param->dtype != NULL ? param->dtype : "";

    for (uint32_t i = 0; i < op->n_params; i++) {
        if (op->params[i] != param && strcmp(op->params[i]->name, dtype) == 0) {
            dtype = op->params[i]->dtype != NULL ? op->params[i]->dtype : "";
        }
    }
    return strstr(dtype, "i32") != NULL || strstr(dtype, "i64") != NULL;
}

static int is_input(const tapml_param *param)
{
    const uint32_t kind = param->kind;

    return (param->effects & TAPML_E_WEIGHT) == 0 &&
           (kind == TAPML_P_TENSOR_IN || kind == TAPML_P_TENSORS_IN ||
            kind == TAPML_P_TENSOR_INOUT);
}

static int is_output(const tapml_param *param)
{
    return param->kind == TAPML_P_TENSOR_OUT || param->kind == TAPML_P_TENSOR_INOUT;
}

int op_integers_passes_on(const tapml_op *op)
{
    int takes = 0, gives = 0;

    for (uint32_t i = 0; i < op->n_params; i++) {
        const int may = may_be_integer(op, op->params[i]);

        takes |= may && is_input(op->params[i]);
        gives |= may && is_output(op->params[i]);
    }
    return takes && gives;
}

int op_integers_tells(const tapml_op *op)
{
    int takes = 0, takes_others = 0;

    for (uint32_t i = 0; i < op->n_params; i++) {
        if (is_input(op->params[i])) {
            takes |= may_be_integer(op, op->params[i]);
            takes_others |= !may_be_integer(op, op->params[i]);
        }
    }
    return op_integers_passes_on(op) || (takes && !takes_others);
}
