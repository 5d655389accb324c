// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "harness/late.h"
#include "judged_store.h"
#include "verify/examiner.h"

#include <tapml/ops.h>

TestSuite(examiner, .init = judged_store_begin, .fini = judged_store_end, .timeout = 110);

Test(examiner, keeps_a_case_with_what_was_measured)
{
    struct examiner *examiner = NULL;
    struct cases_silu made;
    struct verdict verdict;
    int64_t id = 0;
    const struct verdict_options options = options_for(exact);
    MUST(examiner_create(&options, &examiner));
    cases_make_silu(&made, "s", 0);
    made.y[4] += 0.5f;
    MUST(examiner_case(examiner, &made.item, &verdict));
    cr_expect_eq(verdict.kind, VERDICT_FAIL);
    cr_expect_eq(verdict.error_count, 1);
    cr_expect_str_eq(verdict.errors[0].class_, "elementwise");
    cr_expect_str_eq(verdict.errors[0].place, "1, 1");
    MUST(examiner_keep(examiner, &made.item, &verdict, &id));
    cr_expect_eq(number_of("SELECT count(*) FROM output_error WHERE param = 'y' AND ulp > 100"), 1);
    cr_expect_eq(number_of("SELECT count(*) FROM judged WHERE verdict = 'fail'"), 1);
    cr_expect_gt(examiner_executions(examiner), 0);
    cr_expect_gt(examiner_calibrations(examiner), 0);
    examiner_destroy(examiner);
}

// What was kept of a run is judged by what is right: the case then holds that.
Test(examiner, what_the_target_computed_is_replaced_if_it_fails)
{
    struct examiner *examiner = NULL;
    struct cases_silu made;
    struct verdict verdict;
    const struct verdict_options options = options_for(exact);
    MUST(examiner_create(&options, &examiner));
    cases_make_silu(&made, "s", 0);
    const float right = made.y[4];
    made.y[4] += 0.5f;
    MUST(examiner_computed(examiner, &made.item, &verdict));
    cr_expect_eq(verdict.kind, VERDICT_FAIL);
    cr_expect_float_eq(made.y[4], right, 1e-5);
    examiner_destroy(examiner);
}

// y = linear(x, w) of terms whose sum is 0, where each half of them overflows f32.
struct overflow {
    float x[4], w[4], y[1];
    struct case_argument arguments[5];
    struct carved_case item;
};

static struct case_argument
row_of(uint32_t param, int64_t width, const float *before, const float *after)
{
    return (struct case_argument){.name = tapml_linear.params[param]->name,
                                  .kind = tapml_linear.params[param]->kind,
                                  .effects = tapml_linear.params[param]->effects,
                                  .dtype = TAPML_F32,
                                  .rank = 2,
                                  .shape = {1, width},
                                  .stride = {width, 1},
                                  .base_bytes = (uint64_t)width * sizeof(float),
                                  .content_bytes = (uint64_t)width * sizeof(float),
                                  .origin = "x",
                                  .before = before,
                                  .after = after};
}

static void make_overflow(struct overflow *made, float size)
{
    *made = (struct overflow){.x = {size, size, -size, -size}, .w = {1, 1, 1, 1}};
    made->arguments[0] = row_of(0, 4, made->x, NULL);
    made->arguments[1] = row_of(1, 4, made->w, NULL);
    made->arguments[2] = (struct case_argument){.name = "b", .kind = TAPML_V_NONE};
    made->arguments[3] = (struct case_argument){.name = "transposed", .kind = TAPML_P_I64};
    made->arguments[4] = row_of(4, 1, NULL, made->y);
    made->item = (struct carved_case){.instance = "q",
                                      .op_name = "tapml.linear",
                                      .op_version = 1,
                                      .phase = "prefill",
                                      .shape_class = "x=[1,4]",
                                      .arguments = made->arguments,
                                      .argument_count = 5};
}

static enum verdict_kind
judge_overflow(struct backend *target, float size, struct verdict *out_verdict)
{
    struct examiner *examiner = NULL;
    struct overflow made;
    const struct verdict_options options = options_for(target);
    make_overflow(&made, size);
    MUST(examiner_create(&options, &examiner));
    MUST(examiner_case(examiner, &made.item, out_verdict));
    const enum verdict_kind kind = out_verdict->kind;
    if (kind == VERDICT_SKIPPED) { // As a derived case says it.
        cr_expect_str_eq(out_verdict->reason, "its values overflow on an honest device");
        cr_expect_eq(out_verdict->error_count, 0);
    }
    examiner_destroy(examiner);
    return kind;
}

Test(examiner, what_overflows_on_an_honest_device_judges_no_other)
{
    struct backend *target = plugin_fixture_backend(&plugins, "reference:f32");
    struct verdict verdict;
    cr_expect_eq(judge_overflow(target, 3e38f, &verdict), VERDICT_SKIPPED);
    cr_expect_eq(judge_overflow(target, 1, &verdict), VERDICT_PASS);
    cr_expect_eq(judge_overflow(exact, 3e38f, &verdict), VERDICT_PASS, "what is right passes");
    backend_release(target);
}

// Infinity where no honest device has it is a failure.
Test(examiner, what_overflows_on_the_target_alone_fails)
{
    struct examiner *examiner = NULL;
    struct overflow made;
    struct verdict verdict;
    const struct verdict_options options = options_for(exact);
    make_overflow(&made, 1);
    made.y[0] = INFINITY;
    MUST(examiner_create(&options, &examiner));
    MUST(examiner_computed(examiner, &made.item, &verdict));
    cr_expect_eq(verdict.kind, VERDICT_FAIL);
    cr_expect_eq(verdict.errors[0].non_finite, 1);
    examiner_destroy(examiner);
}
