// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Fixtures of the ops of recurrent layers, for the reference and for every other backend. What
// includes this defines CHECK(fixture, rows, count, expected), which frees `expected`, and SUITE.
#pragma once

#include "harness/formulas.h"
#include "harness/op_fixture.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *zeros(size_t count)
{
    double *values = calloc(count > 0 ? count : 1, sizeof(*values));

    cr_assert_not_null(values);
    return values;
}

static double *copy_of(const double *values, size_t count)
{
    double *copy = zeros(count);

    memcpy(copy, values, count * sizeof(*copy));
    return copy;
}

struct convolution {
    int64_t tokens, width, taps;
    uint32_t w, b; // Their types; without a bias 0.
    int is_slice;
};

// Both what comes out and the tail that stays.
static void check_convolution(const struct convolution *c)
{
    const size_t count = (size_t)(c->tokens * c->width), kept = (size_t)((c->taps - 1) * c->width);
    double *x = op_fixture_values(1, TAPML_F32, count);
    double *w = op_fixture_values(2, c->w, (size_t)(c->width * c->taps));
    double *b = c->b != 0 ? op_fixture_values(3, c->b, (size_t)c->width) : NULL;
    double *tail = op_fixture_values(4, TAPML_F32, kept), *after = copy_of(tail, kept);
    double *expected = zeros(count);
    struct op_fixture fixture = {.op = &tapml_conv1d_causal, .output = TAPML_CONV1D_CAUSAL_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    arguments[TAPML_CONV1D_CAUSAL_X].tensor = op_fixture_rows(TAPML_F32, c->tokens, c->width, x);
    arguments[TAPML_CONV1D_CAUSAL_W].tensor = op_fixture_rows(c->w, c->width, c->taps, w);
    arguments[TAPML_CONV1D_CAUSAL_TAIL].tensor =
        op_fixture_rows(TAPML_F32, c->taps - 1, c->width, tail);
    arguments[TAPML_CONV1D_CAUSAL_Y].tensor = op_fixture_rows(TAPML_F32, c->tokens, c->width, NULL);
    if (b != NULL) {
        arguments[TAPML_CONV1D_CAUSAL_B].tensor = op_fixture_row(c->b, c->width, b);
        arguments[TAPML_CONV1D_CAUSAL_B].tensor.lead = 1;
    }
    if (c->is_slice) {
        for (int i = 0; i < 2; i++) {
            struct operand_spec *spec =
                &arguments[i == 0 ? TAPML_CONV1D_CAUSAL_X : TAPML_CONV1D_CAUSAL_Y].tensor;

            *spec = op_fixture_spread(*spec, 3, 5);
        }
        arguments[TAPML_CONV1D_CAUSAL_TAIL].tensor =
            op_fixture_spread(arguments[TAPML_CONV1D_CAUSAL_TAIL].tensor, 1, 2);
        arguments[TAPML_CONV1D_CAUSAL_W].tensor =
            op_fixture_spread(arguments[TAPML_CONV1D_CAUSAL_W].tensor, 2, 3);
    }
    formulas_conv1d(&(struct formulas_conv1d){(size_t)c->tokens, (size_t)c->width, (size_t)c->taps,
                                              x, w, b, after},
                    expected);
    CHECK(&fixture, (size_t)c->tokens, count, expected);
    fixture.output = TAPML_CONV1D_CAUSAL_TAIL;
    CHECK(&fixture, (size_t)c->taps - 1, kept, after);
    free(x);
    free(w);
    free(b);
    free(tail);
}

Test(SUITE, conv1d_causal)
{
    static const struct convolution all[] = {
        {1, 1, 2, TAPML_F32, 0, 0},           {1, 128, 4, TAPML_F32, TAPML_F32, 1},
        {2, 33, 4, TAPML_BF16, TAPML_F16, 0}, {3, 7, 4, TAPML_F16, TAPML_BF16, 1},
        {5, 96, 3, TAPML_F32, 0, 1},          {12, 70, 2, TAPML_BF16, 0, 0},
        {70, 300, 7, TAPML_F16, 0, 1},        {4, 5, 300, TAPML_F32, TAPML_F32, 0},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        check_convolution(&all[i]);
    }
}

struct recurrence {
    int64_t tokens, heads, rows, width;
    int64_t r_heads, k_heads, kk_heads; // Without kk and a 0.
    int64_t decays, rates;
    int read_before, is_slice;
};

// Values of a gate: between 0 and 1.
static double *gates(uint64_t seed, size_t count)
{
    double *values = op_fixture_values(seed, TAPML_F32, count);

    for (size_t i = 0; i < count; i++) {
        values[i] = (float)(1 / (1 + exp(-values[i])));
    }
    return values;
}

// Heads whose length is about 1, as the rule of the difference wants them.
static double *unit_heads(uint64_t seed, size_t heads, size_t width)
{
    double *values = op_fixture_values(seed, TAPML_F32, heads * width);

    formulas_l2_norm(heads, width, values, 1e-6, values);
    for (size_t i = 0; i < heads * width; i++) {
        values[i] = (float)values[i];
    }
    return values;
}

static void place(const struct recurrence *c,
                  struct op_fixture_argument *argument,
                  int64_t heads,
                  int64_t width,
                  const double *values)
{
    argument->tensor = op_fixture_heads(TAPML_F32, c->tokens, heads, width, values);
    if (c->is_slice) {
        argument->tensor = op_fixture_spread(argument->tensor, 3, 2);
    }
}

static void check_recurrence(const struct recurrence *c)
{
    const size_t t = (size_t)c->tokens, h = (size_t)c->heads, n = (size_t)c->width;
    const size_t v_count = t * h * (size_t)c->rows, kept = h * (size_t)c->rows * n;
    const size_t kk_heads = (size_t)c->kk_heads;
    double *state = op_fixture_values(1, TAPML_F32, kept), *after = copy_of(state, kept);
    double *expected = zeros(v_count);
    double *r = op_fixture_values(2, TAPML_F32, t * (size_t)c->r_heads * n);
    double *k = op_fixture_values(3, TAPML_F32, t * (size_t)c->k_heads * n);
    double *kk = kk_heads > 0 ? unit_heads(4, t * kk_heads, n) : NULL;
    double *w = gates(5, t * h * (size_t)c->decays);
    double *a = kk_heads > 0 ? gates(6, t * h * (size_t)c->rates) : NULL;
    double *v = op_fixture_values(7, TAPML_F32, v_count);
    const struct formulas_scan op = {
        .tokens = t,
        .heads = h,
        .rows = (size_t)c->rows,
        .width = n,
        .r_heads = (size_t)c->r_heads,
        .k_heads = (size_t)c->k_heads,
        .kk_heads = kk_heads,
        .decays = (size_t)c->decays,
        .rates = (size_t)c->rates,
        .r = r,
        .k = k,
        .kk = kk,
        .w = w,
        .a = a,
        .v = v,
        .state = after,
        .read_before = c->read_before,
    };
    struct op_fixture fixture = {.op = &tapml_linear_scan, .output = TAPML_LINEAR_SCAN_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    place(c, &arguments[TAPML_LINEAR_SCAN_R], c->r_heads, c->width, op.r);
    place(c, &arguments[TAPML_LINEAR_SCAN_W], c->heads, c->decays, op.w);
    place(c, &arguments[TAPML_LINEAR_SCAN_K], c->k_heads, c->width, op.k);
    place(c, &arguments[TAPML_LINEAR_SCAN_V], c->heads, c->rows, op.v);
    if (kk_heads > 0) {
        place(c, &arguments[TAPML_LINEAR_SCAN_KK], c->kk_heads, c->width, op.kk);
        place(c, &arguments[TAPML_LINEAR_SCAN_A], c->heads, c->rates, op.a);
    }
    arguments[TAPML_LINEAR_SCAN_STATE].tensor =
        op_fixture_heads(TAPML_F32, c->heads, c->rows, c->width, state);
    arguments[TAPML_LINEAR_SCAN_STATE].tensor.lead = c->is_slice ? 5 : 0;
    arguments[TAPML_LINEAR_SCAN_READ_BEFORE].i64 = c->read_before;
    place(c, &arguments[TAPML_LINEAR_SCAN_Y], c->heads, c->rows, NULL);
    formulas_scan(&op, expected);
    CHECK(&fixture, t * h, v_count, expected);
    fixture.output = TAPML_LINEAR_SCAN_STATE;
    CHECK(&fixture, h * (size_t)c->rows, kept, after);
    free(r);
    free(k);
    free(kk);
    free(w);
    free(a);
    free(v);
    free(state);
}

Test(SUITE, linear_scan)
{
    static const struct recurrence all[] = {
        {1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0},    {5, 6, 16, 8, 2, 2, 0, 1, 0, 0, 1},
        {7, 24, 1, 16, 1, 1, 0, 16, 0, 0, 0}, {3, 4, 16, 8, 4, 2, 2, 1, 1, 0, 1},
        {12, 6, 8, 8, 6, 6, 6, 8, 8, 0, 0},   {4, 3, 5, 33, 3, 1, 3, 33, 1, 1, 1},
        {19, 2, 7, 70, 1, 2, 0, 70, 0, 1, 0}, {2, 2, 3, 300, 2, 2, 1, 1, 300, 0, 1},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        check_recurrence(&all[i]);
    }
}

struct mean {
    int64_t tokens, width;
    int has_past, is_slice;
    double height; // Of keys.
};

// Powers whose sums are exact in f32 and in f16, as long as they are not too high.
static void coarsen(double *values, size_t count, double height)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = height + round(64 * values[i]) / 64;
    }
}

