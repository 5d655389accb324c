// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "choose/plan_model.h"
#include "harness/made_ops.h"

#include <math.h>

enum { WIDTH = 3, ROWS = 40 };

static const double guesses[WIDTH] = {1, 1, 0}, spreads[WIDTH] = {0.5, 0.5, 0};

static struct plan_model fit(struct arena *arena, const struct plan_model_input *input)
{
    struct plan_model model;
    MUST(plan_model_fit(input, arena, &model));
    return model;
}

Test(plan_model, without_measurements_it_is_the_guess)
{
    struct arena *arena = arena_create();
    const struct plan_model_input input = {.width = WIDTH, .guesses = guesses, .spreads = spreads};
    const struct plan_model model = fit(arena, &input);
    cr_expect_float_eq(plan_model_predict(&model, (const double[]){2, 3, 7}), 5, 1e-12);
    cr_expect_float_eq(plan_model_spread(&model, (const double[]){2, 0, 7}), 1, 1e-12);
    arena_destroy(arena);
}

// y = 3 a - b / 2, of which the guesses are far off.
Test(plan_model, measurements_pull_it_to_what_is)
{
    struct arena *arena = arena_create();
    struct random random;
    double values[ROWS], noises[ROWS], data[ROWS][WIDTH];
    const double *rows[ROWS];
    random_init(&random, 3);
    for (int i = 0; i < ROWS; i++) {
        data[i][0] = random_between(&random, 0, 10);
        data[i][1] = random_between(&random, 0, 10);
        data[i][2] = 1;
        rows[i] = data[i];
        values[i] = 3 * data[i][0] - data[i][1] / 2;
        noises[i] = 0.01;
    }
    struct plan_model_input input = {.width = WIDTH,
                                     .guesses = guesses,
                                     .spreads = spreads,
                                     .rows = rows,
                                     .values = values,
                                     .noises = noises,
                                     .count = ROWS};
    const struct plan_model model = fit(arena, &input);
    cr_expect_float_eq(model.weights[0], 3, 1e-2);
    cr_expect_float_eq(model.weights[1], -0.5, 1e-2);
    cr_expect_eq(model.weights[2], 0, "a guess without a spread stays");
    cr_expect_lt(plan_model_spread(&model, data[0]), 0.01);
    // One measurement says little of what is unlike it.
    input.count = 1;
    data[0][0] = 1;
    data[0][1] = 0;
    values[0] = 2;
    const struct plan_model first = fit(arena, &input);
    cr_expect_float_eq(first.weights[0], 2, 1e-2);
    cr_expect_float_eq(plan_model_spread(&first, (const double[]){0, 1, 0}), 0.5, 1e-9);
    arena_destroy(arena);
}

Test(plan_model, ranks_correlate)
{
    double found = 0;
    MUST(plan_model_correlate((const double[]){1, 2, 3, 4}, (const double[]){10, 20, 30, 99}, 4,
                              &found));
    cr_expect_float_eq(found, 1, 1e-12);
    MUST(plan_model_correlate((const double[]){1, 2, 3}, (const double[]){3, 2, 1}, 3, &found));
    cr_expect_float_eq(found, -1, 1e-12);
    MUST(plan_model_correlate((const double[]){1, 1, 2}, (const double[]){1, 2, 3}, 3, &found));
    cr_expect_float_eq(found, sqrt(3) / 2, 1e-12);
    MUST(plan_model_correlate((const double[]){1, 1}, (const double[]){1, 2}, 2, &found));
    cr_expect(isnan(found));
}
