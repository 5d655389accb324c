// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/expanded.h"
#include "harness/fused.h"
#include "harness/plugin_fixture.h"
#include "schema/infer.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { TOKENS = 2, WIDTH = 4, OUT = 3 };

static const float x[TOKENS * WIDTH] = {1, -2, 3, 0.5F, 0.25F, 4, -1, 2};
static const float weight[WIDTH] = {1, 0.5F, 2, -1};
static const float w[OUT * WIDTH] = {1, 2, 3, 4, -1, 0.5F, 0, 2, 0.125F, 1, -3, 1};
static const int64_t shapes[FUSED_PARAMS][2] = {
    {TOKENS, WIDTH}, {WIDTH}, {OUT, WIDTH}, {0}, {TOKENS, OUT}};

static struct plugin_fixture plugins;
static struct backend *inner;
static struct expanded *expanded;
static struct fused fused;
static tapml_tensor tensors[FUSED_PARAMS];
static tapml_value args[FUSED_PARAMS];

static const struct compiled_op *add(const char *form)
{
    struct catalogue_op found;
    fused_init(&fused, form);
    MUST(catalogue_add(registry_catalogue(plugins.registry), &fused.op, "a test", &found));
    return found.schema;
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    inner = plugin_fixture_backend(&plugins, "reference:f64");
    MUST(expanded_create(inner, registry_catalogue(plugins.registry), &expanded));
}

static void end(void)
{
    expanded_destroy(expanded);
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

TestSuite(expanded, .init = begin, .fini = end, .timeout = 60);

static tapml_object *buffer_of(const float *values, size_t count)
{
    tapml_object *buffer = NULL;
    MUST(backend_buffer_new(inner, count * sizeof(*values), &buffer));
    if (values) {
        MUST(backend_write(inner, buffer, 0, values, count * sizeof(*values)));
    }
    return buffer;
}

static void place(uint32_t param, const float *values, size_t count)
{
    tensors[param] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                    .dtype = TAPML_F32,
                                    .rank = param == FUSED_WEIGHT ? 1 : 2,
                                    .shape = shapes[param],
                                    .buffer = buffer_of(values, count)};
    args[param] = (tapml_value){.kind = fused.params[param].kind, .u.p = &tensors[param]};
}

static void place_all(void)
{
    place(FUSED_X, x, TOKENS * WIDTH);
    place(FUSED_WEIGHT, weight, WIDTH);
    place(FUSED_W, w, OUT * WIDTH);
    place(FUSED_Y, NULL, TOKENS * OUT);
    args[FUSED_EPS] = (tapml_value){.kind = TAPML_P_F64, .u.d = 1e-6};
}

static void free_all(void)
{
    MUST(backend_wait(inner));
    for (uint32_t p = 0; p < FUSED_PARAMS; p++) {
        backend_buffer_free(inner, p == FUSED_EPS ? NULL : tensors[p].buffer);
    }
}

static void call(const struct compiled_op *schema, float y[TOKENS * OUT])
{
    struct inferred inferred;
    MUST(infer_call(schema, args, &inferred));
    MUST(backend_call(expanded_backend(expanded),
                      &(struct backend_call){
                          .op = schema->op, .args = args, .inferred = &inferred, .instance = "i"}));
    MUST(backend_read(inner, tensors[FUSED_Y].buffer, 0, y, TOKENS * OUT * sizeof(*y)));
    MUST(backend_wait(inner));
}

// The same by two calls of the test's own.
static void compute(float y[TOKENS * OUT])
{
    struct inferred inferred;
    tapml_tensor h = tensors[FUSED_X];
    h.buffer = buffer_of(NULL, TOKENS * WIDTH);
    const tapml_value norm[] = {args[FUSED_X],
                                args[FUSED_WEIGHT],
                                args[FUSED_EPS],
                                {.kind = TAPML_P_F64},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &h}};
    const tapml_value product[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &h},
                                   args[FUSED_W],
                                   {.kind = TAPML_V_NONE},
                                   {.kind = TAPML_P_I64},
                                   args[FUSED_Y]};
    const struct {
        const tapml_op *op;
        const tapml_value *args;
    } calls[] = {{&tapml_rms_norm, norm}, {&tapml_linear, product}};
    for (size_t i = 0; i < 2; i++) {
        const struct compiled_op *schema =
            catalogue_find(registry_catalogue(plugins.registry), calls[i].op->name, 1);
        MUST(infer_call(schema, calls[i].args, &inferred));
        MUST(backend_call(inner, &(struct backend_call){.op = schema->op,
                                                        .args = calls[i].args,
                                                        .inferred = &inferred}));
    }
    MUST(backend_read(inner, tensors[FUSED_Y].buffer, 0, y, TOKENS * OUT * sizeof(*y)));
    MUST(backend_wait(inner));
    backend_buffer_free(inner, h.buffer);
}

