// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/forecast_values.h"

#include "base/alloc.h"
#include "exec/cast.h"
#include "exec/run.h"
#include "run/interrupt.h"
#include "run/nonfinite_search.h"
#include "run/probe.h"

#include <string.h>

struct judging {
    const struct forecast_run *run;
    struct forecast_values values;
    activation_set *marks; // One for each value.
    struct place *place;   // The source under a probe.
    int32_t *greedy;
};

enum activation forecast_values_activation(enum forecast_type type)
{
    return type == FORECAST_F16 ? ACTIVATION_F16 : ACTIVATION_BF16;
}

int forecast_values_leaves(const struct forecast_loss *loss)
{
    return loss->sum.beyond > 0;
}

int forecast_values_loses(const struct forecast_loss *loss, enum forecast_type type)
{
    return loss->worst > activation_type(forecast_values_activation(type))->rounding;
}

void forecast_values_release(struct forecast_values *values)
{
    alloc_free(values->ops);
    *values = (struct forecast_values){.graph = NULL};
}

// -- What is judged ----------------------------------------------------------------------------

// Whether an op has no operations and reads no weight.
static int only_moves(const tapml_op *op)
{
    int reads_weight = 0;

    for (uint32_t p = 0; p < op->n_params; p++) {
        reads_weight = reads_weight || (op->params[p]->effects & TAPML_E_WEIGHT) != 0;
    }
    return !reads_weight && op->flops != NULL && strcmp(op->flops, "0") == 0;
}

// Whether the argument of an op is a value that a place of reduced activations keeps reduced.
static int
is_reduced(const struct judging *judging, const struct graph_op *op, uint32_t param, uint32_t base)
{
    const enum graph_kind kind = judging->values.graph->values[base].kind;

    if (kind == GRAPH_WEIGHT || kind == GRAPH_CONSTANT) {
        return judging->values.graph->values[base].dtype == TAPML_F32 &&
               (op->op->params[param]->effects & TAPML_E_WEIGHT) == 0 &&
               compiled_takes(op->schema, param, TAPML_F16);
    }
    return (judging->marks[base] & activation_bit(ACTIVATION_F16)) != 0;
}

static int wants(void *user, const struct backend_call *call, uint32_t param)
{
    const struct judging *judging = user;
    const struct graph *graph = judging->values.graph;
    const uint32_t index = graph_find_op(graph, call->instance);

    if (index == GRAPH_NONE ||
        (call->op->params[param]->effects & (TAPML_E_STATE_READ | TAPML_E_STATE_WRITE)) != 0) {
        return 0;
    }
    const struct graph_op *op = &graph->ops[index];
    const uint32_t base = graph->values[op->arguments[param].value].base;
    const int is_computed = graph->values[base].kind == GRAPH_COMPUTED;
    const int is_input = call->args[param].kind == TAPML_P_TENSOR_IN;

    return is_reduced(judging, op, param, base) && (is_input ? !is_computed : !only_moves(op->op));
}

static void add(struct forecast_op *op, const float *values, size_t count)
{
    for (int type = 0; type < FORECAST_TYPES; type++) {
        const enum activation activation = forecast_values_activation((enum forecast_type)type);
        struct range_loss one = {.count = 0};

        range_add(&one, activation, values, count);
        range_merge(&op->types[type].sum, &one);
        const double relative = range_relative(&one);

        op->types[type].worst = relative > op->types[type].worst ? relative : op->types[type].worst;
    }
}

static tapml_status visit(void *user, const struct probe_call *call)
{
    struct judging *judging = user;
    const uint32_t index = graph_find_op(judging->values.graph, call->instance);

    if (index == GRAPH_NONE) {
        return interrupt_check();
    }
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        const struct case_argument *argument = &call->arguments[p];
        const void *content = argument->after != NULL ? argument->after : argument->before;

        if (content != NULL && argument->dtype == TAPML_F32) {
            add(&judging->values.ops[index], content, argument->content_bytes / sizeof(float));
        }
    }
    judging->values.ops[index].calls++;
    return interrupt_check();
}

// -- Running -----------------------------------------------------------------------------------

static tapml_status run_prompt(struct judging *judging,
                               struct session *session,
                               const struct session_options *options,
                               const struct prompt *prompt)
{
    const struct nonfinite_run again = {.session = options,
                                        .ids = prompt->ids,
                                        .count = (int64_t)prompt->count,
                                        .decode = judging->run->decode,
                                        .given = &prompt->given};
    const struct run_options run = {.ids = prompt->ids,
                                    .count = (int64_t)prompt->count,
                                    .decode = judging->run->decode,
                                    .given = &prompt->given,
                                    .end = judging->run->end,
                                    .end_count = judging->run->end_count};
    int64_t count = 0;

    TAPML_TRY(nonfinite_search_explain(run_greedy(session, &run, judging->greedy, &count), &again));
    judging->values.tokens += prompt->count + (uint64_t)(count > 0 ? count - 1 : 0);
    return TAPML_OK;
}

static tapml_status run_prompts(struct judging *judging)
{
    const struct forecast_run *run = judging->run;
    struct session_options options = *run->session;
    struct session *session = NULL;
    tapml_status status = TAPML_OK;

    options.places = &judging->place;
    TAPML_TRY(session_create(&options, &session));
    for (size_t i = 0; i < run->prompts->count && status == TAPML_OK; i++) {
        status = run_prompt(judging, session, run->session, &run->prompts->items[i]);
    }
    session_destroy(session);
    return status;
}

static tapml_status judge(struct judging *judging)
{
    const struct place *source = judging->run->session->places[0];
    const struct graph *graph = judging->values.graph;
    struct probe_options options = {.wants = wants, .visit = visit, .user = judging};
    const struct place_link link = probe_link(&options);

    judging->values.ops = alloc_array((size_t)graph->op_count + 1, sizeof(*judging->values.ops));
    judging->marks = alloc_array((size_t)graph->value_count + 1, sizeof(*judging->marks));
    judging->greedy = alloc_array((size_t)judging->run->decode + 1, sizeof(*judging->greedy));
    if (judging->values.ops == NULL || judging->marks == NULL || judging->greedy == NULL) {
        return status_no_memory();
    }
    cast_mark(graph, judging->marks);
    TAPML_TRY(place_wrap(source, &source->settings, &link, 1, &judging->place));
    return run_prompts(judging);
}

static tapml_status find_once(const struct forecast_run *run, struct forecast_values *out_values)
{
    struct judging judging = {.run = run, .values.graph = model_graph(run->session->model)};
    const tapml_status status = judge(&judging);

    place_destroy(judging.place);
    alloc_free(judging.marks);
    alloc_free(judging.greedy);
    if (status != TAPML_OK) {
        forecast_values_release(&judging.values);
        return status;
    }
    *out_values = judging.values;
    return TAPML_OK;
}

tapml_status forecast_values_find(const struct forecast_run *run,
                                  struct forecast_values *out_values)
{
    struct persist persist;
    tapml_status status = TAPML_OK;

    *out_values = (struct forecast_values){.graph = NULL};
    persist_begin(&persist, run->session->places[0]->backend);
    do {
        forecast_values_release(out_values); // Of a run whose source was ended.
        status = find_once(run, out_values);
    } while (persist_again(&persist, &status));
    return status;
}
