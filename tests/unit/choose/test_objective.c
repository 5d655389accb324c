// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/objective.h"

#include <criterion/criterion.h>
#include <math.h>

// Three points in a row, 0 - 1 - 2, with similarities 0.5 and 1.
static uint64_t begin[] = {0, 1, 3, 4};
static uint32_t others[] = {1, 0, 2, 1};
static float similarities[] = {0.5f, 0.5f, 1, 1};
static const struct nearest_graph graph = {
    .count = 3, .begin = begin, .others = others, .similarities = similarities};
static const double utilities[] = {1, 0.25, 0.75};

Test(objective, a_pair_takes_its_similarity_once)
{
    const struct objective objective = {&graph, utilities, NULL, 0.5};
    cr_expect_float_eq(objective_value(&objective, (const uint8_t[]){1, 1, 1}), 2 - 0.75, 1e-12);
    cr_expect_float_eq(objective_value(&objective, (const uint8_t[]){1, 0, 1}), 1.75, 1e-12);
    cr_expect_float_eq(objective_gain(&objective, (const uint8_t[]){1, 0, 0}, 1), 0, 1e-12);
    cr_expect_float_eq(objective_gain(&objective, NULL, 1), 0.25 - 0.75, 1e-12);
    cr_expect_eq(objective_value(&objective, (const uint8_t[]){0, 0, 0}), 0);
}

// Of all choices within the budget, the certificate's bound is above each.
static void expect_bounds(const struct objective *objective, double budget)
{
    double best = 0;
    for (unsigned set = 0; set < 8; set++) {
        const uint8_t is_in[] = {set & 1, set >> 1 & 1, set >> 2 & 1};
        double cost = 0;
        for (size_t i = 0; i < 3; i++) {
            cost += is_in[i] ? objective_cost(objective, i) : 0;
        }
        best = cost <= budget ? fmax(best, objective_value(objective, is_in)) : best;
    }
    for (unsigned set = 0; set < 8; set++) {
        const uint8_t is_in[] = {set & 1, set >> 1 & 1, set >> 2 & 1};
        struct objective_certificate certificate;
        cr_assert_eq(objective_certify(objective, is_in, budget, &certificate), TAPML_OK);
        cr_expect_geq(certificate.most + 1e-12, best, "choice %u, budget %g", set, budget);
        cr_expect_float_eq(certificate.value, objective_value(objective, is_in), 1e-12);
    }
}

Test(objective, no_choice_is_above_the_bound)
{
    static const double costs[] = {2, 0.5, 1};
    for (double weight = 0; weight <= 2; weight += 0.5) {
        for (double budget = 0.5; budget <= 3; budget += 0.5) {
            expect_bounds(&(struct objective){&graph, utilities, NULL, weight}, budget);
            expect_bounds(&(struct objective){&graph, utilities, costs, weight}, budget);
        }
    }
}

// Where points take nothing from each other, what is left to gain says more than utilities.
Test(objective, the_bound_that_is_used_is_said)
{
    const struct objective objective = {&graph, utilities, NULL, 0.1};
    struct objective_certificate certificate;
    cr_assert_eq(objective_certify(&objective, (const uint8_t[]){1, 1, 1}, 3, &certificate),
                 TAPML_OK);
    cr_expect_eq(certificate.bound, OBJECTIVE_BY_GAINS);
    cr_expect_float_eq(certificate.share, 1, 1e-9);
    cr_assert_eq(objective_certify(&objective, (const uint8_t[]){1, 0, 1}, 2, &certificate),
                 TAPML_OK);
    cr_expect_eq(certificate.bound, OBJECTIVE_BY_UTILITIES);
    cr_expect_float_eq(certificate.share, 1, 1e-9);
}
