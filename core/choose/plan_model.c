// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_model.h"

#include "base/alloc.h"
#include "base/arena.h"

#include <math.h>

static const double LEAST = 1e-300; // Of a pivot: rows that say the same are no reason to fail.

static double dot(const struct plan_model_input *input, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < input->width; i++) {
        sum += a[i] * input->spreads[i] * input->spreads[i] * b[i];
    }
    return sum;
}

static double guess(const struct plan_model_input *input, const double *row)
{
    double sum = 0;
    for (size_t i = 0; i < input->width; i++) {
        sum += row[i] * input->guesses[i];
    }
    return sum;
}

// The lower factor of the matrix in `a`, in place.
static void factorise(double *a, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * count + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * count + k] * a[j * count + k];
            }
            a[i * count + j] = i == j ? sqrt(fmax(sum, LEAST)) : sum / a[j * count + j];
        }
    }
}

// Solves with the lower factor, in place.
static void solve_lower(const double *a, size_t count, double *io_x)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            io_x[i] -= a[i * count + k] * io_x[k];
        }
        io_x[i] /= a[i * count + i];
    }
}

// And with its transposed.
static void solve_upper(const double *a, size_t count, double *io_x)
{
    for (size_t i = count; i-- > 0;) {
        for (size_t k = i + 1; k < count; k++) {
            io_x[i] -= a[k * count + i] * io_x[k];
        }
        io_x[i] /= a[i * count + i];
    }
}

static void fill(struct plan_model *model)
{
    const struct plan_model_input *input = model->input;
    for (size_t i = 0; i < input->count; i++) {
        for (size_t j = 0; j <= i; j++) {
            model->factor[i * input->count + j] = dot(input, input->rows[i], input->rows[j]);
        }
        model->factor[i * input->count + i] += input->noises[i] * input->noises[i];
        model->scratch[i] = input->values[i] - guess(input, input->rows[i]);
    }
}

static void find_weights(struct plan_model *model)
{
    const struct plan_model_input *input = model->input;
    for (size_t i = 0; i < input->width; i++) {
        double sum = 0;
        for (size_t row = 0; row < input->count; row++) {
            sum += input->rows[row][i] * model->scratch[row];
        }
        model->weights[i] = input->guesses[i] + input->spreads[i] * input->spreads[i] * sum;
    }
}

tapml_status plan_model_fit(const struct plan_model_input *input,
                            struct arena *arena,
                            struct plan_model *out_model)
{
    struct plan_model model = {
        .input = input,
        .weights = arena_array(arena, input->width + 1, sizeof(double)),
        .factor = arena_array(arena, input->count * input->count + 1, sizeof(double)),
        .scratch = arena_array(arena, input->count + 1, sizeof(double))};
    if (!model.weights || !model.factor || !model.scratch) {
        return status_no_memory();
    }
    fill(&model);
    factorise(model.factor, input->count);
    solve_lower(model.factor, input->count, model.scratch);
    solve_upper(model.factor, input->count, model.scratch);
    find_weights(&model);
    *out_model = model;
    return TAPML_OK;
}

double plan_model_predict(const struct plan_model *model, const double *row)
{
    double sum = 0;
    for (size_t i = 0; i < model->input->width; i++) {
        sum += row[i] * model->weights[i];
    }
    return sum;
}

double plan_model_spread(const struct plan_model *model, const double *row)
{
    const struct plan_model_input *input = model->input;
    double variance = dot(input, row, row);
    for (size_t i = 0; i < input->count; i++) {
        model->scratch[i] = dot(input, row, input->rows[i]);
    }
    solve_lower(model->factor, input->count, model->scratch);
    for (size_t i = 0; i < input->count; i++) {
        variance -= model->scratch[i] * model->scratch[i];
    }
    return sqrt(fmax(variance, 0));
}

// -- Ranks -------------------------------------------------------------------------------------

// Ranks from 1, equal numbers with the mean of theirs.
static void rank(const double *values, size_t count, double *out_ranks)
{
    for (size_t i = 0; i < count; i++) {
        size_t below = 0, equal = 0;
        for (size_t k = 0; k < count; k++) {
            below += values[k] < values[i];
            equal += values[k] == values[i];
        }
        out_ranks[i] = (double)below + ((double)equal + 1) / 2;
    }
}

static double correlate(const double *a, const double *b, size_t count)
{
    const double mean = ((double)count + 1) / 2;
    double products = 0, squares_a = 0, squares_b = 0;
    for (size_t i = 0; i < count; i++) {
        products += (a[i] - mean) * (b[i] - mean);
        squares_a += (a[i] - mean) * (a[i] - mean);
        squares_b += (b[i] - mean) * (b[i] - mean);
    }
    return squares_a > 0 && squares_b > 0 ? products / sqrt(squares_a * squares_b) : NAN;
}

tapml_status
plan_model_correlate(const double *a, const double *b, size_t count, double *out_correlation)
{
    double *ranks = alloc_array(2 * count + 1, sizeof(*ranks));
    if (!ranks) {
        return status_no_memory();
    }
    rank(a, count, ranks);
    rank(b, count, ranks + count);
    *out_correlation = correlate(ranks, ranks + count, count);
    alloc_free(ranks);
    return TAPML_OK;
}
