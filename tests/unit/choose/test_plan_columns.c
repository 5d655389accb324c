// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_columns.h"
#include "harness/made_ops.h"

static struct made_ops made;
static struct arena *arena;

static void begin(void)
{
    made_ops_init(&made);
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(plan_columns, .init = begin, .fini = end);

static double value_of(const struct plan_columns *columns, const double *row, const double *guesses)
{
    double value = 0;
    for (size_t i = 0; i < columns->width; i++) {
        value += row[i] * guesses[i];
    }
    return value;
}

Test(plan_columns, a_guess_is_the_times_of_operators_and_what_crosses)
{
    uint8_t places[MADE_OPS] = {0, 1};
    struct step_count count = {
        .places[1] = {.moves_in = 1, .moves_out = 1, .bytes_in = 400, .bytes_out = 600}};
    struct plan_columns columns;
    MUST(plan_columns_init(&made.question, NULL, arena, &columns));
    cr_assert_eq(columns.width, MADE_KINDS * MADE_PLACES + 2 * MADE_PLACES + 4 + 1);
    double row[64];
    plan_columns_fill(&columns, places, &count, row);
    const double operators = 4 * 125e3 - 80e3;
    const double alone = value_of(&columns, row, columns.guesses);
    cr_expect_gt(alone, operators);
    count.places[1] = (struct step_count_place){.moves_in = 0};
    plan_columns_fill(&columns, places, &count, row);
    cr_expect_float_eq(value_of(&columns, row, columns.guesses), operators, 1e-6);
}

// All on the gpu has taken a tenth of what its operators take alone, all on the source the double.
Test(plan_columns, what_was_measured_says_how_wrong_a_place_is)
{
    const struct step_count none = {.places[0] = {.calls = 0}};
    uint8_t source[MADE_OPS] = {0}, gpu[MADE_OPS], mixed[MADE_OPS] = {0, 1};
    struct plan_columns columns;
    double rows[3][64], guesses[64], spreads[64];
    MUST(plan_columns_init(&made.question, NULL, arena, &columns));
    memset(gpu, 1, sizeof(gpu));
    plan_columns_fill(&columns, source, &none, rows[0]);
    plan_columns_fill(&columns, gpu, &none, rows[1]);
    plan_columns_fill(&columns, mixed, &none, rows[2]);
    const double *const list[] = {rows[0], rows[1]};
    const double values[] = {2 * 500e3, 18e3};
    plan_columns_guess(&columns, list, values, 2, guesses, spreads);
    cr_expect_float_eq(value_of(&columns, rows[0], guesses), 1000e3, 1);
    cr_expect_float_eq(value_of(&columns, rows[1], guesses), 18e3, 1);
    cr_expect_float_eq(value_of(&columns, rows[2], guesses), 2 * 400e3 + 2e3, 1);
    cr_expect_lt(spreads[1], columns.spreads[1], "it is as uncertain as it is large");
    plan_columns_guess(&columns, NULL, NULL, 0, guesses, spreads);
    cr_expect_float_eq(value_of(&columns, rows[0], guesses), 500e3, 1);
}

Test(plan_columns, a_divergence_is_shared_by_the_reduced_operators)
{
    const uint8_t is_reduced[] = {0, 1, 0};
    uint8_t places[MADE_OPS];
    struct plan_columns columns;
    double row[64], guesses[64], spreads[64];
    MUST(plan_columns_init(&made.question, is_reduced, arena, &columns));
    cr_assert_eq(columns.width, MADE_KINDS * 3);
    memset(places, 1, sizeof(places));
    plan_columns_fill(&columns, places, NULL, row);
    cr_expect_float_eq(row[0] + row[1] + row[2], MADE_LAYERS, 1e-12);
    const double *const list[] = {row};
    plan_columns_guess(&columns, list, (const double[]){0.8}, 1, guesses, spreads);
    cr_expect_float_eq(guesses[0], 0.8 / MADE_OPS, 1e-12);
    memset(places, 2, sizeof(places));
    double wide[64];
    plan_columns_fill(&columns, places, NULL, wide);
    cr_expect_eq(value_of(&columns, wide, guesses), 0);
}
