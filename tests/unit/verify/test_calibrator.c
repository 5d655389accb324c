// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "exec/reduced.h"
#include "harness/cases.h"
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "store/case.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/calibrator.h"

#include <tapml/backend.h>
#include <tapml/ops.h>

#include <math.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct plugin_fixture plugins;
static struct store *store;
static struct calibrator *calibrator;

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    plugin_fixture_open(&plugins);
    MUST(calibrator_create(plugins.registry, NULL, NULL, &calibrator));
}

static void end(void)
{
    calibrator_destroy(calibrator);
    plugin_fixture_close(&plugins);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(calibrator, .init = begin, .fini = end, .timeout = 60);

// y = linear(x, w) with K terms, whose sum is small beside them.
enum { K = 512 };

struct linear_case {
    float x[K];
    float w[K];
    float y[1];
    struct case_argument arguments[5];
    struct carved_case item;
};

static struct case_argument
row_of(uint32_t param, int64_t width, const void *before, const void *after)
{
    return (struct case_argument){.name = tapml_linear.params[param]->name,
                                  .kind = tapml_linear.params[param]->kind,
                                  .effects = tapml_linear.params[param]->effects,
                                  .dtype = TAPML_F32,
                                  .rank = 2,
                                  .shape = {1, width},
                                  .stride = {width, 1},
                                  .base_bytes = (uint64_t)width * sizeof(float),
                                  .origin = "x",
                                  .before = before,
                                  .after = after,
                                  .content_bytes = (uint64_t)width * sizeof(float)};
}

// `cancel` makes the terms cancel each other, which loses digits.
static void make_linear(struct linear_case *made, int cancel)
{
    for (int i = 0; i < K; i++) {
        made->x[i] = (float)(i + 1) * 0.001f;
        made->w[i] = (cancel && i % 2 ? -1.0f : 1.0f) / (float)(i + 3);
    }
    made->y[0] = 0;
    made->arguments[0] = row_of(0, K, made->x, NULL);
    made->arguments[1] = row_of(1, K, made->w, NULL);
    made->arguments[2] = (struct case_argument){.name = "b", .kind = TAPML_V_NONE};
    made->arguments[3] = (struct case_argument){.name = "transposed", .kind = TAPML_P_I64};
    made->arguments[4] = row_of(4, 1, NULL, made->y);
    made->item = (struct carved_case){.instance = "q",
                                      .op_name = "tapml.linear",
                                      .op_version = 1,
                                      .shape_class = "x=[1,512]",
                                      .arguments = made->arguments,
                                      .argument_count = 5};
}

Test(calibrator, reductions_are_widened_by_what_the_devices_lose)
{
    struct linear_case made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 1);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), limits));
    const struct compare_limit floor = compare_floor(COMPARE_REDUCTION);
    cr_assert_eq(limits[0].class_, COMPARE_REDUCTION);
    cr_assert_gt(limits[0].nmse, floor.nmse);
    cr_assert_lt(limits[0].nmse, 1e-9, "%g", limits[0].nmse);
    cr_assert_gt(limits[0].row_error, floor.row_error);
    cr_assert_eq(calibrator_executions(calibrator), 4, "one for each device");
}

Test(calibrator, a_class_is_calibrated_once)
{
    struct linear_case made;
    struct compare_limit first[REPLAY_OUTPUTS_MAX];
    struct compare_limit second[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 0);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), first));
    const uint64_t executions = calibrator_executions(calibrator);
    make_linear(&made, 1);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), second));
    cr_assert_eq(calibrator_executions(calibrator), executions);
    cr_assert_eq(first[0].nmse, second[0].nmse);
    made.item.shape_class = "x=[2,512]";
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), second));
    cr_assert_eq(calibrator_executions(calibrator), 2 * executions);
}

