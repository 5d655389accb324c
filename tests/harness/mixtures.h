// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Fixtures of the ops of mixtures of experts, for the reference and for every other backend. What
// includes this defines CHECK(fixture, rows, count, expected), which frees `expected`, and SUITE.
#pragma once

#include "harness/formulas.h"
#include "harness/op_fixture.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>

enum { EXPERTS = 5, PANELS = EXPERTS };

struct mixture {
    int64_t tokens, k, in, out, slots;
    uint32_t dtype;
    int has_biases, transposed;
};

// The same weight for each expert but for its seed, as a list of operands.
static void make_list(struct op_fixture_argument *argument,
                      struct operand_spec *rest,
                      uint32_t dtype,
                      int64_t rows,
                      int64_t width,
                      double **values)
{
    for (size_t e = 0; e < EXPERTS; e++) {
        values[e] = op_fixture_values(40 + e, dtype, (size_t)(rows * width));

        const struct operand_spec spec = rows > 1 ? op_fixture_rows(dtype, rows, width, values[e])
                                                  : op_fixture_row(dtype, width, values[e]);

        if (e == 0) {
            argument->tensor = spec;
        } else {
            rest[e - 1] = spec;
        }
    }
    rest[EXPERTS - 1] = (struct operand_spec){.rank = 0};
    argument->panels = rest;
}

static void check_mixture(const struct mixture *m)
{
    const size_t rows = (size_t)(m->tokens * m->k);
    struct op_fixture fixture = {.op = &tapml_linear_experts, .output = TAPML_LINEAR_EXPERTS_Y};
    struct op_fixture_argument *arguments = fixture.arguments;
    struct operand_spec weights[PANELS], biases[PANELS];
    double *w[EXPERTS], *b[EXPERTS] = {NULL};
    double *x = op_fixture_values(31, TAPML_F32, (size_t)(m->tokens * m->slots * m->in));
    double *indices = calloc(rows, sizeof(*indices));
    double *expected = calloc(rows * (size_t)m->out, sizeof(*expected));

    cr_assert(indices != NULL && expected != NULL);
    for (size_t i = 0; i < rows; i++) {
        indices[i] = (double)((i * 7 + i / 3) % EXPERTS);
    }
    arguments[TAPML_LINEAR_EXPERTS_X].tensor =
        op_fixture_spread(op_fixture_heads(TAPML_F32, m->tokens, m->slots, m->in, x), 3, 2);
    arguments[TAPML_LINEAR_EXPERTS_INDICES].tensor =
        op_fixture_rows(TAPML_I32, m->tokens, m->k, indices);
    make_list(&arguments[TAPML_LINEAR_EXPERTS_W], weights, m->dtype, m->transposed ? m->in : m->out,
              m->transposed ? m->out : m->in, w);
    if (m->has_biases) {
        make_list(&arguments[TAPML_LINEAR_EXPERTS_B], biases, m->dtype, 1, m->out, b);
    }
    arguments[TAPML_LINEAR_EXPERTS_TRANSPOSED].i64 = m->transposed;
    arguments[TAPML_LINEAR_EXPERTS_Y].tensor =
        op_fixture_heads(TAPML_F32, m->tokens, m->k, m->out, NULL);
    formulas_linear_experts(
        &(struct formulas_linear_experts){
            (size_t)m->tokens, (size_t)m->k, (size_t)m->in, (size_t)m->out, (size_t)m->slots, x,
            indices, (const double *const *)w, m->has_biases ? (const double *const *)b : NULL,
            m->transposed},
        expected);
    CHECK(&fixture, rows, rows * (size_t)m->out, expected);
    for (size_t e = 0; e < EXPERTS; e++) {
        free(w[e]);
        free(b[e]);
    }
    free(x);
    free(indices);
}

static const struct mixture mixtures[] = {
    {1, 1, 8, 8, 1, TAPML_F32, 0, 0},    {3, 2, 24, 17, 1, TAPML_BF16, 1, 0},
    {5, 3, 33, 40, 3, TAPML_F16, 1, 1},  {19, 4, 64, 7, 4, TAPML_F32, 1, 0},
    {2, 5, 300, 9, 1, TAPML_BF16, 0, 1}, {3, 2, 64, 17, 1, OPERAND_Q8, 0, 0},
    {5, 3, 33, 96, 3, OPERAND_Q4, 0, 1},
};

