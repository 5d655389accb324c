// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/time_model.h"

#include "base/arena.h"
#include "choose/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, GROUPS_MAX = 512 };

static const double PENALTIES[] = {0.01, 0.1, 1, 10, 100};
enum { PENALTY_COUNT = sizeof(PENALTIES) / sizeof(*PENALTIES) };

// X'X and X'y of some rows. A row has FEATURE_COUNT numbers, a 1 for its group, and a 1.
struct gram {
    double *squares; // width x width, the lower triangle.
    double *targets; // width
};

struct fitting {
    const uint32_t *groups;
    const double *times_ns;
    const float *vectors;
    size_t count, group_count, width;
    struct gram folds[FOLDS];
    struct gram sum; // Of all but one.
    double *weights;
    double *ratios; // log(predicted / measured) of known times, held out.
};

static size_t fold_of(size_t index)
{
    return (size_t)(((uint64_t)index * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % FOLDS;
}

// Groups behind the last one that has a column share the intercept alone.
static size_t column_of(const struct fitting *fitting, size_t index)
{
    const size_t group = fitting->groups[index];
    return group < fitting->group_count ? FEATURE_COUNT + group : fitting->width;
}

static void add_row(const struct fitting *fitting, struct gram *gram, size_t index)
{
    const size_t width = fitting->width, column = column_of(fitting, index);
    const float *row = fitting->vectors + index * FEATURE_COUNT;
    const double target = log(fitting->times_ns[index]);
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        for (size_t j = 0; j <= i; j++) {
            gram->squares[i * width + j] += (double)row[i] * (double)row[j];
        }
        gram->targets[i] += (double)row[i] * target;
        gram->squares[(width - 1) * width + i] += (double)row[i];
    }
    if (column < width) {
        for (size_t i = 0; i < FEATURE_COUNT; i++) {
            gram->squares[column * width + i] += (double)row[i];
        }
        gram->squares[column * width + column] += 1;
        gram->squares[(width - 1) * width + column] += 1;
        gram->targets[column] += target;
    }
    gram->squares[width * width - 1] += 1;
    gram->targets[width - 1] += target;
}

static void add_gram(const struct fitting *fitting, struct gram *to, const struct gram *from)
{
    const size_t width = fitting->width;
    for (size_t i = 0; i < width * width; i++) {
        to->squares[i] += from->squares[i];
    }
    for (size_t i = 0; i < width; i++) {
        to->targets[i] += from->targets[i];
    }
}

// Solves for the weights by Cholesky's factors, in place. The intercept has next to no penalty.
static void solve(const struct fitting *fitting, const struct gram *gram, double penalty)
{
    const size_t width = fitting->width;
    double *a = gram->squares, *w = fitting->weights;
    for (size_t i = 0; i < width; i++) {
        a[i * width + i] += i + 1 < width ? penalty : 1e-9;
    }
    for (size_t i = 0; i < width; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * width + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * width + k] * a[j * width + k];
            }
            a[i * width + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / a[j * width + j];
        }
    }
    for (size_t i = 0; i < width; i++) {
        double sum = gram->targets[i];
        for (size_t k = 0; k < i; k++) {
            sum -= a[i * width + k] * w[k];
        }
        w[i] = sum / a[i * width + i];
    }
    for (size_t i = width; i-- > 0;) {
        double sum = w[i];
        for (size_t k = i + 1; k < width; k++) {
            sum -= a[k * width + i] * w[k];
        }
        w[i] = sum / a[i * width + i];
    }
}

// Fits to all rows but those of one fold; FOLDS: to all.
static void fit(const struct fitting *fitting, size_t left_out, double penalty)
{
    const size_t width = fitting->width;
    memset(fitting->sum.squares, 0, width * width * sizeof(double));
    memset(fitting->sum.targets, 0, width * sizeof(double));
    for (size_t fold = 0; fold < FOLDS; fold++) {
        if (fold != left_out) {
            struct gram sum = fitting->sum;
            add_gram(fitting, &sum, &fitting->folds[fold]);
        }
    }
    solve(fitting, &fitting->sum, penalty);
}

static double predict(const struct fitting *fitting, size_t index)
{
    const float *row = fitting->vectors + index * FEATURE_COUNT;
    const size_t column = column_of(fitting, index);
    double sum = fitting->weights[fitting->width - 1];
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        sum += fitting->weights[i] * (double)row[i];
    }
    return sum + (column < fitting->width ? fitting->weights[column] : 0);
}

