// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/setup.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"
#include "config/isolation.h"
#include "config/model_path.h"
#include "config/survey.h"
#include "exec/expanded.h"
#include "exec/reduced.h"
#include "exec/timed.h"
#include "link/loopback.h"
#include "plugin/search.h"
#include "run/observers.h"
#include "run/winners.h"
#include "run/worker_options.h"
#include "tensor/encoding.h"
#include "verify/fault.h"

#include <stdio.h>
#include <string.h>

// -- Strangers' plugins ------------------------------------------------------------------------

// What the registry's functions for them know: that of the setup that owns it.
struct setup_strangers {
    const char *program;
    const struct ini *ini;
    struct arena *arena;
};

static tapml_status vet(void *user, struct registry *registry, size_t index)
{
    const struct setup_strangers *strangers = user;

    return survey_vet(strangers->program, registry, index);
}

// Takes in the ops of a backend that a worker opens; what cannot be opened brings none.
static tapml_status
learn_of(const struct setup_strangers *strangers, struct registry *registry, size_t index)
{
    const struct registry_location location = registry_location_at(registry, index);
    const struct place_isolation how = {.mode = PLACE_ISOLATION_ALWAYS,
                                        .deadline_s = ISOLATION_DEADLINE_S};
    const char *name = arena_format(strangers->arena, "%s/%s", location.plugin, location.component);
    struct backend *backend = NULL;

    if (name == NULL) {
        return status_no_memory();
    }
    const tapml_status status =
        isolation_open(&(struct isolation_options){.program = strangers->program,
                                                   .registry = registry,
                                                   .ini = strangers->ini,
                                                   .threads = 1,
                                                   .arena = strangers->arena},
                       &how, name, &backend);

    backend_release(backend);
    return status == TAPML_NO_MEMORY ? status : TAPML_OK;
}

static tapml_status learn(void *user, struct registry *registry)
{
    const size_t count = registry_count(registry);

    for (size_t i = registry_next_backend(registry, NULL, 0); i < count;
         i = registry_next_backend(registry, NULL, i + 1)) {
        if (!registry_is_asked_late(registry, registry_at(registry, i)->component)) {
            TAPML_TRY(learn_of(user, registry, i));
        }
    }
    return TAPML_OK;
}

// -- Options of components ---------------------------------------------------------------------

// "COMPONENT.NAME=TEXT" as lines of an INI file.
static tapml_status print_option(const char *word, struct text *out)
{
    const char *dot = strchr(word, '.');
    const char *equals = dot != NULL ? strchr(dot, '=') : NULL;

    if (equals == NULL || dot == word || equals == dot + 1 || strchr(word, '\n') != NULL) {
        return status_fail(TAPML_INVALID, "--option is '%s', expected COMPONENT.NAME=TEXT", word);
    }
    text_format(out, "[component.%.*s]\n%.*s = %s\n", (int)(dot - word), word,
                (int)(equals - dot - 1), dot + 1, equals + 1);
    return TAPML_OK;
}

static tapml_status print_options(const struct options *options, struct text *out)
{
    for (size_t i = 0; options_at(options, "--option", i) != NULL; i++) {
        TAPML_TRY(print_option(options_at(options, "--option", i), out));
    }
    return text_status(out);
}

// Reads the options --option, of a command that has no run's file.
static tapml_status read_options(struct setup *setup, const struct options *options)
{
    struct text lines;

    if (options_at(options, "--option", 0) == NULL) {
        return TAPML_OK;
    }
    if (setup->ini != NULL) {
        return status_fail(TAPML_INVALID,
                           "--option and a run's file exclude each other: sections "
                           "[component.ID] of %s have options of components",
                           setup->ini->name);
    }
    text_init(&lines);
    tapml_status status = print_options(options, &lines);
    struct ini *given = status == TAPML_OK ? arena_new(setup->arena, sizeof(*given)) : NULL;

    if (status == TAPML_OK && given == NULL) {
        status = status_no_memory();
    }
    if (status == TAPML_OK) {
        status = ini_parse("--option", lines.data, lines.length, given);
    }
    if (status == TAPML_OK) {
        setup->ini = setup->given = given;
    }
    text_release(&lines);
    return status;
}

