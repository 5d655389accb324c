// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/objective.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <stdlib.h>

double objective_cost(const struct objective *objective, size_t index)
{
    return objective->costs ? objective->costs[index] : 1;
}

double objective_gain(const struct objective *objective, const uint8_t *is_in, size_t index)
{
    const struct nearest_graph *graph = objective->graph;
    double taken = 0;
    ASSERT(index < graph->count);
    for (uint64_t at = graph->begin[index]; at < graph->begin[index + 1]; at++) {
        if (!is_in || is_in[graph->others[at]]) {
            taken += (double)graph->similarities[at];
        }
    }
    return objective->utilities[index] - objective->weight * taken;
}

double objective_value(const struct objective *objective, const uint8_t *is_in)
{
    double value = 0;
    for (size_t i = 0; i < objective->graph->count; i++) {
        if (is_in[i]) { // Each edge within is seen from both ends.
            const double gain = objective_gain(objective, is_in, i);
            value += (gain + objective->utilities[i]) / 2;
        }
    }
    return value;
}

// What a point may add, and what it costs.
struct worth {
    double value, cost;
};

static int by_rate(const void *a, const void *b)
{
    const struct worth *one = a, *other = b;
    const double left = one->value / one->cost, right = other->value / other->cost;
    return left > right ? -1 : left < right;
}

// The most that points within a budget add; a part of the last one counts as a part.
static double largest_within(struct worth *worths, size_t count, double budget)
{
    double sum = 0;
    if (count > 0) {
        qsort(worths, count, sizeof(*worths), by_rate);
    }
    for (size_t i = 0; i < count && budget > 0 && worths[i].value > 0; i++) {
        const double part = worths[i].cost <= budget ? 1 : budget / worths[i].cost;
        sum += part * worths[i].value;
        budget -= worths[i].cost;
    }
    return sum;
}

static double
most_by_utilities(const struct objective *objective, double budget, struct worth *worths)
{
    for (size_t i = 0; i < objective->graph->count; i++) {
        worths[i] = (struct worth){objective->utilities[i], objective_cost(objective, i)};
    }
    return largest_within(worths, objective->graph->count, budget);
}

static double most_by_gains(const struct objective *objective,
                            const uint8_t *is_in,
                            double budget,
                            struct worth *worths)
{
    double sum = objective_value(objective, is_in);
    size_t count = 0;
    for (size_t i = 0; i < objective->graph->count; i++) {
        if (is_in[i]) {
            const double least = objective_gain(objective, NULL, i);
            sum += least < 0 ? -least : 0;
        } else {
            worths[count++] =
                (struct worth){objective_gain(objective, is_in, i), objective_cost(objective, i)};
        }
    }
    return sum + largest_within(worths, count, budget);
}

tapml_status objective_certify(const struct objective *objective,
                               const uint8_t *is_in,
                               double budget,
                               struct objective_certificate *out_certificate)
{
    struct worth *worths = alloc_array(objective->graph->count + 1, sizeof(*worths));
    if (!worths) {
        return status_no_memory();
    }
    const double utilities = most_by_utilities(objective, budget, worths);
    const double gains = most_by_gains(objective, is_in, budget, worths);
    const double value = objective_value(objective, is_in);
    alloc_free(worths);
    const int by_gains = gains < utilities;
    const double most = by_gains ? gains : utilities;
    *out_certificate = (struct objective_certificate){.value = value,
                                                      .most = most,
                                                      .bound = by_gains ? OBJECTIVE_BY_GAINS
                                                                        : OBJECTIVE_BY_UTILITIES,
                                                      .share = most > 0 ? value / most : 1};
    return TAPML_OK;
}
