// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "exec/run.h"
#include "run/interrupt.h"
#include "run/setup.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"

#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--model", "DIR", "the model's folder; default with --plan: that of the plan's run"},
    {"--prompt", "TEXT", "the prompt to continue"},
    {"--ids", "IDS", "the same as ids: '5 17 3'"},
    {"--count", "N", "tokens to produce, 32 by default"},
    {"--backend", "B", "runs everything on one backend: COMPONENT or COMPONENT:DEVICE"},
    {"--activations", "TYPE", "f32 (default) or f16, of --backend"},
    {"--plan", "FILE", "runs a plan; its places come from the run in its folder, or from:"},
    {"--source", "B", "the backend of the plan's place 'source'"},
    {"--target", "NAME=B", "the backend of another place of the plan; may be repeated"},
    {"--capacity", "N", "maximum tokens of prompt and answer"},
    {"--weights", "W",
     "'q8_0' or 'q4_0' encodes weights at load; default with --plan: as in its run"},
    {"--json", NULL, "prints ids and text as JSON"},
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

struct generate {
    struct options options;
    struct setup setup;
    struct store *run; // The run that the plan lies in; or NULL.
    struct plan *plan;
    char model[4096];
    int32_t *ids;
    int64_t count, decode;
    enum activation activation; // Without a plan: of everything.
};

// -- Places ------------------------------------------------------------------------------------

// The store of the run in whose folder the plan lies, if it lies in one.
static tapml_status open_run(struct generate *generate, const char *plan_path)
{
    char *folder = file_folder(plan_path);
    char *path = folder != NULL ? file_join(folder, "run.tapmlrun") : NULL;
    tapml_status status = path != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK && file_exists(path)) {
        status = store_open_to_read(path, &generate->run);
    }
    alloc_free(path);
    alloc_free(folder);
    return status;
}

static const char *metadata(struct generate *generate, const char *name)
{
    return generate->run != NULL ? metadata_get(generate->run, name) : NULL;
}

// Adds and opens a place of which the setup keeps the texts.
static tapml_status add_place(struct generate *generate,
                              const char *name,
                              const char *backend,
                              enum activation activation)
{
    struct setup *setup = &generate->setup;
    const struct place_settings settings = {.name = arena_text(setup->arena, name),
                                            .backend = arena_text(setup->arena, backend),
                                            .activation = activation};
    struct place *place = NULL;

    if (settings.name == NULL || settings.backend == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(setup_add_place(setup, &settings, &place));
    return setup_open_place(setup, place);
}

// The targets of the plan's run, with the activations that they had there.
static tapml_status add_targets(struct generate *generate, struct arena *arena)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(generate->run, arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        const struct target_row *target = &targets[i];
        enum activation activation = ACTIVATION_F32;

        TAPML_TRY(activation_read("the run's column target.activations", target->activations,
                                  &activation));
        TAPML_TRY(add_place(generate, target->name, target->backend, activation));
    }
    return TAPML_OK;
}