Test(calibrator, limits_are_in_the_store)
{
    struct linear_case made;
    struct compare_limit first[REPLAY_OUTPUTS_MAX];
    struct compare_limit second[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 1);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), first));
    calibrator_destroy(calibrator);
    MUST(calibrator_create(plugins.registry, NULL, NULL, &calibrator));
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), second));
    cr_assert_eq(calibrator_executions(calibrator), 0);
    cr_assert_eq(first[0].nmse, second[0].nmse);
    cr_assert_eq(first[0].row_error, second[0].row_error);
}

Test(calibrator, widening_takes_the_largest_of_the_cases)
{
    struct linear_case made;
    struct compare_limit easy[REPLAY_OUTPUTS_MAX];
    struct compare_limit hard[REPLAY_OUTPUTS_MAX];
    struct compare_limit again[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 0);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), easy));
    make_linear(&made, 1);
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_linear), hard));
    cr_assert_gt(hard[0].nmse, easy[0].nmse);
    make_linear(&made, 0);
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_linear), again));
    cr_assert_eq(again[0].nmse, hard[0].nmse, "limits never narrow");
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), again));
    cr_assert_eq(again[0].nmse, hard[0].nmse);
}

// A case that makes much of a rounding is allowed more, even where the devices agree on it: one
// term alone has no order of summation.
Test(calibrator, a_case_beyond_its_limit_is_looked_at_closely)
{
    struct linear_case made;
    struct compare_limit first[REPLAY_OUTPUTS_MAX];
    struct compare_limit close[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 0);
    for (int i = 2; i < K; i++) {
        made.w[i] = 0;
    }
    made.x[0] = 1;
    made.w[0] = 1;
    made.x[1] = 1;
    made.w[1] = -1 + 0x1p-10f;
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), first));
    cr_assert_eq(first[0].nmse, compare_floor(COMPARE_REDUCTION).nmse, "all devices agree");
    const uint64_t executions = calibrator_executions(calibrator);
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_linear), close));
    cr_assert_gt(close[0].nmse, 8 * 0x1p-30, "1024 times a rounding");
    cr_assert_lt(close[0].nmse, 1e-4);
    cr_assert_eq(calibrator_executions(calibrator), executions + 4 + 3 * 3);
    MUST(calibrator_widen(calibrator, NULL, &made.item, schema_of(&tapml_linear), first));
    cr_assert_eq(first[0].nmse, close[0].nmse, "the same without a store");
}

// exp multiplies its argument on many devices, where a rounding of 60 is 60 of the result.
Test(calibrator, exp_of_a_large_argument_may_lose_more)
{
    struct cases_silu made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    cases_make_silu(&made, "s", 0);
    made.x[1] = -60.1f;
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_silu), limits));
    cr_expect_lt(limits[0].ulp, 64);
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_silu), limits));
    cr_expect_geq(limits[0].ulp, 4 * 30);
    cr_expect_leq(limits[0].ulp, 4 * 256);
}

// What cancels is exact on any device, so that it is no excuse.
Test(calibrator, a_difference_may_not_lose_more)
{
    struct cases_silu made;
    struct case_argument arguments[3];
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    float near[CASES_ROWS * CASES_WIDTH];
    cases_make_silu(&made, "s", 0);
    for (int i = 0; i < CASES_ROWS * CASES_WIDTH; i++) {
        made.x[i] = 1 + (float)i;
        near[i] = nextafterf(made.x[i], 0);
    }
    arguments[0] = arguments[1] = made.arguments[0];
    arguments[0].name = "a";
    arguments[1].name = "b";
    arguments[1].before = near;
    arguments[2] = made.arguments[1];
    made.item.op_name = "tapml.sub";
    made.item.arguments = arguments;
    made.item.argument_count = 3;
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_sub), limits));
    cr_expect_eq(limits[0].ulp, compare_floor(COMPARE_ELEMENTWISE).ulp);
}

Test(calibrator, what_the_source_recorded_takes_no_part)
{
    struct linear_case made;
    struct compare_limit right[REPLAY_OUTPUTS_MAX];
    struct compare_limit wrong[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 1);
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_linear), right));
    made.y[0] = 1e9f;
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_linear), wrong));
    cr_assert_eq(right[0].nmse, wrong[0].nmse);
}

