// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/half.h"

#include "harness/formulas.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    for (; text != NULL && *text != '\0'; text += strspn(text, " ")) {
        const size_t here = strcspn(text, " ");

        if (here == length && strncmp(text, word, length) == 0) {
            return true;
        }
        text += here;
    }
    return false;
}

// Whether an activation may be f16: its schema lists it, or names a parameter whose schema does.
static bool can_be_half(const tapml_op *op, const tapml_param *param)
{
    if ((param->effects & TAPML_E_WEIGHT) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (param->dtype != NULL && strcmp(op->params[i]->name, param->dtype) == 0) {
            return op->params[i] != param && can_be_half(op, op->params[i]);
        }
    }
    return has_word(param->dtype, "f16");
}

static size_t count_of(const struct operand_spec *spec)
{
    size_t count = 1;

    for (uint32_t axis = 0; axis < spec->rank; axis++) {
        count *= (size_t)spec->shape[axis];
    }
    return count;
}

static double *rounded(const struct operand_spec *spec)
{
    const size_t count = count_of(spec);
    double *values = calloc(count + 1, sizeof(*values));

    cr_assert_not_null(values);
    for (size_t i = 0; i < count; i++) {
        values[i] = formulas_rounded(spec->values[i], TAPML_F16);
    }
    return values;
}

bool half_create(const struct op_fixture *fixture, struct half *half)
{
    bool is_any = false;

    *half = (struct half){.f16 = *fixture, .f32 = *fixture};
    for (uint32_t i = 0; i < fixture->op->n_params; i++) {
        const struct operand_spec *spec = &fixture->arguments[i].tensor;

        if (spec->rank == 0 || spec->dtype != TAPML_F32 ||
            !can_be_half(fixture->op, fixture->op->params[i])) {
            continue;
        }
        is_any = true;
        half->f16.arguments[i].tensor.dtype = TAPML_F16;
        if (spec->values != NULL) {
            half->values[i] = rounded(spec);
            half->f16.arguments[i].tensor.values = half->values[i];
            half->f32.arguments[i].tensor.values = half->values[i];
        }
    }
    return is_any;
}

void half_release(struct half *half)
{
    for (size_t i = 0; i < OP_FIXTURE_PARAMS_MAX; i++) {
        free(half->values[i]);
    }
}

bool half_rounds(const struct half *half)
{
    return half->f16.arguments[half->f16.output].tensor.dtype == TAPML_F16;
}
