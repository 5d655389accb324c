// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

// Experts are chosen one after the other as in route.c: the next one is the largest key behind the
// last, where equal ones stand in the order of their numbers.
struct route {
    enum reference_order order;
    const tapml_tensor *scores, *bias, *indices, *weights;
    size_t experts, chosen;
    real least;
};

// The scores of a token, and what makes parts of their softmax of them.
struct softmax {
    struct value_row scores;
    real top, total;
};

static real part_of(const struct softmax *softmax, size_t expert)
{
    const real score = value_read(softmax->scores, (ptrdiff_t)expert);

    return exp(score - softmax->top) / softmax->total;
}

static struct softmax softmax_of(const struct route *route, size_t token)
{
    struct softmax softmax = {.scores = value_of(route->scores, token)};

    softmax.top = value_read(softmax.scores, 0);
    for (size_t e = 1; e < route->experts; e++) {
        const real score = value_read(softmax.scores, (ptrdiff_t)e);

        softmax.top = score > softmax.top ? score : softmax.top;
    }
    for (size_t index = 0; index * ARITHMETIC_CHUNK < route->experts; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(route->order, route->experts, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];

        for (size_t e = piece.begin; e < piece.end; e++) {
            terms[e - piece.begin] =
                exp((real)value_read(softmax.scores, (ptrdiff_t)e) - softmax.top);
        }
        arithmetic_sum(route->order, terms, piece.end - piece.begin, &softmax.total);
    }
    return softmax;
}

static real key_of(const struct route *route, const struct softmax *softmax, size_t expert)
{
    float bias = 0;

    if (route->bias != NULL) {
        const unsigned char *row = value_row(route->bias, 0);
        const size_t bytes = TAPML_DT_BYTES(route->bias->dtype);

        value_widen(route->bias->dtype, row + expert * bytes, 1, &bias);
    }
    return part_of(softmax, expert) + bias;
}

static size_t
next_expert(const struct route *route, const struct softmax *softmax, size_t rank, size_t last)
{
    const real limit = key_of(route, softmax, last);
    size_t best = route->experts;
    real best_key = 0;

    for (size_t e = 0; e < route->experts; e++) {
        const real key = key_of(route, softmax, e);
        const bool is_behind = rank == 0 || key < limit || (key == limit && e > last);

        if (is_behind && (best == route->experts || key > best_key)) {
            best = e;
            best_key = key;
        }
    }
    return best < route->experts ? best : last; // Only what is no number leaves none.
}

static void route_token(const struct route *route, size_t token)
{
    const struct softmax softmax = softmax_of(route, token);
    const struct value_row weights = value_of(route->weights, token);
    int32_t *indices = value_row(route->indices, token);
    size_t last = 0;
    real sum = 0;

    for (size_t j = 0; j < route->chosen; j++) {
        last = next_expert(route, &softmax, j, last);
        indices[j] = (int32_t)last;
        sum += part_of(&softmax, last);
    }
    sum = sum > route->least ? sum : route->least;
    for (size_t j = 0; j < route->chosen; j++) {
        value_write(weights, (ptrdiff_t)j, (float)(part_of(&softmax, (size_t)indices[j]) / sum));
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t token = begin; token < end; token++) {
        route_token(job, (size_t)token);
    }
}

static tapml_status route_biased(TAPML_ROUTE_BIASED_PARAMS)
{
    struct route route = {
        .order = reference_device_of(queue)->order,
        .scores = scores,
        .bias = bias,
        .indices = indices,
        .weights = weights,
        .experts = value_width(scores),
        .chosen = value_width(indices),
        .least = (real)least,
    };
    const struct work work = {
        .count = value_row_count(scores),
        .unit_cost = 16 * (uint64_t)route.experts * route.chosen,
        .body = compute,
        .job = &route,
    };

    return work_run(queue, call, &work, weights);
}

const tapml_op_impl PRECISE(reference_route_biased) = TAPML_IMPL(tapml_route_biased, route_biased);
