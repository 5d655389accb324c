// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/setup.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "exec/reduced.h"
#include "link/loopback.h"

#include <stdio.h>
#include <string.h>

static tapml_status open_with(const char *program,
                              const struct options *options,
                              const struct ini *ini,
                              int takes_all,
                              struct setup *out_setup)
{
    struct setup setup = {.program = program, .ini = ini};
    const char *files[OPTIONS_MAX + 1] = {NULL};
    int64_t threads = 0;

    TAPML_TRY(options_i64(options, "--threads", 0, 1, 1024, &threads));
    for (size_t i = 0; i < OPTIONS_MAX && options_at(options, "--plugin", i) != NULL; i++) {
        files[i] = options_at(options, "--plugin", i);
    }
    TAPML_TRY(pool_create((uint32_t)threads, &setup.pool));
    setup.arena = arena_create();
    const tapml_status status =
        setup.arena == NULL
            ? status_no_memory()
            : registry_create(
                  &(struct registry_options){.program = program,
                                             .files = files,
                                             .ini = ini,
                                             .ini_path = ini != NULL ? ini->name : NULL,
                                             .pool = setup.pool,
                                             .safe_only = options_get(options, "--safe") != NULL,
                                             .takes_all = takes_all},
                  &setup.registry);

    if (status != TAPML_OK) {
        arena_destroy(setup.arena);
        pool_destroy(setup.pool);
        return status;
    }
    *out_setup = setup;
    return TAPML_OK;
}

tapml_status setup_open(const char *program,
                        const struct options *options,
                        const struct ini *ini,
                        struct setup *out_setup)
{
    return open_with(program, options, ini, 0, out_setup);
}

tapml_status setup_open_check(const char *program,
                              const struct options *options,
                              const struct ini *ini,
                              struct setup *out_setup)
{
    return open_with(program, options, ini, 1, out_setup);
}

void setup_close(struct setup *setup)
{
    for (uint32_t i = setup->place_count; i > 0; i--) { // A reduced place wraps one before it.
        residency_destroy(setup->weights[i - 1]);
        backend_release(setup->backends[i - 1]);
        backend_release(setup->inner[i - 1]);
    }
    tokenizer_close(setup->tokenizer);
    model_close(setup->model);
    registry_destroy(setup->registry);
    pool_destroy(setup->pool);
    arena_destroy(setup->arena);
    *setup = (struct setup){0};
}

tapml_status setup_read_model(const struct options *given, struct model_options *options)
{
    const char *word = options_get(given, "--unknown-keys");

    if (word != NULL && strcmp(word, "allow") != 0 && strcmp(word, "refuse") != 0) {
        return status_fail(TAPML_INVALID, "--unknown-keys is '%s', expected 'refuse' or 'allow'",
                           word);
    }
    options->allow_unknown_keys = word != NULL && strcmp(word, "allow") == 0;
    options->architecture = options_get(given, "--architecture");
    return TAPML_OK;
}

// What runs on ids needs no text, so a file that is not understood is no failure yet.
static tapml_status open_tokenizer(struct setup *setup, const char *folder)
{
    const tapml_status status = tokenizer_open(folder, &setup->tokenizer);

    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    setup->no_text = arena_text(setup->arena, status_message());
    return setup->no_text != NULL ? TAPML_OK : status_no_memory();
}

void setup_warn_no_text(const struct setup *setup)
{
    if (setup->no_text != NULL) {
        log_line(LOG_WARNING, "ids alone can be used, no text: %s", setup->no_text);
    }
}

tapml_status setup_model(struct setup *setup, const struct model_options *options)
{
    char *path = file_join(options->folder, "tokenizer.json");

    if (path == NULL) {
        return status_no_memory();
    }
    const int has_tokenizer = file_exists(path);

    alloc_free(path);
    TAPML_TRY(model_open(setup->registry, options, &setup->model));
    if (has_tokenizer) {
        TAPML_TRY(open_tokenizer(setup, options->folder));
    }
    return special_load(options->folder, &setup->special);
}

static tapml_status open_place(struct setup *setup,
                               const char *backend,
                               const struct isolation *how,
                               const struct fault_rule *rules,
                               size_t rule_count)
{
    struct backend **out_backend = &setup->backends[setup->place_count];
    struct backend **inner = &setup->inner[setup->place_count];

    if (how->mode == ISOLATION_ALWAYS) {
        return isolation_open(&(struct isolation_options){.program = setup->program,
                                                          .registry = setup->registry,
                                                          .ini = setup->ini,
                                                          .threads = pool_width(setup->pool),
                                                          .rules = rules,
                                                          .rule_count = rule_count,
                                                          .arena = setup->arena},
                              how, backend, out_backend);
    }
    if (how->mode == ISOLATION_NEVER) {
        return registry_open(setup->registry, backend, out_backend);
    }
    TAPML_TRY(registry_open(setup->registry, backend, inner));
    const tapml_status status =
        loopback_create(*inner, registry_catalogue(setup->registry), setup->arena, out_backend);

    if (status != TAPML_OK) {
        backend_release(*inner);
        *inner = NULL;
    }
    return status;
}