Test(expanded, an_op_is_computed_by_its_plain_form)
{
    const struct compiled_op *schema = add(FUSED_FORM);
    float y[TOKENS * OUT], expected[TOKENS * OUT];
    tapml_support answer;
    struct backend *backend = expanded_backend(expanded);
    cr_assert_not(backend_has_op(inner, schema->op));
    cr_assert(backend_has_op(backend, schema->op));
    cr_assert(backend_has_op(backend, &tapml_silu));
    place_all();
    MUST(backend_supports(backend, schema, args, &answer));
    cr_assert_eq(answer.grade, TAPML_SUPPORT_SLOW);
    cr_assert_str_eq(answer.reason, "computed in 2 calls of other ops");
    cr_assert(expanded_is_split(&answer));
    answer.grade = TAPML_SUPPORT_YES;
    cr_assert_not(expanded_is_split(&answer));
    compute(expected);
    call(schema, y);
    cr_assert_arr_eq(y, expected, sizeof(y));
    call(schema, y);
    cr_assert_arr_eq(y, expected, sizeof(y));
    cr_assert_neq(
        strcmp(backend_identity(backend, schema->op), backend_identity(inner, &tapml_linear)), 0);
    cr_assert_str_eq(backend_identity(backend, &tapml_linear),
                     backend_identity(inner, &tapml_linear));
    free_all();
}

Test(expanded, what_a_call_refuses_is_refused_with_its_name)
{
    const struct compiled_op *schema = add("tapml.add(a = x, b = x{width, T}, y = h); "
                                           "tapml.linear(x = h, w = w, transposed = 0, y = y)");
    tapml_support answer;
    place_all();
    MUST(backend_supports(expanded_backend(expanded), schema, args, &answer));
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_not_null(strstr(answer.reason, "call 1 of 'tapml.add'"), "%s", answer.reason);
    cr_assert_not(expanded_is_split(&answer));
    free_all();
}

Test(expanded, a_form_that_leads_to_itself_is_no_op)
{
    static struct fused other;
    struct catalogue_op found;
    const struct compiled_op *schema =
        add("group.other.1(x = x, weight = weight, w = w, eps = eps, y = y)");
    fused_init(&other, "group.test.00000000(x = x, weight = weight, w = w, eps = eps, y = y)");
    other.op.name = "group.other.1";
    MUST(catalogue_add(registry_catalogue(plugins.registry), &other.op, "a test", &found));
    cr_assert_not(backend_has_op(expanded_backend(expanded), schema->op));
    cr_assert_not(backend_has_op(expanded_backend(expanded), found.schema->op));
}

Test(expanded, forms_may_have_forms)
{
    static struct fused outer;
    struct catalogue_op found;
    float y[TOKENS * OUT], expected[TOKENS * OUT];
    (void)add(FUSED_FORM);
    fused_init(&outer, "group.test.00000000(x = x, weight = weight, w = w, eps = eps, y = y)");
    outer.op.name = "group.outer.1";
    MUST(catalogue_add(registry_catalogue(plugins.registry), &outer.op, "a test", &found));
    place_all();
    compute(expected);
    call(found.schema, y);
    cr_assert_arr_eq(y, expected, sizeof(y));
    free_all();
}

Test(expanded, a_split_op_goes_by_its_form_though_it_is_there)
{
    struct expanded *outer = NULL;
    const struct compiled_op *schema = add(FUSED_FORM);
    MUST(expanded_create(expanded_backend(expanded), registry_catalogue(plugins.registry), &outer));
    cr_assert_str_eq(backend_identity(expanded_backend(outer), schema->op),
                     backend_identity(expanded_backend(expanded), schema->op));
    expanded_destroy(outer);
    MUST(expanded_create(expanded_backend(expanded), registry_catalogue(plugins.registry), &outer));
    expanded_split(outer, schema->op);
    cr_assert_neq(strcmp(backend_identity(expanded_backend(outer), schema->op),
                         backend_identity(expanded_backend(expanded), schema->op)),
                  0);
    expanded_destroy(outer);
}