// -- Life --------------------------------------------------------------------------------------

enum setup_manner { SETUP_AS_A_HOST, SETUP_TO_CHECK, SETUP_TO_LIST, SETUP_BARE };

static tapml_status
open_registry(struct setup *setup, const struct options *options, enum setup_manner manner)
{
    const char **files = arena_array(setup->arena, OPTIONS_MAX + 1, sizeof(*files));
    struct setup_strangers *strangers = arena_new(setup->arena, sizeof(*strangers));

    if (strangers == NULL || files == NULL) {
        return status_no_memory();
    }
    setup->plugins = files;
    setup->is_safe = options_get(options, "--safe") != NULL;
    *strangers = (struct setup_strangers){setup->program, setup->ini, setup->arena};
    for (size_t i = 0; i < OPTIONS_MAX && options_at(options, "--plugin", i) != NULL; i++) {
        files[i] = options_at(options, "--plugin", i);
    }
    return registry_create(
        &(struct registry_options){
            .program = setup->program,
            .files = files,
            .ini = setup->ini,
            .ini_path = setup->ini != NULL && setup->given == NULL ? setup->ini->name : NULL,
            .pool = setup->pool,
            .safe_only = setup->is_safe,
            .takes_all = manner == SETUP_TO_CHECK,
            .vet = manner == SETUP_BARE ? NULL : vet,
            .learn = manner == SETUP_BARE ? NULL : learn,
            .user = strangers},
        &setup->registry);
}

// What is named and cannot be used is no plugin that was not found.
static tapml_status check_named(const struct setup *setup)
{
    for (size_t i = 0; setup->refuses_named && i < registry_count(setup->registry); i++) {
        TAPML_TRY(registry_check_named(setup->registry, i));
    }
    return TAPML_OK;
}

static tapml_status open_with(const char *program,
                              const struct options *options,
                              const struct ini *ini,
                              enum setup_manner manner,
                              struct setup *out_setup)
{
    struct setup setup = {.program = program,
                          .ini = ini,
                          .refuses_named = manner == SETUP_AS_A_HOST,
                          .ignores_winners = manner == SETUP_BARE,
                          .isolation = {.deadline_s = ISOLATION_DEADLINE_S}};
    int64_t threads = 0;

    TAPML_TRY(options_i64(options, "--threads", 0, 1, 1024, &threads));
    TAPML_TRY(pool_create((uint32_t)threads, &setup.pool));
    setup.arena = arena_create();
    tapml_status status = setup.arena != NULL ? read_options(&setup, options) : status_no_memory();

    if (status == TAPML_OK) {
        status = timelines_open(options, &setup.timelines);
    }
    if (status == TAPML_OK) {
        status = open_registry(&setup, options, manner);
    }
    if (status == TAPML_OK) {
        status = check_named(&setup);
    }
    if (status != TAPML_OK) {
        setup_close(&setup);
        return status;
    }
    if (manner != SETUP_BARE && manner != SETUP_TO_LIST) {
        encodings_add(setup.registry, &setup.encodings);
    }
    *out_setup = setup;
    return TAPML_OK;
}

tapml_status setup_open(const char *program,
                        const struct options *options,
                        const struct ini *ini,
                        struct setup *out_setup)
{
    return open_with(program, options, ini, SETUP_AS_A_HOST, out_setup);
}

tapml_status setup_open_check(const char *program,
                              const struct options *options,
                              const struct ini *ini,
                              struct setup *out_setup)
{
    return open_with(program, options, ini, SETUP_TO_CHECK, out_setup);
}

tapml_status setup_open_to_list(const char *program,
                                const struct options *options,
                                const struct ini *ini,
                                struct setup *out_setup)
{
    return open_with(program, options, ini, SETUP_TO_LIST, out_setup);
}

tapml_status setup_open_bare(const char *program,
                             const struct options *options,
                             const struct ini *ini,
                             struct setup *out_setup)
{
    return open_with(program, options, ini, SETUP_BARE, out_setup);
}

