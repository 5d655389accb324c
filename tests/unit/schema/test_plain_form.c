// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/fused.h"
#include "schema/plain_form.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct catalogue *catalogue;
static struct arena *arena;
static struct fused fused;

static void begin(void)
{
    arena = arena_create();
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    for (size_t i = 0; tapml_ops[i]; i++) {
        cr_assert_eq(catalogue_add(catalogue, tapml_ops[i], "the host", NULL), TAPML_OK);
    }
}

static void end(void)
{
    catalogue_destroy(catalogue);
    arena_destroy(arena);
}

TestSuite(plain_form, .init = begin, .fini = end);

static tapml_status read(const char *form, const struct plain_form **out_form)
{
    const struct compiled_op *schema = NULL;
    fused_init(&fused, form);
    cr_assert_eq(compiled_create(&fused.op, arena, &schema), TAPML_OK, "%s", status_message());
    return plain_form_create(schema, catalogue, arena, out_form);
}

Test(plain_form, calls_arguments_and_temporaries)
{
    const struct plain_form *form = NULL;
    cr_assert_eq(read(FUSED_FORM, &form), TAPML_OK, "%s", status_message());
    cr_assert_eq(form->call_count, 2);
    cr_assert_eq(form->value_count, FUSED_PARAMS + 1);
    cr_assert_str_eq(form->values[FUSED_PARAMS].name, "h");
    cr_assert_eq(form->values[FUSED_PARAMS].writer, 0);
    cr_assert_eq(form->values[FUSED_Y].writer, 1);
    cr_assert_eq(form->values[FUSED_X].writer, COMPILED_NONE);
    const struct plain_call *norm = &form->calls[0], *product = &form->calls[1];
    cr_assert_str_eq(norm->label, "norm");
    cr_assert_eq(norm->schema->op, &tapml_rms_norm);
    cr_assert_eq(norm->arguments[TAPML_RMS_NORM_EPS].param, FUSED_EPS);
    cr_assert_eq(norm->arguments[TAPML_RMS_NORM_OFFSET].number, 0);
    cr_assert_eq(norm->arguments[TAPML_RMS_NORM_Y].tensors[0].value, FUSED_PARAMS);
    cr_assert_eq(product->arguments[TAPML_LINEAR_X].tensors[0].value, FUSED_PARAMS);
    cr_assert_eq(product->arguments[TAPML_LINEAR_B].kind, PLAIN_ABSENT);
    cr_assert_eq(product->arguments[TAPML_LINEAR_TRANSPOSED].kind, PLAIN_I64);
    cr_assert_eq(strncmp(product->text, "q: tapml.linear@1(", 18), 0);
    cr_assert_eq(product->text[product->length - 1], ')');
}

Test(plain_form, views_and_lists)
{
    const struct plain_form *form = NULL;
    cr_assert_eq(read("tapml.copy(x = x{T, 2 : width, 1 : width / 2}, y = a); "
                      "tapml.linear_experts(x = x{T, 1, width}, indices = a, w = [w, weight], "
                      "transposed = 0, y = y)",
                      &form),
                 TAPML_OK, "%s", status_message());
    const struct plain_tensor *view = &form->calls[0].arguments[TAPML_COPY_X].tensors[0];
    cr_assert(view->shape && view->stride && view->offset);
    const struct plain_argument *list = &form->calls[1].arguments[TAPML_LINEAR_EXPERTS_W];
    cr_assert_eq(list->count, 2);
    cr_assert_eq(list->tensors[1].value, FUSED_WEIGHT);
    cr_assert_null(list->tensors[0].shape);
    cr_assert_null(form->calls[1].arguments[TAPML_LINEAR_EXPERTS_X].tensors[0].stride);
}

