// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

// Experts are chosen one after the other as in route.c: those that were not chosen before stand
// behind the last, where equal ones stand in the order of their numbers.
struct route {
    enum reference_order order;
    const tapml_tensor *scores, *indices, *weights;
    size_t experts, chosen;
    real jitter;
};

// The expert that was chosen last, or before the first: `rank` is how many were.
struct last {
    size_t rank, expert;
    float score;
};

static bool is_left(const struct last *last, size_t expert, float score)
{
    return last->rank == 0 || score < last->score ||
           (score == last->score && expert > last->expert);
}

static size_t
next_expert(const struct route *route, struct value_row scores, const struct last *last)
{
    size_t best = route->experts;

    for (size_t e = 0; e < route->experts; e++) {
        const float score = value_read(scores, (ptrdiff_t)e);

        if (is_left(last, e, score) &&
            (best == route->experts || score > value_read(scores, (ptrdiff_t)best))) {
            best = e;
        }
    }
    return best < route->experts ? best : last->expert; // Only what is no number leaves none.
}

// exp(score - top) of what is left and comes near the top, in the device's order.
static real
total_of(const struct route *route, struct value_row scores, const struct last *last, float top)
{
    real total = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < route->experts; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(route->order, route->experts, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];

        for (size_t e = piece.begin; e < piece.end; e++) {
            const float score = value_read(scores, (ptrdiff_t)e);
            const float scale = -score > top ? -score : top;
            const bool is_near = (real)top - (real)score <= 2 * route->jitter * (real)scale;

            terms[e - piece.begin] =
                is_near && is_left(last, e, score) ? exp((real)score - (real)top) : 0;
        }
        arithmetic_sum(route->order, terms, piece.end - piece.begin, &total);
    }
    return total;
}

static void route_token(const struct route *route, size_t token)
{
    const struct value_row scores = value_of(route->scores, token);
    const struct value_row weights = value_of(route->weights, token);
    int32_t *indices = value_row(route->indices, token);
    struct last last = {0, 0, 0};

    for (size_t j = 0; j < route->chosen; j++) {
        const size_t expert = next_expert(route, scores, &last);
        const float top = value_read(scores, (ptrdiff_t)expert);

        indices[j] = (int32_t)expert;
        value_write(weights, (ptrdiff_t)j, (float)(1 / total_of(route, scores, &last, top)));
        last = (struct last){j + 1, expert, top};
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t token = begin; token < end; token++) {
        route_token(job, (size_t)token);
    }
}

static tapml_status route_sparsemixer(TAPML_ROUTE_SPARSEMIXER_PARAMS)
{
    struct route route = {
        .order = reference_device_of(queue)->order,
        .scores = scores,
        .indices = indices,
        .weights = weights,
        .experts = value_width(scores),
        .chosen = value_width(indices),
        .jitter = (real)jitter,
    };
    const struct work work = {
        .count = value_row_count(scores),
        .unit_cost = 12 * (uint64_t)route.experts * route.chosen,
        .body = compute,
        .job = &route,
    };

    return work_run(queue, call, &work, weights);
}

const tapml_op_impl PRECISE(reference_route_sparsemixer) = TAPML_IMPL(tapml_route_sparsemixer,
                                                                      route_sparsemixer);
