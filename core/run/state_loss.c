// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/state_loss.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "exec/run.h"
#include "run/progress.h"
#include "store/loss.h"
#include "store/metadata.h"
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct measuring {
    const struct run_config *config;
    struct setup *setup;
    const struct prompt *prompt;
    struct plan *plan; // All on the source.
    struct arena *arena;
    float *logits; // Of the run with states of f32, in the arena.
    size_t logit_count;
    struct loss_row *rows; // Of the states, in the order of the graph, in the arena.
    size_t count;
    double difference; // Of the logits: root of the squared differences over the squared values.
};

// What a run is compared by: logits, or of an encoder what it has.
static const char *output_of(const struct graph *graph)
{
    return graph_find_output(graph, "logits") != GRAPH_NONE
               ? "logits"
               : graph->outputs[graph->output_count - 1].name;
}

static tapml_status read_output(const struct measuring *measuring,
                                struct session *session,
                                const float **out_values,
                                size_t *out_count)
{
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    const char *name = output_of(model_graph(measuring->setup->model));

    TAPML_TRY(session_output(session, name, out_values, shape, &rank));
    *out_count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        *out_count *= (size_t)shape[i];
    }
    return TAPML_OK;
}

// -- States of f32 -----------------------------------------------------------------------------

// The states that the model keeps in fewer bits.
static tapml_status list_states(struct measuring *measuring)
{
    const struct graph *graph = model_graph(measuring->setup->model);

    measuring->rows =
        arena_array(measuring->arena, (size_t)graph->value_count + 1, sizeof(*measuring->rows));
    if (measuring->rows == NULL) {
        return status_no_memory();
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct graph_value *value = &graph->values[v];

        if (value->kind == GRAPH_STATE && state_type_is_reduced(value)) {
            measuring->rows[measuring->count++].weight = value->name;
        }
    }
    return TAPML_OK;
}

static tapml_status
measure_state(const struct measuring *measuring, struct session *session, struct loss_row *row)
{
    const float *values = NULL;
    uint64_t row_values = 0;
    struct encoding_loss loss = {.error_max = 0};

    TAPML_TRY(session_state(session, row->weight, &values, &row_values));
    TAPML_TRY(state_type_loss(measuring->config->state, values,
                              row_values * measuring->prompt->count, &loss));
    row->relative = encoding_loss_relative(&loss);
    row->largest = loss.error_max;
    return TAPML_OK;
}

static tapml_status look_at_plain(struct measuring *measuring, struct session *session)
{
    const float *logits = NULL;

    TAPML_TRY(read_output(measuring, session, &logits, &measuring->logit_count));
    measuring->logits =
        arena_array(measuring->arena, measuring->logit_count + 1, sizeof(*measuring->logits));
    if (measuring->logits == NULL) {
        return status_no_memory();
    }
    memcpy(measuring->logits, logits, measuring->logit_count * sizeof(*logits));
    for (size_t i = 0; i < measuring->count; i++) {
        TAPML_TRY(measure_state(measuring, session, &measuring->rows[i]));
    }
    return TAPML_OK;
}

// -- States in fewer bits ----------------------------------------------------------------------

static tapml_status look_at_reduced(struct measuring *measuring, struct session *session)
{
    struct encoding_loss loss = {.error_max = 0};
    const float *logits = NULL;
    size_t count = 0;

    TAPML_TRY(read_output(measuring, session, &logits, &count));
    ASSERT(count == measuring->logit_count);
    for (size_t i = 0; i < count; i++) {
        const double value = measuring->logits[i], error = logits[i] - value;

        loss.error_squares += error * error;
        loss.value_squares += value * value;
    }
    measuring->difference = encoding_loss_relative(&loss);
    return TAPML_OK;
}

// -- Both --------------------------------------------------------------------------------------

// Runs the prompt with states of `type`, and looks at what is there then.
static tapml_status run_with(struct measuring *measuring,
                             enum state_type type,
                             tapml_status (*look)(struct measuring *, struct session *))
{
    const struct session_options options = {.model = measuring->setup->model,
                                            .places = measuring->setup->places,
                                            .place_count = 1,
                                            .plan = measuring->plan,
                                            .capacity = measuring->config->capacity,
                                            .chunk = measuring->config->chunk};
    const struct run_options prompt = {.ids = measuring->prompt->ids,
                                       .count = (int64_t)measuring->prompt->count,
                                       .given = &measuring->prompt->given};
    struct session *session = NULL;
    int64_t count = 0;

    TAPML_TRY(model_set_state(measuring->setup->model, type));
    TAPML_TRY(session_create(&options, &session));
    struct persist persist;
    tapml_status status = TAPML_OK;

    session_persist(session, &persist);
    do {
        status = run_greedy(session, &prompt, NULL, &count);
        if (status == TAPML_OK) {
            status = look(measuring, session);
        }
    } while (persist_again(&persist, &status));
    session_destroy(session);
    return status;
}

static tapml_status write_rows(const struct measuring *measuring, struct store *store)
{
    struct loss_row *weights = NULL;
    char difference[32];
    size_t count = 0;

    (void)snprintf(difference, sizeof(difference), "%.17g", measuring->difference);
    TAPML_TRY(loss_list(store, measuring->arena, &weights, &count));
    struct loss_row *all = arena_array(measuring->arena, count + measuring->count, sizeof(*all));

    if (all == NULL) {
        return status_no_memory();
    }
    memcpy(all, weights, count * sizeof(*all));
    memcpy(all + count, measuring->rows, measuring->count * sizeof(*all));
    TAPML_TRY(loss_replace(store, all, count + measuring->count));
    return metadata_set(store, "model.state.difference", difference);
}

static void print(const struct measuring *measuring, struct progress *progress)
{
    const struct loss_row *worst = measuring->rows;

    for (size_t i = 1; i < measuring->count; i++) {
        worst = measuring->rows[i].relative > worst->relative ? &measuring->rows[i] : worst;
    }
    progress_end(progress,
                 "%zu states as %s; '%s' lost most, %.3g of its values; logits differ by %.3g from "
                 "those with states of f32",
                 measuring->count, state_type_word(measuring->config->state), worst->weight,
                 worst->relative, measuring->difference);
}

static tapml_status measure(struct measuring *measuring, struct store *store)
{
    struct progress progress;

    TAPML_TRY(list_states(measuring));
    if (measuring->count == 0) {
        return TAPML_OK;
    }
    progress_begin(&progress, "states", 0);
    tapml_status status = run_with(measuring, STATE_F32, look_at_plain);
    const tapml_status after =
        status == TAPML_OK ? run_with(measuring, measuring->config->state, look_at_reduced)
                           : model_set_state(measuring->setup->model, measuring->config->state);

    TAPML_TRY(status);
    TAPML_TRY(after);
    TAPML_TRY(store_begin(store));
    status = write_rows(measuring, store);
    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    print(measuring, &progress);
    return store_commit(store);
}

tapml_status state_loss_run(const struct run_config *config,
                            struct setup *setup,
                            struct store *store,
                            const struct prompts *prompts)
{
    struct measuring measuring = {.config = config, .setup = setup, .prompt = prompts->items};

    if (config->state == STATE_F32 || prompts->count == 0 ||
        metadata_get(store, "model.state.difference") != NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(plan_create(&measuring.plan));
    measuring.arena = arena_create();
    const tapml_status status =
        measuring.arena != NULL ? measure(&measuring, store) : status_no_memory();

    arena_destroy(measuring.arena);
    plan_destroy(measuring.plan);
    return status;
}
