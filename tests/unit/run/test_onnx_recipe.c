// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/onnx_recipe.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <ctype.h>
#include <string.h>

static int has_param(const tapml_op *op, const char *name, size_t length)
{
    for (uint32_t i = 0; i < op->n_params; i++) {
        if (strlen(op->params[i]->name) == length &&
            strncmp(op->params[i]->name, name, length) == 0) {
            return 1;
        }
    }
    return 0;
}

// What follows `sign` up to a stop is a parameter.
static void check_names(const tapml_op *op, const char *text, const char *signs, const char *stops)
{
    for (const char *at = strpbrk(text, signs); at != NULL; at = strpbrk(at + 1, signs)) {
        const size_t length = strcspn(at + 1, stops);

        cr_expect(has_param(op, at + 1, length), "%s: '%.*s'", op->name, (int)length, at + 1);
    }
}

Test(onnx_recipe, conditions_and_numbers_name_parameters)
{
    size_t count = 0;

    for (size_t i = 0; tapml_ops[i] != NULL; i++) {
        const struct onnx_recipe *recipe = onnx_recipe_find(tapml_ops[i]->name);

        if (recipe != NULL) {
            check_names(tapml_ops[i], recipe->text, "?!", ":");
            check_names(tapml_ops[i], recipe->text, "$", ",) ");
            cr_expect_not_null(strstr(recipe->text, " = "), "%s", recipe->op);
            count++;
        }
    }
    cr_expect_eq(count, 27u, "%zu", count);
    cr_expect_null(onnx_recipe_find("tapml.nothing"));
}