void setup_close(struct setup *setup)
{
    while (setup->place_count > 0) { // A reduced place is around one before it.
        place_destroy(setup->places[--setup->place_count]);
    }
    tokenizer_close(setup->tokenizer);
    model_close(setup->model);
    encodings_remove(&setup->encodings);
    registry_destroy(setup->registry);
    pool_destroy(setup->pool);
    if (setup->given != NULL) {
        ini_release(setup->given);
    }
    sharding_file_release(&setup->sharding);
    arena_destroy(setup->arena);
    timelines_close(&setup->timelines);
    *setup = (struct setup){0};
}

tapml_status setup_find_model(struct setup *setup, const char *word, const char **out_folder)
{
    char *found = NULL;

    TAPML_TRY(model_path_find(setup->program, word, &found));
    const char *folder = arena_text(setup->arena, found);

    alloc_free(found);
    if (folder == NULL) {
        return status_no_memory();
    }
    *out_folder = folder;
    return TAPML_OK;
}

// Whether an option has its second word and not its first, which is the default.
static tapml_status read_choice(const struct options *given,
                                const char *option,
                                const char *first,
                                const char *second,
                                int *out_is_second)
{
    const char *word = options_get(given, option);

    if (word != NULL && strcmp(word, first) != 0 && strcmp(word, second) != 0) {
        return status_fail(TAPML_INVALID, "%s is '%s', expected '%s' or '%s'", option, word, first,
                           second);
    }
    *out_is_second = word != NULL && strcmp(word, second) == 0;
    return TAPML_OK;
}

static void take_word(const struct options *given, const char *option, const char **io_word)
{
    const char *word = options_get(given, option);

    *io_word = word != NULL ? word : *io_word;
}

tapml_status
setup_read_model(struct setup *setup, const struct options *given, struct model_options *options)
{
    TAPML_TRY(
        read_choice(given, "--unknown-keys", "refuse", "allow", &options->allow_unknown_keys));
    TAPML_TRY(read_choice(given, "--quantised-inputs", "stored", "plain", &options->plain_inputs));
    options->architecture = options_get(given, "--architecture");
    take_word(given, "--delta", &options->delta);
    take_word(given, "--adapter", &options->adapter);
    const char *sharding = options_get(given, "--sharding");
    if (sharding != NULL) {
        TAPML_TRY(sharding_file_load(sharding, &setup->sharding));
        options->sharding = &setup->sharding.options;
    }
    return setup_find_model(setup, options->folder, &options->folder);
}

tapml_status setup_read_weights(const char *word, struct model_options *options)
{
    const tapml_encoding *encoding = NULL;
    const tapml_status status = word != NULL ? encoding_read(word, &encoding) : TAPML_OK;

    if (encoding != NULL) {
        options->encoding = encoding;
    }
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "--weights");
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
    const tapml_status status = model_open(setup->registry, options, &setup->model);

    // An architecture that was named and could not be opened is why another one was asked, or none.
    if (status != TAPML_NO_MEMORY) {
        TAPML_TRY(check_named(setup));
    }
    TAPML_TRY(status);
    if (tokenizer_exists(options->folder)) {
        TAPML_TRY(open_tokenizer(setup, options->folder));
    }
    return special_load(options->folder, &setup->special);
}

// -- Places ------------------------------------------------------------------------------------

static tapml_status open_worker(void *user,
                                const struct place_settings *settings,
                                struct backend *inner,
                                struct backend **out_backend)
{
    const struct setup *setup = user;

    ASSERT(inner == NULL);
    return isolation_open(&(struct isolation_options){.program = setup->program,
                                                      .registry = setup->registry,
                                                      .ini = setup->ini,
                                                      .threads = pool_width(setup->pool),
                                                      .rules = settings->faults,
                                                      .rule_count = settings->fault_count,
                                                      .tuned = settings->tuned,
                                                      .arena = setup->arena,
                                                      .timeline = setup->timelines.link},
                          &settings->isolation, settings->backend, out_backend);
}

static tapml_status make_loopback(void *user,
                                  const struct place_settings *settings,
                                  struct backend *inner,
                                  struct backend **out_backend)
{
    const struct setup *setup = user;

