// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

// Experts are chosen one after the other: the next one is the largest score behind the last, where
// equal scores stand in the order of their numbers. Nothing has to be remembered but the last.
struct route {
    enum reference_order order;
    const tapml_tensor *scores, *indices, *weights;
    size_t expert_count, chosen_count;
    bool is_softmax_over_all, renormalises;
};

static float score_of(struct value_row scores, size_t expert)
{
    return value_read(scores, (ptrdiff_t)expert);
}

static size_t
next_expert(const struct route *route, struct value_row scores, size_t rank, size_t last)
{
    size_t best = route->expert_count;

    for (size_t e = 0; e < route->expert_count; e++) {
        const float score = score_of(scores, e), limit = score_of(scores, last);
        const bool is_behind = rank == 0 || score < limit || (score == limit && e > last);

        if (is_behind && (best == route->expert_count || score > score_of(scores, best))) {
            best = e;
        }
    }
    return best < route->expert_count ? best : last; // Only what is no number leaves none.
}

// The sum of exp(score - top) over all experts, in the device's order.
static real total_of(const struct route *route, struct value_row scores, real top)
{
    real total = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < route->expert_count; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(route->order, route->expert_count, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];

        for (size_t e = piece.begin; e < piece.end; e++) {
            terms[e - piece.begin] = exp((real)score_of(scores, e) - top);
        }
        arithmetic_sum(route->order, terms, piece.end - piece.begin, &total);
    }
    return total;
}

static void route_token(const struct route *route, size_t token)
{
    const struct value_row scores = value_of(route->scores, token);
    int32_t *indices = value_row(route->indices, token);
    const struct value_row weights = value_of(route->weights, token);
    size_t last = 0;
    real chosen = 0;

    for (size_t j = 0; j < route->chosen_count; j++) {
        last = next_expert(route, scores, j, last);
        indices[j] = (int32_t)last;
        chosen += exp((real)score_of(scores, last) - (real)score_of(scores, (size_t)indices[0]));
    }

    const real top = score_of(scores, (size_t)indices[0]);
    const real divisor =
        route->is_softmax_over_all && !route->renormalises ? total_of(route, scores, top) : chosen;

    for (size_t j = 0; j < route->chosen_count; j++) {
        const real score = score_of(scores, (size_t)indices[j]);

        value_write(weights, (ptrdiff_t)j, (float)(exp(score - top) / divisor));
    }
}

static void compute(void *job, uint64_t begin, uint64_t end)
{
    for (uint64_t token = begin; token < end; token++) {
        route_token(job, (size_t)token);
    }
}

static tapml_status run(tapml_object *queue, tapml_call *call, struct route *route)
{
    route->order = reference_device_of(queue)->order;
    route->expert_count = value_width(route->scores);
    route->chosen_count = value_width(route->indices);

    const struct work work = {
        .count = value_row_count(route->scores),
        .unit_cost = 8 * (uint64_t)route->expert_count * route->chosen_count,
        .body = compute,
        .job = route,
    };

    return work_run(queue, call, &work, route->weights);
}

static tapml_status route_softmax(TAPML_ROUTE_SOFTMAX_PARAMS)
{
    return run(queue, call,
               &(struct route){.scores = scores,
                               .indices = indices,
                               .weights = weights,
                               .is_softmax_over_all = true,
                               .renormalises = renormalise != 0});
}

static tapml_status route_topk(TAPML_ROUTE_TOPK_PARAMS)
{
    return run(queue, call,
               &(struct route){.scores = scores, .indices = indices, .weights = weights});
}

const tapml_op_impl PRECISE(reference_route_softmax) = TAPML_IMPL(tapml_route_softmax,
                                                                  route_softmax);
const tapml_op_impl PRECISE(reference_route_topk) = TAPML_IMPL(tapml_route_topk, route_topk);
