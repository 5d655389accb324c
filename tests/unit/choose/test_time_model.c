// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "choose/time_model.h"
#include "made_cases.h"

enum { COUNT = 300 };

static struct feature_case cases[COUNT];
static uint32_t groups[COUNT];
static double times[COUNT];

static const struct time_model_input INPUT = {cases, COUNT, groups, 3, times};

// A time that grows with the operations, and differs between signatures, and a tenth of noise.
static void begin(void)
{
    struct random random;
    made_cases(cases, COUNT);
    random_init(&random, 2);
    for (size_t i = 0; i < COUNT; i++) {
        groups[i] = (uint32_t)(i % 3);
        times[i] = pow(cases[i].row.values[FEATURE_operations], 0.8) * (double)(1 + i % 3) *
                   exp(random_between(&random, -0.1, 0.1));
    }
}

TestSuite(time_model, .init = begin);

Test(time_model, times_that_it_has_not_seen_are_predicted)
{
    struct arena *arena = arena_create();
    struct time_model model;
    double truth[COUNT], predicted = 0, measured = 0;
    int has = 0;
    memcpy(truth, times, sizeof(truth));
    for (size_t i = 0; i < COUNT; i += 2) {
        times[i] = 0; // Unknown.
    }
    MUST(time_model_fit(&INPUT, arena, &model, &has));
    cr_assert(has);
    cr_expect_eq(model.known, COUNT / 2);
    cr_expect_lt(model.error, 0.15, "%g", model.error);
    cr_expect(model.factor >= 1 && model.factor < 1.15, "%g", model.factor);
    for (size_t i = 0; i < COUNT; i += 2) {
        predicted += model.times_ns[i];
        measured += truth[i];
        cr_expect_lt(fabs(log(model.times_ns[i] / truth[i])), 0.5);
    }
    cr_expect_lt(fabs(predicted / measured - 1), 0.05);
    arena_destroy(arena);
}

Test(time_model, too_few_times_and_a_lack_of_memory_are_said)
{
    struct arena *arena = arena_create();
    struct time_model model;
    int has = 1;
    for (size_t i = TIME_MODEL_LEAST - 1; i < COUNT; i++) {
        times[i] = 0;
    }
    MUST(time_model_fit(&INPUT, arena, &model, &has));
    cr_expect_eq(has, 0);
    times[COUNT - 1] = 5;
    MUST(time_model_fit(&INPUT, arena, &model, &has));
    cr_expect_eq(has, 1);
    alloc_fail_at(1);
    cr_expect_eq(time_model_fit(&INPUT, arena, &model, &has), TAPML_NO_MEMORY);
    alloc_fail_at(0);
    arena_destroy(arena);
}
