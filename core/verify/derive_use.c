// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_use.h"

#include "tensor/quant_format.h"
#include "verify/derive_bounds.h"

#include <string.h>

int derive_use_is_rounded_state(const struct case_argument *argument)
{
    return argument->kind == TAPML_P_TENSOR_INOUT && case_is_state(argument) &&
           (argument->encoding || argument->dtype == TAPML_F16);
}

// Whether a call rounds its input: to the type of the state that it writes, or to quants.
static int rounds(const struct carved_case *item, const tapml_op *op)
{
    if (quant_format_is_op(op)) {
        return 1;
    }
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (derive_use_is_rounded_state(&item->arguments[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_of_class(const struct compiled_op *schema, const char *class_)
{
    return strcmp(schema->op->tolerance, class_) == 0;
}

// An exact op moves all values alike, and where elements do not meet their order says nothing.
int derive_use_has(const struct carved_case *item,
                   const struct compiled_op *schema,
                   enum derive_values values)
{
    double criticals[CRITICAL_VALUES_MAX];
    switch (values) {
    case DERIVE_VALUES_TIES:
        return rounds(item, schema->op);
    case DERIVE_VALUES_SPREAD:
        return !is_of_class(schema, "exact");
    case DERIVE_VALUES_CRITICAL:
        return derive_bounds_criticals(item, schema, criticals) > 0;
    case DERIVE_VALUES_SORTED:
    case DERIVE_VALUES_ALTERNATING:
        return is_of_class(schema, "reduction");
    case DERIVE_VALUES_POSITIVE:
    case DERIVE_VALUES_UNIFORM:
    case DERIVE_VALUES_ZERO:
    case DERIVE_VALUES_TINY:
    case DERIVE_VALUES_LARGE:
    case DERIVE_VALUES_EQUAL:
    case DERIVE_VALUES_OUTLIER:
        break;
    }
    return 1;
}