static void check_route(size_t tokens, size_t experts, size_t k, int renormalise, int topk)
{
    double *scores = op_fixture_values(5, TAPML_F32, tokens * experts);
    double *indices = calloc(tokens * k, sizeof(*indices));
    double *weights = calloc(tokens * k, sizeof(*weights));
    struct op_fixture fixture = {.op = topk ? &tapml_route_topk : &tapml_route_softmax};
    const uint32_t outputs = topk ? TAPML_ROUTE_TOPK_INDICES : TAPML_ROUTE_SOFTMAX_INDICES;

    cr_assert(indices != NULL && weights != NULL);
    for (size_t t = 0; experts > 2 && t < tokens; t += 2) {
        scores[t * experts + 2] = scores[t * experts + 1]; // Equal ones.
    }
    fixture.arguments[0].tensor = op_fixture_spread(
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)experts, scores), 1, 3);
    fixture.arguments[1].i64 = (int64_t)k;
    fixture.arguments[2].i64 = renormalise; // Of route_topk that is an output.
    fixture.arguments[outputs].tensor =
        op_fixture_rows(TAPML_I32, (int64_t)tokens, (int64_t)k, NULL);
    fixture.arguments[outputs + 1].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)k, NULL);
    formulas_route(&(struct formulas_route){tokens, experts, k, scores, renormalise, topk}, indices,
                   weights);
    fixture.output = outputs;
    CHECK(&fixture, tokens, tokens * k, indices);
    fixture.output = outputs + 1;
    CHECK(&fixture, tokens, tokens * k, weights);
    free(scores);
}

// From groups: with a bias of each type, with ties, with one group and with groups of one.
struct grouping {
    int64_t tokens, groups, size, kept, k;
    uint32_t bias; // Its type, of sigmoids; 0: none.
    int is_sigmoid, renormalise;
};

static void check_groups(const struct grouping *g)
{
    const size_t experts = (size_t)(g->groups * g->size), count = (size_t)(g->tokens * g->k);
    double *scores = op_fixture_values(9, TAPML_F32, (size_t)g->tokens * experts);
    double *bias = g->bias != 0 ? op_fixture_values(10, g->bias, experts) : NULL;
    double *indices = calloc(count, sizeof(*indices)), *weights = calloc(count, sizeof(*weights));
    struct op_fixture fixture = {.op = g->is_sigmoid ? &tapml_route_sigmoid : &tapml_route_groups};
    struct op_fixture_argument *rest =
        &fixture.arguments[g->is_sigmoid ? TAPML_ROUTE_SIGMOID_KEPT : TAPML_ROUTE_GROUPS_KEPT];
    const uint32_t outputs =
        g->is_sigmoid ? TAPML_ROUTE_SIGMOID_INDICES : TAPML_ROUTE_GROUPS_INDICES;

    cr_assert(indices != NULL && weights != NULL);
    for (int64_t t = 0; bias == NULL && experts > 2 && t < g->tokens; t += 2) {
        scores[t * (int64_t)experts + 2] = scores[t * (int64_t)experts + 1]; // Equal ones.
    }
    fixture.arguments[0].tensor =
        op_fixture_spread(op_fixture_heads(TAPML_F32, g->tokens, g->groups, g->size, scores), 1, 3);
    if (bias != NULL) {
        fixture.arguments[TAPML_ROUTE_SIGMOID_BIAS].tensor =
            op_fixture_rows(g->bias, g->groups, g->size, bias);
    }
    rest[0].i64 = g->kept;
    rest[1].i64 = g->k;
    rest[2].i64 = g->renormalise; // Of route_groups that is an output.
    fixture.arguments[outputs].tensor = op_fixture_rows(TAPML_I32, g->tokens, g->k, NULL);
    fixture.arguments[outputs + 1].tensor = op_fixture_rows(TAPML_F32, g->tokens, g->k, NULL);
    formulas_route_groups(&(struct formulas_route_groups){(size_t)g->tokens, (size_t)g->groups,
                                                          (size_t)g->size, (size_t)g->kept,
                                                          (size_t)g->k, scores, bias, g->is_sigmoid,
                                                          g->renormalise},
                          indices, weights);
    fixture.output = outputs;
    CHECK(&fixture, (size_t)g->tokens, count, indices);
    fixture.output = outputs + 1;
    CHECK(&fixture, (size_t)g->tokens, count, weights);
    free(scores);
    free(bias);
}