Test(plain_form, what_is_wrong_is_named)
{
    static const struct {
        const char *form, *piece;
        tapml_status status;
    } cases[] = {
        {"", "is not 'op(parameter = value, ...)'", TAPML_INVALID},
        {"tapml.linear", "is not 'op(parameter = value, ...)'", TAPML_INVALID},
        {"tapml.no_op(x = x, y = y)", "op 'tapml.no_op', version 1, is not known", TAPML_NOT_FOUND},
        {"tapml.silu@0(x = x, y = y)", "has no version", TAPML_INVALID},
        {"tapml.silu(x = x)", "parameter 'y' is left out", TAPML_INVALID},
        {"tapml.silu(x = x, z = x, y = y)", "'z' is no parameter", TAPML_INVALID},
        {"tapml.silu(x = x, x = x, y = y)", "given twice", TAPML_INVALID},
        {"tapml.silu(x, y = y)", "is not 'parameter = value'", TAPML_INVALID},
        {"tapml.silu(x = q, y = y)", "'q' has no value there", TAPML_INVALID},
        {"tapml.silu(x = eps, y = y)", "'eps' is no single tensor", TAPML_INVALID},
        {"tapml.silu(x = x, y = x)", "'x' is no output", TAPML_INVALID},
        {"tapml.silu(x = x, y = T)", "'T' is a symbol of the schema", TAPML_INVALID},
        {"tapml.silu(x = x, y = 2)", "is no name", TAPML_INVALID},
        {"tapml.silu(x = x, y = h)", "no call writes 'y'", TAPML_INVALID},
        {"tapml.silu(x = x{T, heads}, y = y)", "'heads' in 'T, heads' is no symbol", TAPML_INVALID},
        {"tapml.silu(x = x{T : 1 : 0 : 0}, y = y)", "more than shape", TAPML_INVALID},
        {"tapml.silu(x = x, y = y{T})", "a view is not written", TAPML_INVALID},
        {"tapml.linear(x = x, w = x, transposed = 0, y = y)", "'x' is not declared as a weight",
         TAPML_INVALID},
        {"tapml.scale(x = x, factor = many, y = y)", "neither a number nor an f64", TAPML_INVALID},
        {"tapml.linear_experts(w = w)", "is no list in brackets", TAPML_INVALID},
        {"a b: tapml.silu(x = x, y = y)", "label 'a b'", TAPML_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct plain_form *form = NULL;
        const tapml_status status = read(cases[i].form, &form);
        cr_expect_eq(status, cases[i].status, "%s: %d", cases[i].form, (int)status);
        cr_expect_not_null(strstr(status_message(), cases[i].piece), "%s: '%s'", cases[i].form,
                           status_message());
        cr_expect_not_null(strstr(status_message(), "the plain form of 'group.test.00000000'"));
    }
}

Test(plain_form, an_op_is_not_its_own_form)
{
    struct catalogue_op found;
    const struct plain_form *form = NULL;
    fused_init(&fused, "group.test.00000000(x = x, weight = weight, w = w, eps = eps, y = y)");
    cr_assert_eq(catalogue_add(catalogue, &fused.op, "a test", &found), TAPML_OK);
    cr_assert_eq(plain_form_create(found.schema, catalogue, arena, &form), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "has the op itself in it"));
}

static int has_norm(void *user, const tapml_op *op)
{
    return op == &tapml_rms_norm || (user && op == &tapml_linear);
}

Test(plain_form, an_op_is_there_where_its_parts_are)
{
    struct catalogue_op found;
    int all = 1;
    fused_init(&fused, FUSED_FORM);
    cr_assert_eq(catalogue_add(catalogue, &fused.op, "a test", &found), TAPML_OK);
    cr_assert(plain_form_is_there(catalogue, &fused.op, has_norm, &all));
    cr_assert(plain_form_is_there(catalogue, &tapml_rms_norm, has_norm, NULL));
    cr_assert_not(plain_form_is_there(catalogue, &fused.op, has_norm, NULL));
    cr_assert_not(plain_form_is_there(catalogue, &tapml_silu, has_norm, &all));
}
