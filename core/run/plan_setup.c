// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/plan_setup.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "exec/plan.h"
#include "exec/ring.h"
#include "exec/sharding_plan.h"
#include "run/run_metadata.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"

// The store of the run in whose folder the plan lies, if it lies in one.
static tapml_status open_run(struct plan_setup *plan_setup)
{
    char *folder = file_folder(plan_setup->plan);
    char *path = folder != NULL ? file_join(folder, "run.tapmlrun") : NULL;
    tapml_status status = path != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK && file_exists(path)) {
        status = store_open_to_read(path, &plan_setup->run);
    }
    alloc_free(path);
    alloc_free(folder);
    return status;
}

tapml_status plan_setup_open(struct setup *setup,
                             const struct options *options,
                             struct plan_setup *out_plan_setup)
{
    *out_plan_setup = (struct plan_setup){
        .setup = setup, .options = options, .plan = options_get(options, "--plan")};
    return out_plan_setup->plan != NULL ? open_run(out_plan_setup) : TAPML_OK;
}

void plan_setup_close(struct plan_setup *plan_setup)
{
    store_close(plan_setup->run);
    plan_setup->run = NULL;
}

// An option, or what the run had in its place, which lives in the setup's arena; NULL: neither.
static tapml_status find_word(const struct plan_setup *plan_setup,
                              const char *option,
                              const char *name,
                              const char **out_word)
{
    const char *word = options_get(plan_setup->options, option);

    if (word == NULL && plan_setup->run != NULL) {
        const char *kept = metadata_get(plan_setup->run, name); // Until the next call.

        word = kept != NULL ? arena_text(plan_setup->setup->arena, kept) : NULL;
        if (kept != NULL && word == NULL) {
            return status_no_memory();
        }
    }
    *out_word = word;
    return TAPML_OK;
}

tapml_status plan_setup_model(struct plan_setup *plan_setup, struct model_options *out_options)
{
    struct setup *setup = plan_setup->setup;
    struct model_options options = {.folder = NULL};
    const char *weights = NULL, *state = NULL;

    TAPML_TRY(find_word(plan_setup, "--model", "model.path", &options.folder));
    TAPML_TRY(find_word(plan_setup, "--weights", "model.weights", &weights));
    TAPML_TRY(find_word(plan_setup, "--state", "model.state", &state));
    TAPML_TRY(find_word(plan_setup, "--delta", "model.delta", &options.delta));
    TAPML_TRY(find_word(plan_setup, "--adapter", "model.adapter", &options.adapter));
    if (options.folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model PATH");
    }
    TAPML_TRY(setup_read_weights(weights, &options));
    if (state != NULL) {
        TAPML_TRY(state_type_read("--state", state, &options.state));
    }
    TAPML_TRY(setup_read_model(setup, plan_setup->options, &options));
    TAPML_TRY(setup_model(setup, &options));
    *out_options = options;
    return TAPML_OK;
}

// -- Places ------------------------------------------------------------------------------------

// What a place had in the run by metadata of this prefix, unless the option says it; or NULL.
static tapml_status find_of_place(const struct plan_setup *plan_setup,
                                  const char *option,
                                  const char *prefix,
                                  const char *place,
                                  const char **out_words)
{
    const char *name = arena_format(plan_setup->setup->arena, "%s%s", prefix, place);
    const char *words = NULL;

    if (name == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(find_word(plan_setup, option, name, &words));
    *out_words = words != NULL && *words != '\0' ? words : NULL;
    return TAPML_OK;
}

// What options do not say of a place of the run: its observers, and its machine.
static tapml_status take_from_run(const struct plan_setup *plan_setup, struct place_settings *io)
{
    if (io->observers == NULL) {
        TAPML_TRY(
            find_of_place(plan_setup, "--observe", RUN_METADATA_OBSERVE, io->name, &io->observers));
    }
    if (!place_isolation_is_far(&io->isolation)) {
        TAPML_TRY(
            find_of_place(plan_setup, "--url", RUN_METADATA_URL, io->name, &io->isolation.url));
        TAPML_TRY(find_of_place(plan_setup, "--listen", RUN_METADATA_LISTEN, io->name,
                                &io->isolation.listen));
    }
    return TAPML_OK;
}

// Adds and opens a place of which the setup keeps the texts. What options do not say, of a place as
// the run had it, is as it was there.
static tapml_status add_place(struct plan_setup *plan_setup,
                              int is_of_run,
                              const char *name,
                              const char *backend,
                              enum activation activation)
{
    struct setup *setup = plan_setup->setup;
    struct place_settings settings = {.name = arena_text(setup->arena, name),
                                      .backend = arena_text(setup->arena, backend),
                                      .isolation = setup_isolation(setup, backend),
                                      .observers = setup->observers,
                                      .ring = setup->ring,
                                      .activation = activation};
    struct place *place = NULL;

    if (settings.name == NULL || settings.backend == NULL) {
        return status_no_memory();
    }
    if (is_of_run) {
        TAPML_TRY(take_from_run(plan_setup, &settings));
    }
    TAPML_TRY(setup_add_place(setup, &settings, &place));
    const tapml_status status = setup_open_place(setup, place);

    return status == TAPML_OK ? TAPML_OK : status_explain(status, "'%s' cannot be opened", name);
}

// The targets of the plan's run, with the activations that they had there.
static tapml_status add_targets(struct plan_setup *plan_setup, struct arena *arena)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(plan_setup->run, arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        const struct target_row *target = &targets[i];
        enum activation activation = ACTIVATION_F32;

        TAPML_TRY(activation_read("the run's column target.activations", target->activations,
                                  &activation));
        TAPML_TRY(add_place(plan_setup, 1, target->name, target->backend, activation));
    }
    return TAPML_OK;
}