Test(SUITE, routes_from_groups)
{
    static const struct grouping groupings[] = {
        {1, 1, 1, 1, 1, 0, 1, 1},           {3, 4, 2, 2, 3, TAPML_F32, 1, 1},
        {70, 8, 32, 4, 8, TAPML_F32, 1, 1}, {5, 3, 5, 2, 7, TAPML_BF16, 1, 0},
        {4, 6, 1, 3, 2, TAPML_F16, 1, 1},   {9, 1, 20, 1, 4, 0, 1, 1},
        {1, 1, 1, 1, 1, 0, 0, 0},           {3, 4, 2, 2, 3, 0, 0, 0},
        {70, 8, 20, 3, 6, 0, 0, 0},         {5, 3, 5, 3, 15, 0, 0, 0},
        {4, 6, 1, 3, 2, 0, 0, 0},           {2, 2, 150, 1, 5, 0, 0, 0},
    };

    for (size_t i = 0; i < sizeof(groupings) / sizeof(*groupings); i++) {
        check_groups(&groupings[i]);
    }
}

// The two outputs of a route, the last arguments.
static void check_outputs(struct op_fixture *fixture,
                          uint32_t outputs,
                          size_t tokens,
                          size_t k,
                          double *const expected[2])
{
    fixture->arguments[outputs].tensor =
        op_fixture_rows(TAPML_I32, (int64_t)tokens, (int64_t)k, NULL);
    fixture->arguments[outputs + 1].tensor =
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)k, NULL);
    for (uint32_t i = 0; i < 2; i++) {
        fixture->output = outputs + i;
        CHECK(fixture, tokens, tokens * k, expected[i]);
    }
}

static void check_biased(size_t tokens, size_t experts, size_t k, uint32_t dtype, double least)
{
    double *scores = op_fixture_values(5, TAPML_F32, tokens * experts);
    double *bias = dtype != 0 ? op_fixture_values(10, dtype, experts) : NULL;
    double *const expected[] = {calloc(tokens * k, sizeof(double)),
                                calloc(tokens * k, sizeof(double))};
    struct op_fixture fixture = {.op = &tapml_route_biased};

    cr_assert(expected[0] != NULL && expected[1] != NULL);
    for (size_t t = 0; bias == NULL && experts > 2 && t < tokens; t += 2) {
        scores[t * experts + 2] = scores[t * experts + 1]; // Equal ones.
    }
    fixture.arguments[TAPML_ROUTE_BIASED_SCORES].tensor = op_fixture_spread(
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)experts, scores), 1, 3);
    if (bias != NULL) {
        fixture.arguments[TAPML_ROUTE_BIASED_BIAS].tensor =
            op_fixture_row(dtype, (int64_t)experts, bias);
    }
    fixture.arguments[TAPML_ROUTE_BIASED_K].i64 = (int64_t)k;
    fixture.arguments[TAPML_ROUTE_BIASED_LEAST].f64 = least;
    formulas_route_biased(&(struct formulas_route_biased){tokens, experts, k, scores, bias, least},
                          expected[0], expected[1]);
    check_outputs(&fixture, TAPML_ROUTE_BIASED_INDICES, tokens, k, expected);
    free(scores);
    free(bias);
}

Test(SUITE, routes_with_a_bias)
{
    check_biased(1, 1, 1, 0, 1e-12);
    check_biased(3, 4, 2, TAPML_F32, 1e-12);
    check_biased(70, 64, 6, TAPML_F32, 0);
    check_biased(5, 6, 3, TAPML_BF16, 0.9);
    check_biased(4, 300, 8, TAPML_F16, 0.03125);
    check_biased(9, 7, 7, 0, 0.5);
}

