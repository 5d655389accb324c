// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/device_file.h"
#include "config/isolation.h"
#include "config/run_file.h"
#include "config/survey.h"
#include "remote/far_devices.h"
#include "run/installed_devices.h"
#include "run/setup.h"
#include "run/target_health.h"
#include "store/store.h"
#include "store/store_open.h"

#include <stdio.h>
#include <string.h>

enum { SOURCE_BYTES = 160 };
static const uint64_t SECOND_NS = UINT64_C(1000000000);

static const struct options_spec specs[] = {
    {"--dump", "B", "prints what the driver reports of COMPONENT or COMPONENT:DEVICE as a file"},
    {"--config", "FILE",
     "the targets of a run's INI file, opened as the run does, and their health"},
    WORKER_FAR_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_devices_manual = {
    .usage = "tapml-host devices [COMPONENT] [--dump COMPONENT[:DEVICE]]\n"
             "tapml-host devices --config FILE\n"
             "tapml-host devices [COMPONENT[:DEVICE]] [--url URL | --listen ADDRESS]",
    .about = "Lists the devices of the backends, or prints the figures of one as a file "
             "for 'forecast'. With --config lists the targets of a run with the health of those "
             "on other machines, as its canary says now and as the run's store says; with --url "
             "or --listen all devices there, or that of one component.",
    .specs = specs,
};

// -- A file ------------------------------------------------------------------------------------

// The words of a device file are those of the ABI.
_Static_assert((int)DEVICE_FILE_STORAGE == (int)TAPML_LIMITS_HALF_STORAGE &&
                   (int)DEVICE_FILE_NONE == (int)TAPML_LIMITS_HALF_NONE &&
                   (int)DEVICE_FILE_ARITHMETIC == (int)TAPML_LIMITS_HALF_ARITHMETIC,
               "the kinds of f16 are numbered alike");

static void take_limits(const tapml_limits *limits, struct device_file *file)
{
    file->bindings = limits->bindings;
    file->alignment = limits->align;
    file->group_items = limits->group_items;
    file->shared_bytes = limits->shared_bytes;
    file->grid = limits->grid;
    file->f16 =
        limits->half <= TAPML_LIMITS_HALF_ARITHMETIC ? (int)limits->half : DEVICE_FILE_UNKNOWN;
}

static tapml_status print_file(const char *component, const struct survey_device *device)
{
    char source[SOURCE_BYTES];
    struct text text;
    struct device_file file = {.name = device->name,
                               .driver = device->driver,
                               .source = source,
                               .memory_bytes = device->memory_bytes,
                               .binding_bytes = device->buffer_bytes};

    (void)snprintf(source, sizeof(source), "tapml-host devices --dump %.50s:%.50s", component,
                   device->id);
    if (device->limits != NULL) {
        take_limits(device->limits, &file);
    }
    text_init(&text);
    device_file_print(&file, &text);
    return text_print(&text);
}

// -- Asking ------------------------------------------------------------------------------------

// A component by its name: what is expensive to list is listed, too.
static tapml_status ask(const struct setup *setup,
                        const char *name,
                        struct registry_location *out_location,
                        struct survey *out_survey)
{
    TAPML_TRY(registry_locate(setup->registry, name, out_location));
    return survey_component(
        setup->program, out_location,
        &(struct survey_question){.device = out_location->device, .opens_late = 1}, setup->arena,
        out_survey);
}

static tapml_status dump(const struct setup *setup, const char *name)
{
    const struct survey_device *device = NULL;
    struct registry_location location;
    struct survey survey;

    TAPML_TRY(ask(setup, name, &location, &survey));
    if (survey.state != CANDIDATE_USABLE) {
        return survey_status(&survey, &location);
    }
    TAPML_TRY(survey_find_device(&survey, location.component, location.device, &device));
    TAPML_TRY(survey_status(&survey, &location));
    return print_file(location.component, device);
}

// -- The list ----------------------------------------------------------------------------------

static void append_devices(struct text *text, const char *component, const struct survey *survey)
{
    for (size_t i = 0; i < survey->device_count; i++) {
        installed_devices_append(component, &survey->devices[i], text);
        text_append(text, "\n");
    }
}

static tapml_status list_one(const struct setup *setup, const char *name)
{
    struct registry_location location;
    struct survey survey;
    struct text text;

    TAPML_TRY(ask(setup, name, &location, &survey));
    if (survey.device_count == 0) {
        TAPML_TRY(survey_status(&survey, &location));
    }
    text_init(&text);
    append_devices(&text, location.component, &survey);
    return text_print(&text);
}

static tapml_status list_all(struct setup *setup)
{
    struct installed_device *items = NULL;
    size_t count = 0;
    struct text text;

    TAPML_TRY(
        installed_devices_list(setup->program, setup->registry, setup->arena, &items, &count));
    text_init(&text);
    installed_devices_print(items, count, &text);
    return text_print(&text);
}

// -- Targets, and other machines ---------------------------------------------------------------

static void append_place(struct text *text, const struct place *place)
{
    const struct backend_info *info = backend_info(place->backend);
    const struct survey_device device = {.id = info->device,
                                         .name = info->device_name,
                                         .driver = info->driver,
                                         .memory_bytes = (int64_t)info->memory_bytes,
                                         .buffer_bytes = (int64_t)info->buffer_bytes_max};

    installed_devices_append(info->component, &device, text);
}

// The device of a component on another machine.
static tapml_status
list_there(struct setup *setup, const char *name, const struct place_isolation *how)
{
    const struct place_settings settings = {.name = "target", .backend = name, .isolation = *how};
    struct place *place = NULL;
    struct text text;

    TAPML_TRY(setup_add_place(setup, &settings, &place));
    TAPML_TRY(setup_open_place(setup, place));
    text_init(&text);
    append_place(&text, place);
    text_append(&text, "\n");
    return text_print(&text);
}

// All devices of another machine, as that lists them.
static tapml_status list_all_there(const struct place_isolation *how)
{
    struct text text;

    text_init(&text);
    const tapml_status status = far_devices_ask(
        &(struct reach_options){.url = how->url,
                                .listen = how->listen,
                                .patience_ns = (uint64_t)how->patience_s * SECOND_NS},
        &text);

    if (status != TAPML_OK) {
        text_release(&text);
        return status;
    }
    return text_print(&text);
}

// What the run has stored, if it has begun; a store that cannot be read is as none.
static struct store *open_known(const struct run_config *config)
{
    char *path = file_join(config->dir, "run.tapmlrun");
    struct store *store = NULL;

    if (path == NULL || !file_exists(path) || store_open_to_read(path, &store) != TAPML_OK) {
        store = NULL;
    }
    alloc_free(path);
    return store;
}

static tapml_status append_health(struct text *text,
                                  struct setup *setup,
                                  const struct place *place,
                                  struct store *store,
                                  int *out_is_sick)
{
    char how[TARGET_HEALTH_SENTENCE];

    TAPML_TRY(target_health_ask(store, setup->registry, place, out_is_sick, how));
    const char *known = store != NULL ? target_health_read(store, place->settings.name) : NULL;

    append_place(text, place);
    text_format(text, "; %s%s%s\n", how, known != NULL ? "; in its run: " : "",
                known != NULL ? known : "");
    return TAPML_OK;
}

// A line; a target that is away costs the others nothing.
static tapml_status list_target(struct setup *setup,
                                const struct place_settings *settings,
                                struct store *store,
                                size_t *io_unfit)
{
    struct place *place = NULL;
    struct text text;
    int is_sick = 0;

    text_init(&text);
    text_format(&text, "%s  ", settings->name);
    tapml_status status = setup_add_place(setup, settings, &place);

    status = status == TAPML_OK ? setup_open_place(setup, place) : status;
    status = status == TAPML_OK ? append_health(&text, setup, place, store, &is_sick) : status;
    *io_unfit += status != TAPML_OK || is_sick;
    if (status == TAPML_NO_MEMORY) {
        text_release(&text);
        return status;
    }
    if (status != TAPML_OK) {
        text_format(&text, "away: %s\n", status_message());
    }
    return text_print(&text);
}

static tapml_status list_targets(struct setup *setup, const struct run_config *config)
{
    struct store *store = open_known(config);
    tapml_status status = TAPML_OK;
    size_t unfit = 0;

    for (size_t i = 0; i < config->target_count && status == TAPML_OK; i++) {
        status = list_target(setup, &config->targets[i], store, &unfit);
    }
    store_close(store);
    TAPML_TRY(status);
    return unfit == 0 ? TAPML_OK
                      : status_fail(TAPML_UNAVAILABLE, "%zu of %zu targets are away or sick", unfit,
                                    config->target_count);
}

// What is asked for where a command has no run's file.
static tapml_status
run_elsewhere(const struct options *options, struct setup *setup, int *out_is_elsewhere)
{
    struct place_isolation how = {.mode = PLACE_ISOLATION_ALWAYS,
                                  .deadline_s = ISOLATION_DEADLINE_S};

    TAPML_TRY(worker_options_read(options, &how));
    *out_is_elsewhere = place_isolation_is_far(&how);
    if (!*out_is_elsewhere) {
        return TAPML_OK;
    }
    if (options->plain_count > 1 || options_get(options, "--dump") != NULL) {
        return status_fail(TAPML_INVALID,
                           "of another machine all devices are listed or those of one component: "
                           "expected one COMPONENT or COMPONENT:DEVICE at most, and no --dump");
    }
    return options->plain_count == 0 ? list_all_there(&how)
                                     : list_there(setup, options->plain[0], &how);
}

static tapml_status run(const struct options *options, struct setup *setup)
{
    const char *name = options_get(options, "--dump");
    int is_elsewhere = 0;

    TAPML_TRY(run_elsewhere(options, setup, &is_elsewhere));
    if (is_elsewhere) {
        return TAPML_OK;
    }
    if (options->plain_count > (name != NULL ? 0 : 1)) {
        return status_fail(TAPML_INVALID, "expected one name at most, found '%s' too",
                           options->plain[options->plain_count - 1]);
    }
    if (name != NULL) {
        return dump(setup, name);
    }
    return options->plain_count > 0 ? list_one(setup, options->plain[0]) : list_all(setup);
}

// --config stands alone.
static tapml_status
read_config(const struct options *options, const char *path, struct run_config *out_config)
{
    static const char *const others[] = {"--dump", "--url", "--listen"};

    if (path == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(options_no_plain(options));
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (options_get(options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID, "--config and %s exclude each other", others[i]);
        }
    }
    return run_file_load(path, out_config);
}

enum outcome command_devices_main(const struct command *command)
{
    struct options options;
    struct setup setup;
    struct run_config config = {.target_count = 0};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);
    const char *path = status == TAPML_OK ? options_get(&options, "--config") : NULL;

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_devices_manual));
    }
    if (status == TAPML_OK) {
        status = read_config(&options, path, &config);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    status = setup_open(command->program, &options, path != NULL ? &config.ini : NULL, &setup);
    if (status == TAPML_OK) {
        status = path != NULL ? list_targets(&setup, &config) : run(&options, &setup);
        setup_close(&setup);
    }
    const enum outcome outcome = outcome_report(status);

    if (path != NULL) {
        run_config_release(&config);
    }
    return outcome;
}