// The limits that a device is held to, with the calibrator's executions for them.
static struct compare_limit limits_for(const char *device, uint64_t *out_executions)
{
    struct linear_case made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct backend *target = plugin_fixture_backend(&plugins, device);
    make_linear(&made, 1);
    calibrator_destroy(calibrator);
    MUST(calibrator_create(plugins.registry, NULL, target, &calibrator));
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), limits));
    *out_executions = calibrator_executions(calibrator);
    backend_release(target);
    return limits[0];
}

Test(calibrator, a_target_has_no_part_in_its_own_limits)
{
    static const char *const devices[] = {"reference:f64", "reference:f32",
                                          "reference:f32-reversed", "reference:f32-blocked"};
    uint64_t executions = 0;
    const struct compare_limit all = limits_for("reference:f16-rounded", &executions);
    cr_assert_eq(executions, 4, "no device that calibrates");
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
        const struct compare_limit own = limits_for(devices[i], &executions);
        cr_assert_eq(executions, 3, "limits of other targets are not its own, '%s'", devices[i]);
        cr_assert_leq(own.nmse, 4 * all.nmse, "'%s'", devices[i]);
        (void)limits_for(devices[i], &executions);
        cr_assert_eq(executions, 0, "they are in the store, too");
    }
}

Test(calibrator, exact_ops_need_none)
{
    struct cases_append made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    cases_make_append(&made, "k", 0);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_state_append), limits));
    cr_assert_eq(limits[0].class_, COMPARE_EXACT);
    MUST(calibrator_widen(calibrator, store, &made.item, schema_of(&tapml_state_append), limits));
    cr_assert_eq(limits[0].class_, COMPARE_EXACT);
    cr_assert_eq(calibrator_executions(calibrator), 0);
}

Test(calibrator, elementwise_ops_have_at_least_their_floor)
{
    struct cases_silu made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    cases_make_silu(&made, "s", 0);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_silu), limits));
    cr_assert_eq(limits[0].class_, COMPARE_ELEMENTWISE);
    cr_assert_geq(limits[0].ulp, 16);
    cr_assert_lt(limits[0].ulp, 64);
    cr_assert_gt(calibrator_executions(calibrator), 0);
}

Test(calibrator, an_op_that_nothing_computes_has_its_floor)
{
    struct cases_silu made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    tapml_op op = tapml_silu;
    cases_make_silu(&made, "s", 0);
    op.name = made.item.op_name = "org.example.nowhere";
    op.tolerance = "reduction";
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&op), limits));
    cr_assert_eq(limits[0].nmse, compare_floor(COMPARE_REDUCTION).nmse);
    op.tolerance = "none";
    cr_assert_eq(calibrator_limits(calibrator, store, &made.item, schema_of(&op), limits),
                 TAPML_INVALID);
}

// An output that is rounded to f16 may be the other neighbour of an exact value near a tie.
Test(calibrator, an_output_in_f16_has_the_floor_of_f16)
{
    struct cases_silu made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    tapml_op op = tapml_silu;
    const struct compare_limit floor = compare_floor_in(COMPARE_ELEMENTWISE, ACTIVATION_F16);
    cases_make_silu(&made, "s", 0);
    op.name = made.item.op_name = "org.example.nowhere";
    made.arguments[TAPML_SILU_Y].dtype = TAPML_F16;
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&op), limits));
    cr_expect_eq(limits[0].class_, COMPARE_REDUCTION);
    cr_expect_eq(limits[0].row_error, floor.row_error);
    cr_expect_eq(limits[0].nmse, floor.nmse);
}