static tapml_status add_targets_of_run(struct plan_setup *plan_setup)
{
    if (plan_setup->run == NULL) {
        return TAPML_OK;
    }
    struct arena *arena = arena_create();
    const tapml_status status = arena != NULL ? add_targets(plan_setup, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}

static tapml_status add_source(struct plan_setup *plan_setup)
{
    const char *source = options_get(plan_setup->options, "--source");
    const int is_of_run = source == NULL;

    if (source == NULL) {
        TAPML_TRY(find_word(plan_setup, "--backend", "source", &source));
    }
    if (source == NULL) {
        TAPML_TRY(setup_default_backend(plan_setup->setup, &source));
    }
    return add_place(plan_setup, is_of_run, "source", source, ACTIVATION_F32);
}

static tapml_status take_ring(struct setup *setup, const struct options *options)
{
    const char *word = options_get(options, "--ring");

    TAPML_TRY(options_i64(options, "--slots", 0, 0, RING_SLOTS_MAX, &setup->ring.slots));
    if (word != NULL && ring_plan_read(word, &setup->ring) != TAPML_OK) {
        return status_explain(TAPML_INVALID, "--ring");
    }
    return word != NULL || setup->ring.slots == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--slots is of --ring, which is not given");
}

tapml_status plan_setup_places(struct plan_setup *plan_setup)
{
    const struct options *options = plan_setup->options;
    struct setup *setup = plan_setup->setup;

    TAPML_TRY(setup_take_isolation(setup, options));
    TAPML_TRY(setup_take_observers(setup, options));
    TAPML_TRY(take_ring(setup, options));
    TAPML_TRY(add_source(plan_setup));
    TAPML_TRY(setup_read_activations(options, &plan_setup->activation));
    const int is_reduced = activation_is_reduced(plan_setup->activation);

    if (is_reduced && plan_setup->plan != NULL) {
        return status_fail(TAPML_INVALID, "--activations and --plan exclude each other: the "
                                          "targets of a plan have the activations of their run");
    }
    if (is_reduced) {
        return setup_place_reduced(setup, activation_type(plan_setup->activation)->name,
                                   setup->places[0], plan_setup->activation);
    }
    return options_at(options, "--target", 0) != NULL ? setup_targets(setup, options)
                                                      : add_targets_of_run(plan_setup);
}

tapml_status plan_setup_explain(const struct plan_setup *plan_setup, const struct session *session)
{
    const struct setup *setup = plan_setup->setup;
    const int is_wanted = options_get(plan_setup->options, "--explain") != NULL;

    for (uint32_t i = 0; is_wanted && session != NULL && i < setup->place_count; i++) {
        const struct ring *ring = session_ring(session, i);
        struct text text;

        if (ring == NULL) {
            continue;
        }
        const struct ring_figures figures = ring_figures(ring);

        text_init(&text);
        ring_describe(&figures, setup->places[i]->settings.name, &text);
        const tapml_status status = text_status(&text);

        if (status == TAPML_OK) {
            log_say("%s", text.data);
        }
        text_release(&text);
        TAPML_TRY(status);
    }
    return TAPML_OK;
}

enum activation plan_setup_least(const struct plan_setup *plan_setup)
{
    const struct setup *setup = plan_setup->setup;

    for (uint32_t i = 0; i < setup->place_count; i++) {
        if (activation_is_reduced(setup->places[i]->settings.activation)) {
            return setup->places[i]->settings.activation;
        }
    }
    return ACTIVATION_F32;
}

tapml_status plan_setup_print(const struct plan_setup *plan_setup, const char *model)
{
    const struct setup *setup = plan_setup->setup;
    const struct backend_info *info = backend_info(setup->places[0]->backend);
    struct text text;

    text_init(&text);
    text_format(&text, "%s on %s:%s (%s)", model, info->component, info->device, info->device_name);
    if (activation_is_reduced(plan_setup->activation)) {
        text_format(&text, ", activations %s", activation_type(plan_setup->activation)->name);
    }
    for (uint32_t i = 1; !activation_is_reduced(plan_setup->activation) && i < setup->place_count;
         i++) {
        const struct place_settings *settings = &setup->places[i]->settings;

        text_format(&text, ", %s on %s", settings->name, settings->backend);
    }
    text_append(&text, "\n");
    return text_print(&text);
}

int plan_setup_is_mixed(const struct plan_setup *plan_setup)
{
    return plan_setup->plan != NULL || activation_is_reduced(plan_setup->activation) ||
           options_get(plan_setup->options, "--sharding") != NULL;
}

static tapml_status base_plan(const struct plan_setup *plan_setup, struct plan **out_plan)
{
    if (plan_setup->plan != NULL) {
        return plan_load(plan_setup->plan, out_plan);
    }
    return activation_is_reduced(plan_setup->activation) ? setup_plan(plan_setup->setup, out_plan)
                                                         : plan_create(out_plan);
}

tapml_status plan_setup_plan(const struct plan_setup *plan_setup, struct plan **out_plan)
{
    TAPML_TRY(base_plan(plan_setup, out_plan));
    const tapml_status status = sharding_plan_add(plan_setup->setup->model, *out_plan);

    if (status != TAPML_OK) {
        plan_destroy(*out_plan);
    }
    return status;
}
