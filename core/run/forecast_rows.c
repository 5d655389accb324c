// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast_rows.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

static const char *name_of(enum forecast_type type)
{
    return activation_type(forecast_values_activation(type))->name;
}

// -- Ranges ------------------------------------------------------------------------------------

int forecast_rows_leaves(const struct forecasted_range *range)
{
    return range->beyond > 0;
}

int forecast_rows_loses(const struct forecasted_range *range)
{
    const struct forecast_loss loss = {.worst = range->worst};

    for (int type = 0; type < FORECAST_TYPES; type++) {
        if (strcmp(name_of((enum forecast_type)type), range->type) == 0) {
            return forecast_values_loses(&loss, (enum forecast_type)type);
        }
    }
    return 0;
}

static struct forecasted_range
range_of(const struct graph_op *op, const struct forecast_loss *loss, enum forecast_type type)
{
    return (struct forecasted_range){.type = name_of(type),
                                     .instance = op->instance,
                                     .op = op->op->name,
                                     .elements = loss->sum.count,
                                     .beyond = loss->sum.beyond,
                                     .below = loss->sum.below,
                                     .zeroed = loss->sum.zeroed,
                                     .largest = loss->sum.largest,
                                     .relative = range_relative(&loss->sum),
                                     .worst = loss->worst};
}

// Of the ops of which something is to be said, by type.
static tapml_status add_ranges(const struct graph *graph,
                               const struct forecast_values *values,
                               struct arena *arena,
                               struct forecasted_row *row)
{
    const size_t most = (size_t)graph->op_count * FORECAST_TYPES;

    row->ranges = arena_array(arena, most + 1, sizeof(*row->ranges));
    if (row->ranges == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < most; i++) {
        const enum forecast_type type = (enum forecast_type)(i / graph->op_count);
        const size_t op = i % graph->op_count;
        const struct forecast_loss *loss = &values->ops[op].types[type];

        if (forecast_values_leaves(loss) || forecast_values_loses(loss, type)) {
            row->ranges[row->range_count++] = range_of(&graph->ops[op], loss, type);
        }
    }
    return TAPML_OK;
}

// -- Limits ------------------------------------------------------------------------------------

static tapml_status add_limits(const struct graph *graph,
                               const struct forecast_limits *limits,
                               struct arena *arena,
                               struct forecasted_row *row)
{
    row->limits = arena_array(arena, limits->count + 1, sizeof(*row->limits));
    if (row->limits == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < limits->count; i++) {
        const struct forecast_limit *limit = &limits->items[i];
        const struct graph_op *op = &graph->ops[limit->op];
        const char *sentence = arena_text(arena, limit->sentence);

        if (sentence == NULL) {
            return status_no_memory();
        }
        row->limits[row->limit_count++] =
            (struct forecasted_limit){.kind = forecast_limits_name(limit->kind),
                                      .instance = op->instance,
                                      .op = op->op->name,
                                      .needed = limit->needed,
                                      .allowed = limit->limit,
                                      .sentence = sentence};
    }
    return TAPML_OK;
}

// -- Times -------------------------------------------------------------------------------------

static double known(double seconds)
{
    return seconds > 0 ? seconds : NAN;
}

static void
add_time(const struct forecast_cost *cost, const char *phase, struct forecasted_row *row)
{
    row->times[row->time_count++] =
        (struct forecasted_time){.phase = phase,
                                 .tokens = (uint64_t)cost->tokens,
                                 .first_token = (uint64_t)cost->position,
                                 .launches = cost->launches,
                                 .bytes = cost->bytes,
                                 .operations = cost->operations,
                                 .seconds = known(cost->seconds),
                                 .has_bandwidth = cost->has_bandwidth,
                                 .has_rate = cost->has_rate,
                                 .has_launch = cost->has_launch};
    for (size_t i = 0; i < cost->kind_count; i++) {
        const struct forecast_kind *kind = &cost->kinds[i];

        row->kinds[row->kind_count++] = (struct forecasted_kind){.phase = phase,
                                                                 .op = kind->op->name,
                                                                 .calls = kind->calls,
                                                                 .bytes = kind->bytes,
                                                                 .operations = kind->operations,
                                                                 .seconds = known(kind->seconds)};
    }
}

static tapml_status
add_times(const struct forecast *forecast, struct arena *arena, struct forecasted_row *row)
{
    const size_t kinds = forecast->prefill.kind_count + forecast->decode.kind_count;

    row->times = arena_array(arena, 2, sizeof(*row->times));
    row->kinds = arena_array(arena, kinds + 1, sizeof(*row->kinds));
    if (row->times == NULL || row->kinds == NULL) {
        return status_no_memory();
    }
    add_time(&forecast->prefill, "prefill", row);
    if (forecast->decode.kinds != NULL) {
        add_time(&forecast->decode, "decode", row);
    }
    return TAPML_OK;
}

// -- All of it ---------------------------------------------------------------------------------

tapml_status forecast_rows_make(const struct forecast *forecast,
                                const struct forecast_values *values,
                                struct arena *arena,
                                struct forecasted_row *row)
{
    const struct graph *graph = forecast->frame.graph;
    const struct forecast_memory *memory = &forecast->limits.memory;

    row->tokens = values->tokens;
    row->weights_bytes = memory->weights;
    row->states_bytes = memory->states;
    row->activations_bytes = memory->activations;
    TAPML_TRY(add_ranges(graph, values, arena, row));
    TAPML_TRY(add_limits(graph, &forecast->limits, arena, row));
    return add_times(forecast, arena, row);
}
