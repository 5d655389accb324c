// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/greedy.h"

#include "base/arena.h"
#include "base/assert.h"

// What the queue knew of a point when it was put there.
struct entry_of_queue {
    double rate; // Gain over cost.
    uint32_t index;
};

struct greedy {
    const struct objective *objective;
    const struct greedy_options *options;
    double *gains; // What each point adds now.
    uint8_t *is_in;
    struct entry_of_queue *queue; // A heap, the best first.
    size_t queued;
    struct greedy_pick *picks;
    size_t count;
    double left; // Of the budget.
};

static int is_before(const struct entry_of_queue *a, const struct entry_of_queue *b)
{
    return a->rate > b->rate || (a->rate == b->rate && a->index < b->index);
}

static void swap(struct entry_of_queue *a, struct entry_of_queue *b)
{
    const struct entry_of_queue kept = *a;
    *a = *b;
    *b = kept;
}

static void sink(struct greedy *greedy, size_t at)
{
    struct entry_of_queue *queue = greedy->queue;
    for (;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < greedy->queued; child++) {
            best = is_before(&queue[child], &queue[best]) ? child : best;
        }
        if (best == at) {
            return;
        }
        swap(&queue[at], &queue[best]);
        at = best;
    }
}

static double rate_of(const struct greedy *greedy, uint32_t index)
{
    return greedy->gains[index] / objective_cost(greedy->objective, index);
}

static void drop_head(struct greedy *greedy)
{
    greedy->queue[0] = greedy->queue[--greedy->queued];
    sink(greedy, 0);
}

static void choose(struct greedy *greedy, uint32_t index)
{
    const struct nearest_graph *graph = greedy->objective->graph;
    greedy->picks[greedy->count++] = (struct greedy_pick){index, greedy->gains[index]};
    greedy->is_in[index] = 1;
    greedy->left -= objective_cost(greedy->objective, index);
    for (uint64_t at = graph->begin[index]; at < graph->begin[index + 1]; at++) {
        greedy->gains[graph->others[at]] -=
            greedy->objective->weight * (double)graph->similarities[at];
    }
}

// Takes from the head until the queue is empty; what costs more than is left is passed over.
static void empty_queue(struct greedy *greedy)
{
    for (size_t i = greedy->queued / 2 + 1; i-- > 0;) {
        sink(greedy, i);
    }
    while (greedy->queued > 0) {
        const struct entry_of_queue head = greedy->queue[0];
        const double rate = rate_of(greedy, head.index);
        if (objective_cost(greedy->objective, head.index) > greedy->left) {
            drop_head(greedy);
        } else if (rate < head.rate) {
            greedy->queue[0].rate = rate;
            sink(greedy, 0);
        } else {
            choose(greedy, head.index);
            drop_head(greedy);
        }
    }
}

enum stage { MUST, DECIDED, OPEN, STAGES };

static enum stage stage_of(const struct greedy_options *options, size_t index)
{
    if (options->is_must && options->is_must[index]) {
        return MUST;
    }
    const uint8_t state = options->states ? options->states[index] : BOUNDING_OPEN;
    return state == BOUNDING_IN ? DECIDED : state == BOUNDING_OPEN ? OPEN : STAGES;
}

static void run_stage(struct greedy *greedy, enum stage stage)
{
    greedy->queued = 0;
    for (size_t i = 0; i < greedy->objective->graph->count; i++) {
        if (stage_of(greedy->options, i) == stage) {
            greedy->queue[greedy->queued++] =
                (struct entry_of_queue){rate_of(greedy, (uint32_t)i), (uint32_t)i};
        }
    }
    empty_queue(greedy);
}

tapml_status greedy_run(const struct objective *objective,
                        const struct greedy_options *options,
                        struct greedy_pick *out_picks,
                        size_t *out_count)
{
    const size_t count = objective->graph->count;
    struct arena *arena = arena_create();
    struct greedy greedy = {
        .objective = objective, .options = options, .picks = out_picks, .left = options->budget};
    if (arena) {
        greedy.gains = arena_array(arena, count + 1, sizeof(*greedy.gains));
        greedy.is_in = arena_array(arena, count + 1, 1);
        greedy.queue = arena_array(arena, count + 1, sizeof(*greedy.queue));
    }
    if (!greedy.gains || !greedy.is_in || !greedy.queue) {
        arena_destroy(arena);
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        ASSERT(objective->utilities[i] >= 0 && objective_cost(objective, i) > 0);
        greedy.gains[i] = objective->utilities[i];
    }
    for (int stage = MUST; stage < STAGES; stage++) {
        run_stage(&greedy, (enum stage)stage);
    }
    arena_destroy(arena);
    *out_count = greedy.count;
    return TAPML_OK;
}