// The norm of equal numbers is 0, and what the mean loses of them is all that floats leave of it.
Test(calibrator, a_result_of_nothing_but_roundings_judges_no_operator)
{
    enum { WIDTH = 7 };
    float x[WIDTH];
    float y[WIDTH] = {0};
    struct case_argument arguments[6];
    struct carved_case item = {.instance = "g_norm",
                               .op_name = "tapml.layer_norm",
                               .op_version = 1,
                               .shape_class = "x=[1,7]",
                               .arguments = arguments,
                               .argument_count = 6};
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct arena *arena = arena_create();
    const char *refusal = NULL;
    cr_assert_not_null(arena);
    for (int i = 0; i < WIDTH; i++) {
        x[i] = 0.7f;
    }
    for (uint32_t i = 0; i < 6; i++) {
        arguments[i] = (struct case_argument){.name = tapml_layer_norm.params[i]->name};
    }
    arguments[TAPML_LAYER_NORM_X] = row_of(TAPML_LAYER_NORM_X, WIDTH, x, NULL);
    arguments[TAPML_LAYER_NORM_X].name = "x";
    arguments[TAPML_LAYER_NORM_EPS].kind = TAPML_P_F64;
    arguments[TAPML_LAYER_NORM_EPS].d = 1e-3;
    arguments[TAPML_LAYER_NORM_OFFSET].kind = TAPML_P_F64;
    arguments[TAPML_LAYER_NORM_Y] = arguments[TAPML_LAYER_NORM_X];
    arguments[TAPML_LAYER_NORM_Y].name = "y";
    arguments[TAPML_LAYER_NORM_Y].kind = TAPML_P_TENSOR_OUT;
    arguments[TAPML_LAYER_NORM_Y].before = NULL;
    arguments[TAPML_LAYER_NORM_Y].after = y;
    MUST(calibrator_expect(calibrator, &item, schema_of(&tapml_layer_norm), arena, limits,
                           &refusal));
    cr_assert_str_eq(refusal, "honest devices differ where the exact result is 0");
    arena_destroy(arena);
}

// -- In f16 ------------------------------------------------------------------------------------

Test(calibrator, a_reduced_target_may_lose_what_the_devices_lose_in_f16)
{
    struct linear_case made;
    struct compare_limit plain[REPLAY_OUTPUTS_MAX], reduced[REPLAY_OUTPUTS_MAX];
    make_linear(&made, 1);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), plain));
    calibrator_destroy(calibrator);
    MUST(calibrator_create(plugins.registry, NULL, NULL, &calibrator));
    calibrator_set_activation(calibrator, ACTIVATION_F16);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), reduced));
    const struct compare_limit floor = compare_floor_in(COMPARE_REDUCTION, ACTIVATION_F16);
    cr_expect_geq(reduced[0].nmse, floor.nmse);
    cr_expect_geq(reduced[0].row_error, floor.row_error);
    cr_expect_lt(reduced[0].row_error, 0.5);
    cr_expect_gt(reduced[0].row_error, plain[0].row_error);
    cr_expect_eq(calibrator_executions(calibrator), 5,
                 "the exact result, and one in f16 for each device");

    // Each kind of limits is in the store by itself.
    calibrator_destroy(calibrator);
    MUST(calibrator_create(plugins.registry, NULL, NULL, &calibrator));
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), reduced));
    cr_expect_eq(reduced[0].row_error, plain[0].row_error);
    cr_expect_eq(calibrator_executions(calibrator), 0);
}

Test(calibrator, knows_a_reduced_target)
{
    struct linear_case made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct backend *target = plugin_fixture_backend(&plugins, "reference:f32-blocked");
    struct reduced *reduced = NULL;
    struct calibrator *own = NULL;
    MUST(reduced_create(target, ACTIVATION_F16, &reduced));
    MUST(calibrator_create(plugins.registry, NULL, reduced_backend(reduced), &own));
    make_linear(&made, 0);
    MUST(calibrator_limits(own, store, &made.item, schema_of(&tapml_linear), limits));
    cr_expect_geq(limits[0].row_error,
                  compare_floor_in(COMPARE_REDUCTION, ACTIVATION_F16).row_error);
    cr_expect_eq(calibrator_executions(own), 4, "without the target itself");
    calibrator_destroy(own);
    reduced_destroy(reduced);
    backend_release(target);
}

