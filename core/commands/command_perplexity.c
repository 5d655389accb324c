// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "exec/plan.h"
#include "report/perplexity_data.h"
#include "report/report_files.h"
#include "run/interrupt.h"
#include "run/nonfinite_search.h"
#include "run/perplexity.h"
#include "run/plan_setup.h"
#include "run/text_setup.h"

#include <stdio.h>

static const struct options_spec specs[] = {
    {"--model", "PATH",
     "the model's folder, a name or a GGUF file; default with --plan: that of the plan's run"},
    TEXT_SETUP_OPTIONS,
    {"--base", "PATH", "compares with this model on the source, such as one without quantisation"},
    PLAN_SETUP_OPTIONS,
    {"--json", "FILE", "writes the numbers as JSON, too"},
    SETUP_ISOLATION_OPTIONS,
    SETUP_OBSERVER_OPTIONS,
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_perplexity_manual = {
    .usage = "tapml-host perplexity --model PATH --text FILE [--backend B | --plan FILE]",
    .about = "Measures how well a model predicts a text; under a plan, in f16 or with "
             "--base also how far its probabilities are from those of the source.",
    .specs = specs,
};

struct command_perplexity {
    struct options options;
    struct setup setup;
    struct plan_setup plan_setup;
    const char *model; // Its folder.
    struct text_chunks chunks;
    struct plan *plan;
    struct session_options session_options;
    struct session *session;
    struct text_setup_base base; // Its session: or NULL.
    struct perplexity perplexity;
    double *running; // Behind each chunk.
};

static tapml_status read_text(struct command_perplexity *state)
{
    TAPML_TRY(text_setup_chunks(&state->setup, &state->options, state->model, 0, &state->chunks));
    state->running = alloc_array((size_t)state->chunks.chunk_count, sizeof(*state->running));
    return state->running != NULL ? TAPML_OK : status_no_memory();
}

// Compared is with another model, or with the same on the source alone, unless it runs there
// anyway.
static tapml_status open_sessions(struct command_perplexity *state)
{
    const char *base = options_get(&state->options, "--base");

    TAPML_TRY(plan_setup_plan(&state->plan_setup, &state->plan));
    state->session_options = text_setup_session(&state->setup, state->plan, &state->chunks);
    TAPML_TRY(session_create(&state->session_options, &state->session));
    return base != NULL || plan_setup_is_mixed(&state->plan_setup)
               ? text_setup_open_base(&state->setup, &state->options, base, &state->session_options,
                                      &state->base)
               : TAPML_OK;
}

static void show_chunk(void *user, const struct perplexity *perplexity)
{
    struct command_perplexity *state = user;
    const double value = perplexity_value(&perplexity->surprise);

    state->running[perplexity->chunk - 1] = value;
    (void)printf("chunk %lld of %lld: perplexity so far %.4f\n", (long long)perplexity->chunk,
                 (long long)state->chunks.chunk_count, value);
    (void)fflush(stdout);
}

// Where the logits of a chunk are no numbers, what makes them so.
static tapml_status explain(const struct command_perplexity *state, tapml_status status)
{
    const int64_t context = state->chunks.context;
    int32_t *ids = alloc_array((size_t)context, sizeof(*ids));

    if (ids == NULL) {
        return status;
    }
    text_chunks_copy(&state->chunks, state->perplexity.chunk, ids);
    status = nonfinite_search_explain(
        status,
        &(struct nonfinite_run){.session = &state->session_options, .ids = ids, .count = context});
    alloc_free(ids);
    return status;
}

static tapml_status print(struct command_perplexity *state)
{
    const char *path = options_get(&state->options, "--json");
    const struct backend_info *info = backend_info(state->setup.places[0]->backend);
    char source[256];
    json_t *document = NULL;
    struct text text;

    (void)snprintf(source, sizeof(source), "%s:%s", info->component, info->device);
    tapml_status status = perplexity_data_create(
        &(struct perplexity_data){.model = state->model,
                                  .text = options_get(&state->options, "--text"),
                                  .source = source,
                                  .plan = state->plan_setup.plan,
                                  .base = options_get(&state->options, "--base"),
                                  .activations =
                                      activation_type(state->plan_setup.activation)->name,
                                  .chunks = &state->chunks,
                                  .perplexity = &state->perplexity,
                                  .running = state->running},
        &document);

    text_init(&text);
    if (status == TAPML_OK) {
        perplexity_data_print(document, &text);
        status = text_print(&text);
    }
    if (status == TAPML_OK && path != NULL) {
        status = report_files_write_json(document, path);
    }
    json_decref(document);
    return status;
}

static tapml_status measure(struct command_perplexity *state)
{
    struct model_options model = {.folder = NULL};

    TAPML_TRY(plan_setup_open(&state->setup, &state->options, &state->plan_setup));
    TAPML_TRY(plan_setup_model(&state->plan_setup, &model));
    state->model = model.folder;
    TAPML_TRY(read_text(state));
    TAPML_TRY(plan_setup_places(&state->plan_setup));
    TAPML_TRY(open_sessions(state));
    (void)printf("%s: %lld tokens, %lld chunks of %lld, of which %lld are scored\n",
                 options_get(&state->options, "--text"), (long long)state->chunks.count,
                 (long long)state->chunks.chunk_count, (long long)state->chunks.context,
                 (long long)(state->chunks.context - 1 - text_chunks_first(&state->chunks)));
    const tapml_status status =
        perplexity_run(&(struct perplexity_options){.session = state->session,
                                                    .base = state->base.session,
                                                    .chunks = &state->chunks,
                                                    .call = state->session_options.chunk,
                                                    .after_chunk = show_chunk,
                                                    .user = state},
                       &state->perplexity);

    if (status != TAPML_OK) {
        return explain(state, status);
    }
    TAPML_TRY(print(state));
    return plan_setup_explain(&state->plan_setup, state->session);
}

static void release(struct command_perplexity *state)
{
    perplexity_release(&state->perplexity);
    session_destroy(state->session);
    text_setup_close_base(&state->setup, &state->base);
    plan_destroy(state->plan);
    text_chunks_release(&state->chunks);
    alloc_free(state->running);
    plan_setup_close(&state->plan_setup);
    setup_close(&state->setup);
}

enum outcome command_perplexity_main(const struct command *command)
{
    struct command_perplexity state = {.model = NULL};
    tapml_status status = options_parse(specs, command->argc, command->argv, &state.options);

    if (status == TAPML_OK) {
        status = options_no_plain(&state.options);
    }
    if (status == TAPML_OK && options_get(&state.options, "--help") != NULL) {
        return outcome_report(options_help(&command_perplexity_manual));
    }
    if (status == TAPML_OK) {
        status = report_files_try(options_get(&state.options, "--json"), NULL);
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &state.options, NULL, &state.setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    interrupt_watch();
    status = measure(&state);
    const enum outcome outcome = outcome_report(status);

    release(&state);
    return outcome;
}