    (void)settings;
    return loopback_create(inner, registry_catalogue(setup->registry), setup->arena, out_backend);
}

static tapml_status take_winners(struct setup *setup, struct place *place)
{
    const struct place_settings *settings = &place->settings;
    struct tuned_settings winners;

    if (setup->ignores_winners || settings->ignores_winners || settings->tuned.items != NULL ||
        settings->backend == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(winners_find(settings->backend, setup->arena, &winners));
    place_tune(place, winners);
    return TAPML_OK;
}

static tapml_status open_chain(struct setup *setup, struct place *place)
{
    const struct place_settings *settings = &place->settings;
    const enum place_isolation_mode mode = place_isolation_is_far(&settings->isolation)
                                               ? PLACE_ISOLATION_ALWAYS
                                               : settings->isolation.mode;
    const struct timed_options account = {setup->timelines.run, clock_now_ns()};
    struct place_link links[PLACE_KINDS];
    size_t count = 0;

    if (mode == PLACE_ISOLATION_ALWAYS) {
        links[count++] =
            (struct place_link){.kind = PLACE_WORKER, .create = open_worker, .user = setup};
    } else {
        links[count++] = place_device_link(setup->registry);
        links[count++] = expanded_link(registry_catalogue(setup->registry));
    }
    if (mode == PLACE_ISOLATION_LOOPBACK) {
        links[count++] =
            (struct place_link){.kind = PLACE_LOOPBACK, .create = make_loopback, .user = setup};
    }
    if (settings->fault_count > 0 && mode != PLACE_ISOLATION_ALWAYS) {
        links[count++] = fault_link();
    }
    if (settings->observers != NULL) {
        links[count++] = observers_link(setup->registry);
    }
    // A run says what it has cost.
    if (setup->timelines.run != NULL || setup->ini != NULL) {
        links[count++] = timed_link(&account);
    }
    if (activation_is_reduced(settings->activation)) {
        links[count++] = reduced_link();
    }
    return place_open(place, NULL, links, count);
}

tapml_status setup_open_place(struct setup *setup, struct place *place)
{
    const int is_given = place->settings.tuned.items != NULL;
    char sentence[WINNERS_TEXT];

    TAPML_TRY(take_winners(setup, place));
    TAPML_TRY(open_chain(setup, place));
    if (!is_given && winners_print(place, setup->registry, sentence) > 0) {
        log_say("%s: %s", place->settings.name, sentence);
    }
    return TAPML_OK;
}

static tapml_status check_room(const struct setup *setup)
{
    return setup->place_count < SESSION_PLACES_MAX
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "more than %d backends at once", SESSION_PLACES_MAX);
}

tapml_status setup_add_place(struct setup *setup,
                             const struct place_settings *settings,
                             struct place **out_place)
{
    TAPML_TRY(check_room(setup));
    TAPML_TRY(place_create(settings, out_place));
    setup->places[setup->place_count++] = *out_place;
    return TAPML_OK;
}

struct place_isolation setup_isolation(const struct setup *setup, const char *backend)
{
    struct place_isolation isolation = setup->isolation;

    if (!setup->is_isolation_given && !registry_is_installed(setup->registry, backend)) {
        isolation.mode = PLACE_ISOLATION_ALWAYS;
    }
    return isolation;
}