static tapml_status add_targets_of_run(struct generate *generate)
{
    if (generate->run == NULL) {
        return TAPML_OK;
    }
    struct arena *arena = arena_create();
    const tapml_status status = arena != NULL ? add_targets(generate, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}

static tapml_status open_places(struct generate *generate)
{
    const struct options *options = &generate->options;
    const char *source = options_get(options, "--source");

    source = source != NULL ? source : options_get(options, "--backend");
    source = source != NULL ? source : metadata(generate, "source");
    if (source == NULL) {
        TAPML_TRY(setup_default_backend(&generate->setup, &source));
    }
    TAPML_TRY(add_place(generate, "source", source, ACTIVATION_F32));
    TAPML_TRY(setup_read_activations(options, &generate->activation));
    const int is_reduced = activation_is_reduced(generate->activation);

    if (is_reduced && options_get(options, "--plan") != NULL) {
        return status_fail(TAPML_INVALID, "--activations and --plan exclude each other: the "
                                          "targets of a plan have the activations of their run");
    }
    if (is_reduced) {
        return setup_place_reduced(&generate->setup, activation_type(generate->activation)->name,
                                   generate->setup.places[0], generate->activation);
    }
    return options_at(options, "--target", 0) != NULL ? setup_targets(&generate->setup, options)
                                                      : add_targets_of_run(generate);
}

// -- The prompt --------------------------------------------------------------------------------

static tapml_status parse_ids(struct generate *generate, const char *text)
{
    size_t capacity = 0;
    void *ids = NULL;

    while (text[strspn(text, " ")] != '\0') {
        char word[24];
        int64_t id = 0;

        text += strspn(text, " ");
        const size_t length = strcspn(text, " ");

        (void)snprintf(word, sizeof(word), "%.*s", (int)(length < 23 ? length : 23), text);
        if (length > 22 || text_parse_i64(word, &id) != TAPML_OK || id < 0 || id > INT32_MAX) {
            alloc_free(ids);
            return status_fail(TAPML_INVALID, "--ids: '%s' is no token id", word);
        }
        if (!alloc_grow(&ids, &capacity, (size_t)generate->count, sizeof(int32_t))) {
            alloc_free(ids);
            return status_no_memory();
        }
        ((int32_t *)ids)[generate->count++] = (int32_t)id;
        text += length;
    }
    generate->ids = ids;
    return TAPML_OK;
}

static tapml_status read_prompt(struct generate *generate)
{
    const char *text = options_get(&generate->options, "--prompt");
    const char *ids = options_get(&generate->options, "--ids");
    size_t count = 0;

    if ((text == NULL) == (ids == NULL)) {
        return status_fail(TAPML_INVALID, "give either --prompt or --ids");
    }
    if (ids != NULL) {
        TAPML_TRY(parse_ids(generate, ids));
        setup_warn_no_text(&generate->setup);
    } else if (generate->setup.no_text != NULL) {
        return status_fail(TAPML_INVALID, "%s; give --ids", generate->setup.no_text);
    } else if (generate->setup.tokenizer == NULL) {
        return status_fail(TAPML_INVALID, "the model '%s' has no tokenizer.json; give --ids",
                           generate->model);
    } else {
        TAPML_TRY(tokenizer_encode(generate->setup.tokenizer, text, strlen(text), 1, &generate->ids,
                                   &count));
        generate->count = (int64_t)count;
    }
    return generate->count > 0 ? TAPML_OK : status_fail(TAPML_INVALID, "the prompt is empty");
}

// -- Running -----------------------------------------------------------------------------------

static tapml_status check_interrupt(void *user, int64_t step, int32_t next_id)
{
    (void)user;
    (void)step;
    (void)next_id;
    return interrupt_check();
}

static tapml_status print_result(const struct generate *generate, const int32_t *ids, int64_t count)
{
    char *decoded = NULL;
    struct text text;

    if (generate->setup.tokenizer != NULL) {
        TAPML_TRY(tokenizer_decode(generate->setup.tokenizer, ids, (size_t)count, 1, &decoded));
    }
    text_init(&text);
    if (options_get(&generate->options, "--json") != NULL) {
        text_format(&text, "{\"prompt_tokens\": %lld, \"ids\": [", (long long)generate->count);
        for (int64_t i = 0; i < count; i++) {
            text_format(&text, "%s%d", i > 0 ? ", " : "", ids[i]);
        }
        text_append(&text, "], \"text\": ");
        text_append_json(&text, decoded != NULL ? decoded : "");
        text_append(&text, "}");
    } else if (decoded != NULL) {
        text_append(&text, decoded);
    } else {
        for (int64_t i = 0; i < count; i++) {
            text_format(&text, "%s%d", i > 0 ? " " : "", ids[i]);
        }
    }
    const tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        (void)printf("%s\n", text.data);
    }
    text_release(&text);
    alloc_free(decoded);
    return status;
}