static tapml_status check_room(const struct setup *setup)
{
    return setup->place_count < SESSION_PLACES_MAX
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "more than %d backends at once", SESSION_PLACES_MAX);
}

// Counts the backend that was just opened as a place.
static tapml_status add_place(struct setup *setup, const char *place)
{
    const uint32_t index = setup->place_count;
    const tapml_status status = residency_create(setup->backends[index], &setup->weights[index]);

    if (status != TAPML_OK) {
        backend_release(setup->backends[index]);
        backend_release(setup->inner[index]);
        setup->backends[index] = setup->inner[index] = NULL;
        return status;
    }
    setup->places[index] = place;
    setup->place_count++;
    return TAPML_OK;
}

tapml_status setup_place_isolated(struct setup *setup,
                                  const char *place,
                                  const char *backend,
                                  const struct isolation *how,
                                  const struct fault_rule *rules,
                                  size_t rule_count)
{
    TAPML_TRY(check_room(setup));
    TAPML_TRY(open_place(setup, backend, how, rules, rule_count));
    return add_place(setup, place);
}

tapml_status setup_place(struct setup *setup, const char *place, const char *backend)
{
    const struct isolation never = {.mode = ISOLATION_NEVER};

    return setup_place_isolated(setup, place, backend, &never, NULL, 0);
}

tapml_status setup_targets(struct setup *setup, const struct options *options)
{
    for (size_t i = 0; options_at(options, "--target", i) != NULL; i++) {
        const char *word = options_at(options, "--target", i);
        const char *equals = strchr(word, '=');

        if (equals == NULL || equals == word || equals[1] == '\0') {
            return status_fail(TAPML_INVALID, "--target is '%s', expected NAME=BACKEND", word);
        }
        char *name = arena_new(setup->arena, (size_t)(equals - word) + 1);

        if (name == NULL) {
            return status_no_memory();
        }
        memcpy(name, word, (size_t)(equals - word)); // It is zeroed.
        TAPML_TRY(setup_place(setup, name, equals + 1));
    }
    return TAPML_OK;
}

tapml_status setup_place_absent(struct setup *setup, const char *place)
{
    TAPML_TRY(check_room(setup));
    setup->places[setup->place_count++] = place;
    return TAPML_OK;
}

tapml_status setup_place_reduced(struct setup *setup,
                                 const char *place,
                                 uint32_t index,
                                 enum activation activation)
{
    struct reduced *reduced = NULL;

    TAPML_TRY(check_room(setup));
    TAPML_TRY(reduced_create(setup->backends[index], activation, &reduced));
    setup->backends[setup->place_count] = reduced_backend(reduced);
    return add_place(setup, place);
}

tapml_status setup_plan(const struct setup *setup, struct plan **out_plan)
{
    struct plan *plan = NULL;
    char rule[128];

    TAPML_TRY(plan_create(&plan));
    (void)snprintf(rule, sizeof(rule), "* -> %.100s", setup->places[setup->place_count - 1]);
    const tapml_status status = plan_add(plan, rule, "plan");

    if (status != TAPML_OK) {
        plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return TAPML_OK;
}

tapml_status setup_read_activations(const struct options *options, enum activation *out_activation)
{
    const char *word = options_get(options, "--activations");

    *out_activation = ACTIVATION_F32;
    return word != NULL ? activation_read("--activations", word, out_activation) : TAPML_OK;
}

tapml_status setup_default_backend(struct setup *setup, const char **out_name)
{
    const char *first = registry_component(setup->registry, TAPML_KIND_BACKEND, 0);

    if (first == NULL) {
        return status_fail(TAPML_UNAVAILABLE,
                           "no backend can be used; 'tapml-host plugins' says what was found");
    }
    *out_name = first;
    for (size_t i = 0;; i++) {
        const char *name = registry_component(setup->registry, TAPML_KIND_BACKEND, i);

        if (name == NULL) {
            return TAPML_OK;
        }
        if (registry_component_key(setup->registry, name, "calibrates") != NULL) {
            *out_name = name;
            return TAPML_OK;
        }
    }
}

tapml_status setup_check_decode(const struct setup *setup, int64_t decode)
{
    if (decode > 0 && graph_find_output(model_graph(setup->model), "logits") == GRAPH_NONE) {
        return status_fail(TAPML_INVALID,
                           "the model gives no 'logits' to choose tokens by, as an encoder: "
                           "expected decode = 0, found %lld",
                           (long long)decode);
    }
    return TAPML_OK;
}

int64_t setup_vocabulary(const struct setup *setup)
{
    const struct graph *graph = model_graph(setup->model);
    const uint32_t index = graph_find_output(graph, "logits");

    if (index == GRAPH_NONE) {
        return 0;
    }
    const struct graph_value *logits = &graph->values[index];

    return logits->rank > 0 ? logits->shape[logits->rank - 1].constant : 0;
}
