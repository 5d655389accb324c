// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/cases.h"
#include "harness/plugin_fixture.h"
#include "harness/schemas.h"
#include "harness/scratch.h"
#include "verify/reduce.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// A backend whose outputs are wrong in one element, where they have at least so many rows.
struct broken {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    int64_t rows;
};

static struct plugin_fixture plugins;
static struct backend *inner;
static struct broken broken;

static tapml_status broken_call(struct backend *backend, const struct backend_call *call)
{
    const struct broken *self = (const struct broken *)backend;
    const tapml_tensor *y = call->args[call->op->n_params - 1].u.p;
    float value = 0;
    TAPML_TRY(backend_call(self->wrapper.inner, call));
    if (y->shape[0] < self->rows) {
        return TAPML_OK;
    }
    const uint64_t at = y->offset + (uint64_t)((self->rows - 1) * y->shape[1]) * sizeof(value);
    TAPML_TRY(backend_read(self->wrapper.inner, y->buffer, at, &value, sizeof(value)));
    TAPML_TRY(backend_wait(self->wrapper.inner));
    value += 1;
    TAPML_TRY(backend_write(self->wrapper.inner, y->buffer, at, &value, sizeof(value)));
    return backend_wait(self->wrapper.inner);
}

static void begin(void)
{
    plugin_fixture_open(&plugins);
    inner = plugin_fixture_backend(&plugins, "reference:f32");
    broken.vt = backend_forward_vt;
    broken.vt.call = broken_call;
    broken.wrapper = (struct backend_wrapper){.backend = {.vt = &broken.vt}, .inner = inner};
}

static void end(void)
{
    backend_release(inner);
    plugin_fixture_close(&plugins);
}

TestSuite(reduce, .init = begin, .fini = end, .timeout = 60);

static struct reduce_result reduce(const struct carved_case *item, const tapml_op *op, unsigned max)
{
    struct reduce_result result;
    MUST(reduce_case(&(struct reduce_options){.registry = plugins.registry,
                                              .backend = &broken.wrapper.backend,
                                              .trials_max = max},
                     item, schema_of(op), &result));
    return result;
}

Test(reduce, what_is_needed_to_fail_stays)
{
    struct cases_norm made;
    cases_make_norm(&made, "norm", 0);
    made.arguments[1].before = made.weight;
    broken.rows = 1;
    struct reduce_result result = reduce(&made.item, &tapml_rms_norm, 0);
    cr_assert_str_eq(result.item.shape_class, "x=[1,1] weight=[1]");
    cr_assert_gt(result.trials, 0);
    cr_assert_leq(result.trials, REDUCE_TRIALS_MAX);
    reduce_result_release(&result);
    broken.rows = 2;
    result = reduce(&made.item, &tapml_rms_norm, 0);
    cr_assert_str_eq(result.item.shape_class, "x=[2,1] weight=[1]");
    reduce_result_release(&result);
}

Test(reduce, what_is_expected_is_computed_anew)
{
    struct cases_norm made;
    cases_make_norm(&made, "norm", 0);
    made.arguments[1].before = made.weight;
    broken.rows = 1;
    struct reduce_result result = reduce(&made.item, &tapml_rms_norm, 0);
    // One value, normalised by itself, is 1 but for eps; the weight's is behind it.
    const float y = *(const float *)result.item.arguments[4].after;
    const float weight = *(const float *)result.item.arguments[1].before;
    cr_assert_float_eq(y, weight, 1e-3, "%g, weight %g", (double)y, (double)weight);
    reduce_result_release(&result);
}

Test(reduce, the_trials_are_bounded)
{
    struct cases_norm made;
    cases_make_norm(&made, "norm", 0);
    made.arguments[1].before = made.weight;
    broken.rows = 1;
    struct reduce_result result = reduce(&made.item, &tapml_rms_norm, 1);
    cr_assert_eq(result.trials, 1);
    cr_assert_str_eq(result.item.shape_class, "x=[1,3] weight=[3]");
    reduce_result_release(&result);
}

Test(reduce, a_case_that_no_cut_makes_fail_is_kept_whole)
{
    struct cases_silu made;
    cases_make_silu(&made, "silu", 0);
    broken.rows = 100;
    struct reduce_result result = reduce(&made.item, &tapml_silu, 0);
    cr_assert_null(result.arena);
    cr_assert_eq(result.item.arguments, made.arguments);
    cr_assert_gt(result.trials, 0);
    reduce_result_release(&result);
}

Test(reduce, an_op_that_nothing_computes_is_kept_whole)
{
    struct cases_silu made;
    tapml_op op = tapml_silu;
    cases_make_silu(&made, "silu", 0);
    op.name = made.item.op_name = "org.example.nowhere";
    struct reduce_result result = reduce(&made.item, &op, 0);
    cr_assert_eq(result.trials, 0);
    cr_assert_eq(result.item.arguments, made.arguments);
    reduce_result_release(&result);
}

static tapml_status cancel(void *user, size_t done, size_t all)
{
    return status_fail(TAPML_CANCELLED, "after %zu of %zu", done, all);
}

Test(reduce, can_be_cancelled)
{
    struct cases_silu made;
    struct reduce_result result;
    cases_make_silu(&made, "silu", 0);
    broken.rows = 1;
    const struct reduce_options options = {
        .registry = plugins.registry, .backend = &broken.wrapper.backend, .progress = cancel};
    cr_assert_eq(reduce_case(&options, &made.item, schema_of(&tapml_silu), &result),
                 TAPML_CANCELLED);
    cr_assert_not_null(strstr(status_message(), "silu"));
}