static void check_mean(const struct mean *c)
{
    const size_t width = (size_t)c->width, count = (size_t)c->tokens * width;
    double *w = op_fixture_values(1, TAPML_F32, width), *u = op_fixture_values(2, TAPML_F32, width);
    double *k = op_fixture_values(3, TAPML_F32, count), *v = op_fixture_values(4, TAPML_F32, count);
    double *state = op_fixture_values(5, TAPML_F32, 3 * width), *expected = zeros(count);
    struct op_fixture fixture = {.op = &tapml_wkv4, .output = TAPML_WKV4_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    coarsen(w, width, 0);
    coarsen(u, width, 0);
    coarsen(k, count, c->height);
    coarsen(&state[2 * width], width, 0);
    for (size_t i = 0; i < width; i++) {
        w[i] = -fabs(w[i]);
        state[width + i] = (float)(fabs(state[width + i]) + 1);
    }
    for (size_t i = 0; i < 3 * width && !c->has_past; i++) {
        state[i] = 0;
    }
    for (size_t i = 0; i < count; i++) {
        v[i] = fabs(v[i]); // Sums do not cancel.
    }

    double *after = copy_of(state, 3 * width);

    arguments[TAPML_WKV4_W].tensor = op_fixture_row(TAPML_F32, c->width, w);
    arguments[TAPML_WKV4_U].tensor = op_fixture_row(TAPML_F32, c->width, u);
    arguments[TAPML_WKV4_K].tensor = op_fixture_rows(TAPML_F32, c->tokens, c->width, k);
    arguments[TAPML_WKV4_V].tensor = op_fixture_rows(TAPML_F32, c->tokens, c->width, v);
    arguments[TAPML_WKV4_STATE].tensor = op_fixture_rows(TAPML_F32, 3, c->width, state);
    arguments[TAPML_WKV4_Y].tensor = op_fixture_rows(TAPML_F32, c->tokens, c->width, NULL);
    if (c->is_slice) {
        arguments[TAPML_WKV4_STATE].tensor.lead = 5;
        for (int i = 0; i < 3; i++) {
            const int names[] = {TAPML_WKV4_K, TAPML_WKV4_V, TAPML_WKV4_Y};
            struct operand_spec *spec = &arguments[names[i]].tensor;

            *spec = op_fixture_spread(*spec, 3, 5);
        }
    }
    formulas_wkv4(&(struct formulas_wkv4){(size_t)c->tokens, width, w, u, k, v, after}, expected);
    CHECK(&fixture, (size_t)c->tokens, count, expected);
    fixture.output = TAPML_WKV4_STATE;
    CHECK(&fixture, 3, 3 * width, after);
    free(w);
    free(u);
    free(k);
    free(v);
    free(state);
}

// Powers of the highest keys are beyond f32, those of the lowest are 0 in it.
Test(SUITE, wkv4)
{
    static const struct mean all[] = {
        {1, 1, 0, 0, 0},  {1, 128, 1, 1, 0},  {5, 33, 0, 1, 0},     {12, 96, 1, 0, 0},
        {70, 7, 1, 0, 3}, {4, 70, 0, 1, 200}, {3, 300, 0, 0, -200},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        check_mean(&all[i]);
    }
}

// Of x [count, groups, width]: sums that do not cancel.
static void check_rows_of(int64_t count, int64_t groups, int64_t width, int is_slice)
{
    const size_t rows = (size_t)(count * groups), all = rows * (size_t)width;
    double *x = op_fixture_values(1, TAPML_F32, all), *unit = zeros(all), *total = zeros(rows);
    struct op_fixture norm = {.op = &tapml_l2_norm, .output = TAPML_L2_NORM_Y};
    struct op_fixture sum = {.op = &tapml_sum, .output = TAPML_SUM_Y};
    struct operand_spec spec = op_fixture_heads(TAPML_F32, count, groups, width, x);

    for (size_t i = 0; i < all; i++) {
        x[i] = fabs(x[i]);
    }
    spec = is_slice ? op_fixture_spread(spec, 1, 3) : spec;
    norm.arguments[TAPML_L2_NORM_X].tensor = spec;
    norm.arguments[TAPML_L2_NORM_EPS].f64 = 0.125;
    norm.arguments[TAPML_L2_NORM_Y].tensor =
        op_fixture_heads(TAPML_F32, count, groups, width, NULL);
    sum.arguments[TAPML_SUM_X].tensor = spec;
    sum.arguments[TAPML_SUM_Y].tensor = op_fixture_rows(TAPML_F32, count, groups, NULL);
    if (is_slice) {
        sum.arguments[TAPML_SUM_Y].tensor =
            op_fixture_spread(sum.arguments[TAPML_SUM_Y].tensor, 2, 1);
    }
    formulas_l2_norm(rows, (size_t)width, x, 0.125, unit);
    formulas_sum(rows, (size_t)width, x, total);
    CHECK(&norm, rows, all, unit);
    CHECK(&sum, (size_t)count, rows, total);
    free(x);
}

Test(SUITE, l2_norm_and_sum)
{
    static const int64_t sizes[][3] = {{1, 1, 1},   {3, 2, 7},    {11, 3, 8}, {5, 1, 96},
                                       {2, 4, 257}, {4, 5, 1000}, {7, 10, 4}};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        check_rows_of(sizes[i][0], sizes[i][1], sizes[i][2], i % 2 != 0);
    }
}