tapml_status setup_place(struct setup *setup, const char *name, const char *backend)
{
    const struct place_settings settings = {.name = name,
                                            .backend = backend,
                                            .isolation = setup_isolation(setup, backend),
                                            .observers = setup->observers,
                                            .ring = setup->ring};
    struct place *place = NULL;

    TAPML_TRY(setup_add_place(setup, &settings, &place));
    const tapml_status status = setup_open_place(setup, place);

    if (status != TAPML_OK) {
        setup->places[--setup->place_count] = NULL;
        place_destroy(place);
        return status_explain(status, "'%s' cannot be opened", name);
    }
    return TAPML_OK;
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

tapml_status setup_place_reduced(struct setup *setup,
                                 const char *name,
                                 const struct place *base,
                                 enum activation activation)
{
    struct place_settings settings = base->settings;
    const struct place_link link = reduced_link();

    TAPML_TRY(check_room(setup));
    settings.name = name;
    settings.activation = activation;
    TAPML_TRY(place_wrap(base, &settings, &link, 1, &setup->places[setup->place_count]));
    setup->place_count++;
    return TAPML_OK;
}

tapml_status setup_plan(const struct setup *setup, struct plan **out_plan)
{
    struct plan *plan = NULL;
    char rule[128];

    TAPML_TRY(plan_create(&plan));
    (void)snprintf(rule, sizeof(rule), "* -> %.100s",
                   setup->places[setup->place_count - 1]->settings.name);
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

tapml_status setup_take_isolation(struct setup *setup, const struct options *options)
{
    setup->is_isolation_given = worker_options_have_place(options);
    return worker_options_read(options, &setup->isolation);
}

tapml_status setup_take_names(struct setup *setup,
                              const struct options *options,
                              const char *option,
                              const char **io_names)
{
    struct text names;

    text_init(&names);
    for (size_t i = 0; options_at(options, option, i) != NULL; i++) {
        text_format(&names, "%s%s", i > 0 ? " " : "", options_at(options, option, i));
    }
    tapml_status status = text_status(&names);
    const char *kept = status == TAPML_OK ? arena_text(setup->arena, names.data) : NULL;

    if (status == TAPML_OK && kept == NULL) {
        status = status_no_memory();
    }
    if (status == TAPML_OK && names.length > 0) {
        *io_names = kept;
    }
    text_release(&names);
    return status;
}

tapml_status setup_take_observers(struct setup *setup, const struct options *options)
{
    return setup_take_names(setup, options, "--observe", &setup->observers);
}

// Whether a candidate can be used, found where setup_isolation has it.
static tapml_status try_candidate(struct setup *setup, size_t index, int *out_is_usable)
{
    const struct candidate *entry = registry_at(setup->registry, index);
    struct survey survey;

    if (entry->tier == SEARCH_TIERS) {
        registry_probe(setup->registry, index);
    } else {
        const tapml_status status =
            survey_entry(setup->program, setup->registry, index, &(struct survey_question){0},
                         setup->arena, &survey);

        if (status != TAPML_OK && entry->state == CANDIDATE_USABLE) {
            return status; // Nothing can be asked.
        }
    }
    *out_is_usable = entry->state == CANDIDATE_USABLE;
    return TAPML_OK;
}

// The first with `key` that can be used, among those installed with the host or among the others;
// `*out_name` stays where there is none.
static tapml_status
find_backend(struct setup *setup, const char *key, int is_installed, const char **out_name)
{
    struct registry *registry = setup->registry;
    const size_t count = registry_count(registry);
    int is_usable = 0;

    for (size_t i = registry_next_backend(registry, key, 0); i < count && !is_usable;
         i = registry_next_backend(registry, key, i + 1)) {
        if ((registry_at(registry, i)->tier == SEARCH_TIERS) == is_installed) {
            TAPML_TRY(try_candidate(setup, i, &is_usable));
        }
        if (is_usable) {
            *out_name = registry_at(registry, i)->component;
        }
    }
    return TAPML_OK;
}

tapml_status setup_default_backend(struct setup *setup, const char **out_name)
{
    const char *name = NULL;

    for (int is_installed = 1; is_installed >= 0 && name == NULL; is_installed--) {
        TAPML_TRY(find_backend(setup, "calibrates", is_installed, &name));
        if (name == NULL) {
            TAPML_TRY(find_backend(setup, NULL, is_installed, &name));
        }
    }
    if (name == NULL) {
        return status_fail(TAPML_UNAVAILABLE,
                           "no backend can be used; 'tapml-host plugins' says what was found");
    }
    *out_name = name;
    return TAPML_OK;
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
    return setup_vocabulary_of(setup->model);
}

int64_t setup_vocabulary_of(const struct model *model)
{
    const struct graph *graph = model_graph(model);
    const uint32_t index = graph_find_output(graph, "logits");

    if (index == GRAPH_NONE) {
        return 0;
    }
    const struct graph_value *logits = &graph->values[index];

    return logits->rank > 0 ? logits->shape[logits->rank - 1].constant : 0;
}