static tapml_status run_session(struct generate *generate, struct session *session)
{
    const struct special *special = &generate->setup.special;
    int32_t *ids =
        alloc_array((size_t)(generate->count + generate->decode) + 1, sizeof(*generate->ids));
    int64_t produced = 0;

    if (ids == NULL) {
        return status_no_memory();
    }
    memcpy(ids, generate->ids, (size_t)generate->count * sizeof(*ids));
    tapml_status status = run_greedy(session,
                                     &(struct run_options){.ids = generate->ids,
                                                           .count = generate->count,
                                                           .decode = generate->decode,
                                                           .end = special->end,
                                                           .end_count = special->end_count,
                                                           .after_step = check_interrupt},
                                     ids + generate->count, &produced);

    if (status == TAPML_OK) {
        status = print_result(generate, ids, generate->count + produced);
    }
    alloc_free(ids);
    return status;
}

static tapml_status make_session(struct generate *generate, struct session **out_session)
{
    const char *plan_path = options_get(&generate->options, "--plan");
    int64_t capacity = 0;

    TAPML_TRY(options_i64(&generate->options, "--capacity", generate->count + generate->decode, 1,
                          1 << 24, &capacity));
    TAPML_TRY(plan_path != NULL ? plan_load(plan_path, &generate->plan)
              : activation_is_reduced(generate->activation)
                  ? setup_plan(&generate->setup, &generate->plan)
                  : plan_create(&generate->plan));
    return session_create(&(struct session_options){.model = generate->setup.model,
                                                    .places = generate->setup.places,
                                                    .place_count = generate->setup.place_count,
                                                    .plan = generate->plan,
                                                    .capacity = capacity,
                                                    .chunk = capacity < 128 ? capacity : 128},
                          out_session);
}

static tapml_status open_model(struct generate *generate)
{
    const char *folder = options_get(&generate->options, "--model");

    folder = folder != NULL ? folder : metadata(generate, "model.path");
    if (folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model DIR");
    }
    (void)snprintf(generate->model, sizeof(generate->model), "%s", folder);
    const char *weights = options_get(&generate->options, "--weights");

    weights = weights != NULL ? weights : metadata(generate, "model.weights");
    struct model_options options = {.folder = generate->model};

    if (weights != NULL && strcmp(weights, "stored") != 0) {
        options.encoding = encoding_find_word(weights);
        if (options.encoding == NULL) {
            return status_fail(TAPML_INVALID, "--weights is 'stored', 'q8_0' or 'q4_0', found '%s'",
                               weights);
        }
    }
    TAPML_TRY(setup_read_model(&generate->options, &options));
    TAPML_TRY(setup_model(&generate->setup, &options));
    return setup_check_decode(&generate->setup, generate->decode);
}

static tapml_status generate(struct generate *generate)
{
    const char *plan_path = options_get(&generate->options, "--plan");
    struct session *session = NULL;

    if (plan_path != NULL) {
        TAPML_TRY(open_run(generate, plan_path));
    }
    TAPML_TRY(options_i64(&generate->options, "--count", 32, 1, 1 << 24, &generate->decode));
    TAPML_TRY(open_model(generate));
    TAPML_TRY(read_prompt(generate));
    TAPML_TRY(open_places(generate));
    TAPML_TRY(make_session(generate, &session));
    const tapml_status status = run_session(generate, session);

    session_destroy(session);
    return status;
}

enum outcome command_generate_main(const struct command *command)
{
    struct generate state = {.count = 0};
    tapml_status status = options_parse(specs, command->argc, command->argv, &state.options);

    if (status == TAPML_OK) {
        status = options_no_plain(&state.options);
    }
    if (status == TAPML_OK && options_get(&state.options, "--help") != NULL) {
        options_help("generate --model DIR --prompt TEXT [--backend B | --plan FILE]",
                     "Continues a prompt, greedily.\n", specs);
        return OUTCOME_OK;
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &state.options, NULL, &state.setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    interrupt_watch();
    status = generate(&state);
    const enum outcome outcome = outcome_report(status);

    plan_destroy(state.plan);
    store_close(state.run);
    alloc_free(state.ids);
    setup_close(&state.setup);
    return outcome;
}