Test(calibrator, derived_cases_in_f16_expect_what_is_exact)
{
    struct linear_case made;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    const char *refusal = NULL;
    struct arena *arena = arena_create();
    make_linear(&made, 0);
    calibrator_set_activation(calibrator, ACTIVATION_F16);
    MUST(calibrator_expect(calibrator, &made.item, schema_of(&tapml_linear), arena, limits,
                           &refusal));
    cr_assert_null(refusal, "%s", refusal);
    double sum = 0;
    for (int i = 0; i < K; i++) {
        sum += (double)made.x[i] * (double)made.w[i];
    }
    cr_expect_eq(((const float *)made.arguments[4].after)[0], (float)sum, "no input is rounded");
    made.x[0] = 1e6f;
    MUST(calibrator_expect(calibrator, &made.item, schema_of(&tapml_linear), arena, limits,
                           &refusal));
    cr_assert_not_null(refusal, "it does not fit into f16");
    arena_destroy(arena);
}

// What is right as declared lies far from what is right in f32, and the limit stays that of f32.
Test(calibrator, declared_inputs_widen_nothing)
{
    const struct arithmetic form = {.inputs = TAPML_FORMAT_Q8, .block = 32};
    struct linear_case made;
    struct carved_case declared, plain;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct arena *arena = arena_create();
    const char *refusal = NULL;
    int has = 0;
    make_linear(&made, 1);
    plain = made.item;
    MUST(calibrator_expect(calibrator, &plain, schema_of(&tapml_linear), arena, limits, &refusal));
    const double right = (double)*(const float *)plain.arguments[4].after;
    MUST(calibrator_as_declared(calibrator, &made.item, schema_of(&tapml_linear), arena, &declared,
                                &has));
    cr_assert_not(has, "nothing is declared");
    calibrator_assume(calibrator, &form);
    MUST(calibrator_as_declared(calibrator, &made.item, schema_of(&tapml_linear), arena, &declared,
                                &has));
    cr_assert(has);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), limits));
    const double other = (double)*(const float *)declared.arguments[4].after;
    cr_assert_gt(fabs(other - right), 1e-4 * fabs(right));
    cr_assert_lt(limits[0].nmse, 1e-9, "%g", limits[0].nmse);
    cr_assert_eq(*(const float *)made.item.arguments[4].after, (float)right, "the case stays");
    arena_destroy(arena);
}

Test(calibrator, narrow_sums_and_results_have_limits_of_their_own)
{
    const struct arithmetic sums = {.accumulator = TAPML_FORMAT_F16};
    const struct arithmetic results = {.result = TAPML_FORMAT_BF16};
    struct linear_case made;
    struct compare_limit narrow[REPLAY_OUTPUTS_MAX], rounded[REPLAY_OUTPUTS_MAX];
    char plain[HASH_TEXT], declared[HASH_TEXT];
    enum compare_class class_ = COMPARE_EXACT;
    make_linear(&made, 0);
    MUST(calibrator_identity(calibrator, schema_of(&tapml_linear), plain));
    calibrator_assume(calibrator, &sums);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), narrow));
    cr_assert_gt(narrow[0].row_error, 0x1p-8);
    cr_assert_lt(narrow[0].row_error, 1, "%g", narrow[0].row_error);
    MUST(calibrator_identity(calibrator, schema_of(&tapml_linear), declared));
    cr_assert_str_neq(plain, declared);
    calibrator_assume(calibrator, &results);
    MUST(calibrator_limits(calibrator, store, &made.item, schema_of(&tapml_linear), rounded));
    cr_assert_geq(rounded[0].row_error, 0x1p-8);
    cr_assert_lt(rounded[0].row_error, 0x1p-2);
    MUST(calibrator_class(calibrator, schema_of(&tapml_silu), &class_));
    cr_assert_eq(class_, COMPARE_REDUCTION, "rounded results have no measure of single elements");
}