static int by_size(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

// The held-out errors of a penalty.
static void hold_out(const struct fitting *fitting, double penalty, struct time_model *out_model)
{
    double squares = 0, predicted = 0, measured = 0;
    size_t known = 0;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        fit(fitting, fold, penalty);
        for (size_t i = 0; i < fitting->count; i++) {
            if (!(fitting->times_ns[i] > 0) || fold_of(i) != fold) {
                continue;
            }
            const double guess = predict(fitting, i);
            const double ratio = guess - log(fitting->times_ns[i]);
            squares += ratio * ratio;
            predicted += exp(guess);
            measured += fitting->times_ns[i];
            fitting->ratios[known++] = fabs(ratio);
        }
    }
    qsort(fitting->ratios, known, sizeof(*fitting->ratios), by_size);
    *out_model = (struct time_model){.known = known,
                                     .penalty = penalty,
                                     .error = sqrt(squares / (double)known),
                                     .factor = exp(fitting->ratios[known / 2]),
                                     .total = predicted / measured};
}

static void fit_best(struct fitting *fitting, struct time_model *model)
{
    struct time_model best = {.error = INFINITY, .penalty = 1};
    for (size_t i = 0; i < fitting->count; i++) {
        if (fitting->times_ns[i] > 0) {
            add_row(fitting, &fitting->folds[fold_of(i)], i);
        }
    }
    for (size_t i = 0; i < PENALTY_COUNT; i++) {
        struct time_model tried;
        hold_out(fitting, PENALTIES[i], &tried);
        best = tried.error < best.error ? tried : best;
    }
    fit(fitting, FOLDS, best.penalty);
    best.times_ns = model->times_ns;
    for (size_t i = 0; i < fitting->count; i++) {
        // The exponential of a mean is below the mean: the held-out sum says by how much.
        best.times_ns[i] = exp(predict(fitting, i)) / best.total;
    }
    *model = best;
}

static int make_grams(struct fitting *fitting, struct arena *arena)
{
    const size_t width = fitting->width;
    int has_memory = 1;
    for (size_t fold = 0; fold <= FOLDS; fold++) {
        struct gram *gram = fold < FOLDS ? &fitting->folds[fold] : &fitting->sum;
        gram->squares = arena_array(arena, width * width, sizeof(double));
        gram->targets = arena_array(arena, width, sizeof(double));
        has_memory = has_memory && gram->squares && gram->targets;
    }
    fitting->weights = arena_array(arena, width, sizeof(double));
    fitting->ratios = arena_array(arena, fitting->count + 1, sizeof(double));
    return has_memory && fitting->weights && fitting->ratios;
}

static tapml_status fit_in(const struct feature_case *cases,
                           struct fitting *fitting,
                           struct arena *own,
                           struct time_model *model)
{
    float *vectors = NULL;
    TAPML_TRY(vectors_make(cases, fitting->count, NULL, 1, own, &vectors));
    fitting->vectors = vectors;
    if (!make_grams(fitting, own)) {
        return status_no_memory();
    }
    fit_best(fitting, model);
    return TAPML_OK;
}

tapml_status time_model_fit(const struct time_model_input *input,
                            struct arena *arena,
                            struct time_model *out_model,
                            int *out_has)
{
    const size_t count = input->count;
    const size_t columns = input->group_count < GROUPS_MAX ? input->group_count : GROUPS_MAX;
    struct fitting fitting = {.groups = input->groups,
                              .times_ns = input->times_ns,
                              .count = count,
                              .group_count = columns,
                              .width = FEATURE_COUNT + columns + 1};
    struct time_model model = {.times_ns = arena_array(arena, count + 1, sizeof(double))};
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        known += input->times_ns[i] > 0;
    }
    if (known < TIME_MODEL_LEAST) {
        *out_has = 0;
        return TAPML_OK;
    }
    struct arena *own = arena_create();
    const tapml_status status =
        own && model.times_ns ? fit_in(input->cases, &fitting, own, &model) : status_no_memory();
    arena_destroy(own);
    if (status == TAPML_OK) {
        *out_model = model;
        *out_has = 1;
    }
    return status;
}
