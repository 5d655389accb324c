// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_times.h"

#include "base/arena.h"
#include "choose/feature_set.h"
#include "choose/time_model.h"
#include "choose/vectors.h"
#include "store/timing.h"

#include <math.h>
#include <string.h>

// Sums over the cases of an instance.
struct time_sum {
    double decode_ns, prefill_ns;
    size_t decodes, prefills, measured;
};

struct timing_of_plan {
    const struct graph *graph;
    struct arena *arena;
    struct feature_case *cases;
    size_t count;
    double *times_ns; // Of each case; 0: it is not known.
    struct time_model model;
    int has_model;
};

static tapml_status fit(struct timing_of_plan *timing, int is_of_source)
{
    uint32_t *groups = NULL;
    size_t group_count = 0;
    timing->times_ns = arena_array(timing->arena, timing->count + 1, sizeof(double));
    if (!timing->times_ns) {
        return status_no_memory();
    }
    for (size_t i = 0; i < timing->count; i++) {
        const struct feature_case *item = &timing->cases[i];
        timing->times_ns[i] = (double)(is_of_source ? item->source_ns : item->target_ns);
    }
    TAPML_TRY(vectors_group(timing->cases, timing->count, timing->arena, &groups, &group_count));
    return time_model_fit(&(struct time_model_input){timing->cases, timing->count, groups,
                                                     group_count, timing->times_ns},
                          timing->arena, &timing->model, &timing->has_model);
}

static void add(const struct timing_of_plan *timing, size_t index, struct time_sum *sum)
{
    const int is_decode = strcmp(timing->cases[index].phase, "decode") == 0;
    const double known = timing->times_ns[index];
    const double time_ns = known > 0           ? known
                           : timing->has_model ? timing->model.times_ns[index]
                                               : 0;
    if (!(time_ns > 0)) {
        return;
    }
    sum->measured += known > 0;
    if (is_decode) {
        sum->decode_ns += time_ns;
        sum->decodes++;
    } else {
        sum->prefill_ns += time_ns;
        sum->prefills++;
    }
}

static double mean_of(const struct time_sum *sum)
{
    return sum->decodes > 0    ? sum->decode_ns / (double)sum->decodes
           : sum->prefills > 0 ? sum->prefill_ns / (double)sum->prefills
                               : NAN;
}

static tapml_status
sum_all(const struct timing_of_plan *timing, double *out_times_ns, struct plan_times *out_times)
{
    const uint32_t count = timing->graph->op_count;
    struct time_sum *sums = arena_array(timing->arena, (size_t)count + 1, sizeof(*sums));
    if (!sums) {
        return status_no_memory();
    }
    for (size_t i = 0; i < timing->count; i++) {
        const uint32_t op = graph_find_op(timing->graph, timing->cases[i].instance);
        if (op != GRAPH_NONE) {
            add(timing, i, &sums[op]);
        }
    }
    for (uint32_t op = 0; op < count; op++) {
        out_times_ns[op] = mean_of(&sums[op]);
        out_times->known += sums[op].measured;
        out_times->predicted += isfinite(out_times_ns[op]) && sums[op].measured == 0;
    }
    return TAPML_OK;
}

// A replayed case is waited for, a call of a model is not: where a run under a plan was traced,
// operators of a kind take what its calls took there, in the proportions of their cases.
static uint32_t
scale_kind(const struct graph *graph, const struct timing_row *row, double *io_times)
{
    double sum_ns = 0;
    uint32_t count = 0;
    for (uint32_t op = 0; op < graph->op_count; op++) {
        if (strcmp(graph->ops[op].op->name, row->op) == 0 && io_times[op] > 0) {
            sum_ns += io_times[op];
            count++;
        }
    }
    for (uint32_t op = 0; count > 0 && op < graph->op_count; op++) {
        if (strcmp(graph->ops[op].op->name, row->op) == 0) {
            io_times[op] *= (double)row->time_ns / (double)row->calls / (sum_ns / count);
        }
    }
    return count;
}

static tapml_status scale(const struct timing_of_plan *timing,
                          struct store *store,
                          const char *target,
                          double *io_times_ns,
                          struct plan_times *times)
{
    struct timing_row *rows = NULL;
    size_t count = 0;
    TAPML_TRY(timing_list(store, target, timing->arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        if (rows[i].calls > 0 && rows[i].time_ns > 0) {
            times->traced += scale_kind(timing->graph, &rows[i], io_times_ns);
        }
    }
    return TAPML_OK;
}

static tapml_status find(struct timing_of_plan *timing,
                         struct store *store,
                         const char *target,
                         double *out_times_ns,
                         struct plan_times *out_times)
{
    TAPML_TRY(feature_set_load(store, target, 0, timing->arena, &timing->cases, &timing->count));
    TAPML_TRY(fit(timing, *target == '\0'));
    *out_times = (struct plan_times){.factor = timing->has_model ? timing->model.factor : NAN};
    TAPML_TRY(sum_all(timing, out_times_ns, out_times));
    return *target != '\0' ? scale(timing, store, target, out_times_ns, out_times) : TAPML_OK;
}

tapml_status plan_times_find(struct store *store,
                             const char *target,
                             const struct graph *graph,
                             double *out_times_ns,
                             struct plan_times *out_times)
{
    struct timing_of_plan timing = {.graph = graph, .arena = arena_create()};
    const tapml_status status =
        timing.arena ? find(&timing, store, target, out_times_ns, out_times) : status_no_memory();
    arena_destroy(timing.arena);
    return status;
}
