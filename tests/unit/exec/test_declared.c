// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/declared.h"
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "schema/infer.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { ROWS = 2, IN = 3, OUT = 2 };

// y = linear(x, w) on a device that computes in f64.
static const float x[ROWS * IN] = {1.001F, 2.003F, -3.007F, 0.1F, 0.2F, 0.3F};
static const float w[OUT * IN] = {1.01F, 1, 1, 0.5F, -1, 2};

static struct plugin_fixture plugins;
static struct backend *inner;
static struct arithmetic form;

static const struct arithmetic *form_of(void *user, const tapml_op *op)
{
    return user == &form && op == &tapml_linear ? &form : &arithmetic_f32;
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    inner = plugin_fixture_backend(&plugins, "reference:f64");
}

static void end(void)
{
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

TestSuite(declared, .init = begin, .fini = end, .timeout = 60);

static tapml_object *buffer_of(struct backend *backend, const float *values, size_t count)
{
    tapml_object *buffer = NULL;
    MUST(backend_buffer_new(backend, count * sizeof(*values), &buffer));
    MUST(backend_write(backend, buffer, 0, values, count * sizeof(*values)));
    return buffer;
}

static void compute(int is_wide, float y[ROWS * OUT], float x_after[ROWS * IN])
{
    static const int64_t x_shape[] = {ROWS, IN}, w_shape[] = {OUT, IN}, y_shape[] = {ROWS, OUT};
    struct declared *declared = NULL;
    struct inferred inferred;
    MUST(declared_create(
        &(struct declared_options){
            .inner = inner, .form = form_of, .user = &form, .is_wide = is_wide},
        &declared));
    struct backend *backend = declared_backend(declared);
    cr_assert_eq(backend_arithmetic(backend, &tapml_linear), &form);
    cr_assert_eq(backend_arithmetic(backend, &tapml_silu), &arithmetic_f32);
    const float zeros[ROWS * OUT] = {0};
    const tapml_tensor tensors[] = {
        {TAPML_HDR(tapml_tensor), TAPML_F32, 2, x_shape,
         .buffer = buffer_of(backend, x, ROWS * IN)},
        {TAPML_HDR(tapml_tensor), TAPML_F32, 2, w_shape, .buffer = buffer_of(backend, w, OUT * IN)},
        {TAPML_HDR(tapml_tensor), TAPML_F32, 2, y_shape,
         .buffer = buffer_of(backend, zeros, ROWS * OUT)},
    };
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[0]},
                                {.kind = TAPML_P_TENSOR_IN, .u.p = &tensors[1]},
                                {.kind = TAPML_V_NONE},
                                {.kind = TAPML_P_I64},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &tensors[2]}};
    MUST(infer_call(schema_of(&tapml_linear), args, &inferred));
    MUST(backend_call(
        backend, &(struct backend_call){
                     .op = &tapml_linear, .args = args, .inferred = &inferred, .instance = "q"}));
    MUST(backend_read(backend, tensors[2].buffer, 0, y, ROWS * OUT * sizeof(*y)));
    MUST(backend_read(backend, tensors[0].buffer, 0, x_after, ROWS * IN * sizeof(*y)));
    MUST(backend_wait(backend));
    for (size_t i = 0; i < 3; i++) {
        backend_buffer_free(backend, tensors[i].buffer);
    }
    declared_destroy(declared);
}

// The sum of the formula over given values.
static double sum_of(const float *row, const float *weights)
{
    double sum = 0;
    for (int i = 0; i < IN; i++) {
        sum += (double)row[i] * (double)weights[i];
    }
    return sum;
}

static void check(const float *inputs, const float *weights, uint32_t result, int is_wide)
{
    float y[ROWS * OUT], after[ROWS * IN];
    compute(is_wide, y, after);
    for (int i = 0; i < ROWS * OUT; i++) {
        float right = (float)sum_of(inputs + i / OUT * IN, weights + i % OUT * IN);
        arithmetic_round(result, 0, &right, 1, 1);
        cr_assert_eq(y[i], right, "%d: %.9g, expected %.9g", i, (double)y[i], (double)right);
    }
    cr_assert_arr_eq(after, x, sizeof(x), "what goes in stays");
}

Test(declared, nothing_is_rounded_without_a_declaration)
{
    form = arithmetic_f32;
    check(x, w, TAPML_FORMAT_F32, 0);
}

Test(declared, inputs_and_weights_are_rounded)
{
    float rounded_x[ROWS * IN], rounded_w[OUT * IN];
    memcpy(rounded_x, x, sizeof(x));
    memcpy(rounded_w, w, sizeof(w));
    arithmetic_round(TAPML_FORMAT_Q8, 2, rounded_x, ROWS, IN);
    arithmetic_round(TAPML_FORMAT_BF16, 0, rounded_w, OUT, IN);
    form = (struct arithmetic){.inputs = TAPML_FORMAT_Q8, .block = 2, .weights = TAPML_FORMAT_BF16};
    check(rounded_x, rounded_w, TAPML_FORMAT_F32, 0);
}

Test(declared, results_are_rounded_unless_they_are_to_stay_wide)
{
    form = (struct arithmetic){.result = TAPML_FORMAT_F16};
    check(x, w, TAPML_FORMAT_F16, 0);
    check(x, w, TAPML_FORMAT_F32, 1);
}