static void check_sparsemixer(size_t tokens, size_t experts, size_t k, double jitter)
{
    double *scores = op_fixture_values(5, TAPML_F32, tokens * experts);
    double *const expected[] = {calloc(tokens * k, sizeof(double)),
                                calloc(tokens * k, sizeof(double))};
    struct op_fixture fixture = {.op = &tapml_route_sparsemixer};

    cr_assert(expected[0] != NULL && expected[1] != NULL);
    for (size_t t = 0; experts > 2 && t < tokens; t += 2) {
        scores[t * experts + 2] = scores[t * experts + 1]; // Equal ones.
    }
    fixture.arguments[TAPML_ROUTE_SPARSEMIXER_SCORES].tensor = op_fixture_spread(
        op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)experts, scores), 1, 3);
    fixture.arguments[TAPML_ROUTE_SPARSEMIXER_K].i64 = (int64_t)k;
    fixture.arguments[TAPML_ROUTE_SPARSEMIXER_JITTER].f64 = jitter;
    formulas_route_sparsemixer(
        &(struct formulas_route){.tokens = tokens, .experts = experts, .k = k, .scores = scores},
        jitter, expected[0], expected[1]);
    check_outputs(&fixture, TAPML_ROUTE_SPARSEMIXER_INDICES, tokens, k, expected);
    free(scores);
}

Test(SUITE, routes_among_near_ones)
{
    check_sparsemixer(1, 1, 1, 0.0);
    check_sparsemixer(3, 4, 2, 0.4);
    check_sparsemixer(70, 16, 2, 0.01);
    check_sparsemixer(5, 300, 8, 0.25);
    check_sparsemixer(4, 6, 6, 1.0);
    check_sparsemixer(9, 7, 3, 0.0);
}

Test(SUITE, linear_experts)
{
    for (size_t i = 0; i < sizeof(mixtures) / sizeof(*mixtures); i++) {
        check_mixture(&mixtures[i]);
    }
}

Test(SUITE, linear_experts_in_every_encoding_of_devices)
{
    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        const struct mixture mixture = {3, 2, 256, 9, 1, OPERAND_ENCODED(e), 0, 0};

        if (codec_at(e)->spread == NULL) {
            check_mixture(&mixture);
        }
    }
}

Test(SUITE, routes)
{
    static const size_t tokens[] = {1, 3, 70}, experts[] = {1, 4, 6, 300}, chosen[] = {1, 2, 3, 8};

    for (size_t i = 0; i < 12; i++) {
        const size_t count = experts[i % 4];
        const size_t k = chosen[i % 4] < count ? chosen[i % 4] : count;

        check_route(tokens[i / 4], count, k, 0, 0);
        check_route(tokens[i / 4], count, k, 1, 0);
        check_route(tokens[i / 4], count, k, 0, 1);
    }
}

Test(SUITE, weighted_sum)
{
    static const size_t sizes[][3] = {{1, 1, 1}, {3, 2, 33}, {5, 8, 64}, {70, 3, 7}};

    for (size_t i = 0; i < 4; i++) {
        const size_t tokens = sizes[i][0], k = sizes[i][1], width = sizes[i][2];
        double *x = op_fixture_values(1, TAPML_F32, tokens * k * width);
        double *weights = op_fixture_values(2, TAPML_F32, tokens * k);
        double *expected = calloc(tokens * width, sizeof(*expected));
        struct op_fixture fixture = {.op = &tapml_weighted_sum, .output = TAPML_WEIGHTED_SUM_Y};

        cr_assert_not_null(expected);
        fixture.arguments[TAPML_WEIGHTED_SUM_X].tensor = op_fixture_spread(
            op_fixture_heads(TAPML_F32, (int64_t)tokens, (int64_t)k, (int64_t)width, x), 2, 3);
        fixture.arguments[TAPML_WEIGHTED_SUM_WEIGHTS].tensor =
            op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)k, weights);
        fixture.arguments[TAPML_WEIGHTED_SUM_Y].tensor =
            op_fixture_rows(TAPML_F32, (int64_t)tokens, (int64_t)width, NULL);
        formulas_weighted_sum(tokens, k, width, x, weights, expected);
        CHECK(&fixture, tokens, tokens * width, expected);
        free(x);
        free(weights);
    }
}
