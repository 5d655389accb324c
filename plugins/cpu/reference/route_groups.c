// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/arithmetic.h"
#include "reference/operators.h"
#include "reference/reference.h"
#include "reference/value.h"
#include "reference/work.h"

#include <tapml/ops.h>

#include <tgmath.h>

// Groups, then experts of the kept ones, are chosen one after the other as in route.c: the next one
// is the largest behind the last, where equal ones stand in the order of their numbers.
struct route {
    enum reference_order order;
    const tapml_tensor *scores, *bias, *indices, *weights;
    size_t groups, size, kept, chosen;
    bool is_softmax, renormalises;
};

// A group or an expert, and what it is chosen by.
struct choice {
    size_t number;
    real key;
};

static bool stands_behind(const struct choice *choice, const struct choice *last)
{
    return choice->key < last->key || (choice->key == last->key && choice->number > last->number);
}

static real logistic(real x)
{
    return 1 / (1 + exp(-x));
}

static real score_of(const struct route *route, size_t token, size_t expert)
{
    const struct value_row row =
        value_of(route->scores, token * route->groups + expert / route->size);

    return value_read(row, (ptrdiff_t)(expert % route->size));
}

// The softmax has the order of the scores themselves.
static real key_of(const struct route *route, size_t token, size_t expert)
{
    const real score = score_of(route, token, expert);
    float bias = 0;

    if (route->bias != NULL) {
        const size_t group = expert / route->size;
        const unsigned char *row = value_row(route->bias, group);
        const size_t bytes = TAPML_DT_BYTES(route->bias->dtype);

        value_widen(route->bias->dtype, row + expert % route->size * bytes, 1, &bias);
    }
    return route->is_softmax ? score : logistic(score) + bias;
}

// Its best key, or the sum of its two best.
static real worth_of(const struct route *route, size_t token, size_t group)
{
    real best = key_of(route, token, group * route->size), second = 0;

    for (size_t i = 1; i < route->size; i++) {
        const real key = key_of(route, token, group * route->size + i);

        if (key > best) {
            second = best;
            best = key;
        } else if (i == 1 || key > second) {
            second = key;
        }
    }
    return route->is_softmax ? best : best + second;
}

// The last group that is kept.
static struct choice find_limit(const struct route *route, size_t token)
{
    struct choice limit = {0, 0};

    for (size_t rank = 0; rank < route->kept; rank++) {
        struct choice best = {route->groups, 0};

        for (size_t g = 0; g < route->groups; g++) {
            const struct choice group = {g, worth_of(route, token, g)};

            if ((rank == 0 || stands_behind(&group, &limit)) &&
                (best.number == route->groups || group.key > best.key)) {
                best = group;
            }
        }
        limit = best.number < route->groups ? best : limit; // Only what is no number leaves none.
    }
    return limit;
}

static void choose_in_group(const struct route *route,
                            size_t token,
                            size_t group,
                            const struct choice *last,
                            struct choice *best)
{
    for (size_t i = 0; i < route->size; i++) {
        const size_t e = group * route->size + i;
        const struct choice expert = {e, key_of(route, token, e)};

        if ((last == NULL || stands_behind(&expert, last)) &&
            (best->number == route->groups * route->size || expert.key > best->key)) {
            *best = expert;
        }
    }
}

// The best expert behind `last`, which is NULL for the first.
static struct choice next_expert(const struct route *route,
                                 size_t token,
                                 const struct choice *limit,
                                 const struct choice *last)
{
    const size_t experts = route->groups * route->size;
    struct choice best = {experts, 0};

    for (size_t g = 0; g < route->groups; g++) {
        const struct choice group = {g, route->kept < route->groups ? worth_of(route, token, g)
                                                                    : limit->key};

        if (route->kept == route->groups || !stands_behind(&group, limit)) {
            choose_in_group(route, token, g, last, &best);
        }
    }
    if (best.number < experts) {
        return best;
    }
    return last != NULL ? *last : (struct choice){0, 0};
}

// The sum of exp(score - top) over all experts, in the device's order.
static real softmax_total(const struct route *route, size_t token, real top)
{
    const size_t experts = route->groups * route->size;
    real total = 0;

    for (size_t index = 0; index * ARITHMETIC_CHUNK < experts; index++) {
        const struct arithmetic_piece piece =
            arithmetic_piece(route->order, experts, ARITHMETIC_CHUNK, index);
        real terms[ARITHMETIC_CHUNK];

        for (size_t e = piece.begin; e < piece.end; e++) {
            terms[e - piece.begin] = exp(score_of(route, token, e) - top);
        }
        arithmetic_sum(route->order, terms, piece.end - piece.begin, &total);
    }
    return total;
}

// What the weight of an expert is before it is divided.
static real part_of(const struct route *route, size_t token, size_t expert, real top)
{
    const real score = score_of(route, token, expert);

    return route->is_softmax ? exp(score - top) : logistic(score);
}

static void route_token(const struct route *route, size_t token)
{
    int32_t *indices = value_row(route->indices, token);
    const struct value_row weights = value_of(route->weights, token);
    const struct choice limit =
        route->kept < route->groups ? find_limit(route, token) : (struct choice){0, 0};
    struct choice last = {0, 0};
    real chosen = 0, divisor = 1;

    for (size_t j = 0; j < route->chosen; j++) {
        last = next_expert(route, token, &limit, j > 0 ? &last : NULL);
        indices[j] = (int32_t)last.number;
    }

    const real top = score_of(route, token, (size_t)indices[0]);

    for (size_t j = 0; j < route->chosen; j++) {
        chosen += part_of(route, token, (size_t)indices[j], top);
    }
    if (route->is_softmax) {
        divisor = softmax_total(route, token, top);
    } else if (route->renormalises) {
        divisor = chosen + (real)1e-20;
    }
    for (size_t j = 0; j < route->chosen; j++) {
        const real part = part_of(route, token, (size_t)indices[j], top);

        value_write(weights, (ptrdiff_t)j, (float)(part / divisor));
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
    route->groups = (size_t)route->scores->shape[1];
    route->size = value_width(route->scores);
    route->chosen = value_width(route->indices);

    const struct work work = {
        .count = (size_t)route->scores->shape[0],
        .unit_cost = 16 * (uint64_t)(route->groups * route->size * (route->chosen + route->kept)),
        .body = compute,
        .job = route,
    };

    return work_run(queue, call, &work, route->weights);
}

static tapml_status route_groups(TAPML_ROUTE_GROUPS_PARAMS)
{
    return run(queue, call,
               &(struct route){.scores = scores,
                               .indices = indices,
                               .weights = weights,
                               .kept = (size_t)kept,
                               .is_softmax = true});
}

static tapml_status route_sigmoid(TAPML_ROUTE_SIGMOID_PARAMS)
{
    return run(queue, call,
               &(struct route){.scores = scores,
                               .bias = bias,
                               .indices = indices,
                               .weights = weights,
                               .kept = (size_t)kept,
                               .renormalises = renormalise != 0});
}

const tapml_op_impl PRECISE(reference_route_groups) = TAPML_IMPL(tapml_route_groups, route_groups);
const tapml_op_impl PRECISE(reference_route_sigmoid) = TAPML_IMPL(tapml_route_sigmoid,
                                                                  route_sigmoid);
