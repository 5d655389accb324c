// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/bounding.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS_MAX = 32 };

struct bounding {
    const struct objective *objective;
    const struct bounding_options *options;
    struct random random;
    uint8_t *states;
    double *least, *most; // Of open points.
    double *sorted;
};

static int by_size(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one > other ? -1 : one < other;
}

static void bound(struct bounding *bounding, size_t index)
{
    const struct nearest_graph *graph = bounding->objective->graph;
    double chosen = 0, open = 0;
    for (uint64_t at = graph->begin[index]; at < graph->begin[index + 1]; at++) {
        const uint8_t state = bounding->states[graph->others[at]];
        const double similarity = (double)graph->similarities[at];
        if (state == BOUNDING_IN) {
            chosen += similarity;
        } else if (state == BOUNDING_OPEN &&
                   (bounding->options->share >= 1 ||
                    random_between(&bounding->random, 0, 1) < bounding->options->share)) {
            open += similarity;
        }
    }
    bounding->most[index] =
        bounding->objective->utilities[index] - bounding->objective->weight * chosen;
    bounding->least[index] = bounding->most[index] - bounding->objective->weight * open;
}

// The `place`-th largest of a bound over the open points, from 1.
static double find_place(struct bounding *bounding, const double *bounds, size_t place)
{
    size_t count = 0;
    for (size_t i = 0; i < bounding->objective->graph->count; i++) {
        if (bounding->states[i] == BOUNDING_OPEN) {
            bounding->sorted[count++] = bounds[i];
        }
    }
    ASSERT(place > 0 && place <= count);
    qsort(bounding->sorted, count, sizeof(*bounding->sorted), by_size);
    return bounding->sorted[place - 1];
}

static size_t count_state(const struct bounding *bounding, enum bounding_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < bounding->objective->graph->count; i++) {
        count += bounding->states[i] == state;
    }
    return count;
}

// A round; whether it has decided anything.
static int decide(struct bounding *bounding, struct bounding_counts *counts)
{
    const size_t count = bounding->objective->graph->count;
    const size_t in = count_state(bounding, BOUNDING_IN);
    const size_t open = count_state(bounding, BOUNDING_OPEN);
    const size_t left = bounding->options->budget > in ? bounding->options->budget - in : 0;
    const size_t before = counts->in + counts->out;
    if (left == 0 || left >= open) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (bounding->states[i] == BOUNDING_OPEN) {
            bound(bounding, i);
        }
    }
    const double least = find_place(bounding, bounding->least, left);
    const double most = find_place(bounding, bounding->most, left + 1);
    for (size_t i = 0; i < count; i++) {
        if (bounding->states[i] != BOUNDING_OPEN) {
            continue;
        }
        if (bounding->least[i] > most) { // Fewer than `left` others can be before it.
            bounding->states[i] = BOUNDING_IN;
            counts->in++;
        } else if (bounding->most[i] < least) {
            bounding->states[i] = BOUNDING_OUT;
            counts->out++;
        }
    }
    return counts->in + counts->out > before;
}

tapml_status bounding_run(const struct objective *objective,
                          const struct bounding_options *options,
                          uint8_t *io_states,
                          struct bounding_counts *out_counts)
{
    const size_t count = objective->graph->count;
    struct arena *arena = arena_create();
    struct bounding_counts counts = {0};
    ASSERT(!objective->costs && options->share > 0);
    struct bounding bounding = {.objective = objective, .options = options, .states = io_states};
    if (arena) {
        bounding.least = arena_array(arena, count + 1, sizeof(double));
        bounding.most = arena_array(arena, count + 1, sizeof(double));
        bounding.sorted = arena_array(arena, count + 1, sizeof(double));
    }
    if (!bounding.least || !bounding.most || !bounding.sorted) {
        arena_destroy(arena);
        return status_no_memory();
    }
    random_init(&bounding.random, options->seed);
    while (counts.rounds < ROUNDS_MAX && decide(&bounding, &counts)) {
        counts.rounds++;
    }
    arena_destroy(arena);
    *out_counts = counts;
    return TAPML_OK;
}
