// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/log.h"
#include "base/text.h"
#include "config/device_file.h"
#include "config/survey.h"
#include "run/installed_devices.h"
#include "run/setup.h"

#include <stdio.h>
#include <string.h>

enum { SOURCE_BYTES = 160 };

static const struct options_spec specs[] = {
    {"--dump", "B", "prints what the driver reports of COMPONENT or COMPONENT:DEVICE as a file"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_devices_manual = {
    .usage = "tapml-host devices [COMPONENT] [--dump COMPONENT[:DEVICE]]",
    .about = "Lists the devices of the backends, or prints the figures of one as a file "
             "for 'forecast'.",
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

static void
append_device(struct text *text, const char *component, const struct survey_device *device)
{
    text_format(text, "%s:%s  %s", component, device->id, device->name);
    if (device->driver[0] != '\0') {
        text_format(text, ", %s", device->driver);
    }
    if (device->memory_bytes > 0) {
        text_format(text, ", %.1f GB", (double)device->memory_bytes * 1e-9);
    }
    if (device->buffer_bytes > 0) {
        text_format(text, ", buffers of %.1f MB", (double)device->buffer_bytes * 1e-6);
    }
    text_append(text, "\n");
}

static void append_devices(struct text *text, const char *component, const struct survey *survey)
{
    for (size_t i = 0; i < survey->device_count; i++) {
        append_device(text, component, &survey->devices[i]);
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

// Without a driver or a device there is nothing to list; whatever else is wrong is printed. So is
// what opens something, such as a browser, to list its devices.
static void append_installed(struct text *text, const struct installed_device *item)
{
    if (item->device != NULL) {
        append_device(text, item->component, item->device);
    } else if (item->opens_late) {
        text_format(text, "%s  opens its device when it is named\n", item->component);
    } else if (item->state != CANDIDATE_USABLE && item->state != CANDIDATE_NO_DRIVER &&
               item->state != CANDIDATE_NO_DEVICE) {
        log_line(LOG_WARNING, "not listed: %s", item->sentence);
    }
}

static tapml_status list_all(struct setup *setup)
{
    struct installed_device *items = NULL;
    size_t count = 0;
    struct text text;

    TAPML_TRY(installed_devices_list(setup, &items, &count));
    text_init(&text);
    for (size_t i = 0; i < count; i++) {
        append_installed(&text, &items[i]);
    }
    return text_print(&text);
}

static tapml_status run(const struct options *options, struct setup *setup)
{
    const char *name = options_get(options, "--dump");

    if (options->plain_count > (name != NULL ? 0 : 1)) {
        return status_fail(TAPML_INVALID, "expected one name at most, found '%s' too",
                           options->plain[options->plain_count - 1]);
    }
    if (name != NULL) {
        return dump(setup, name);
    }
    return options->plain_count > 0 ? list_one(setup, options->plain[0]) : list_all(setup);
}

enum outcome command_devices_main(const struct command *command)
{
    struct options options;
    struct setup setup;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_devices_manual));
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &options, NULL, &setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    status = run(&options, &setup);
    setup_close(&setup);
    return outcome_report(status);
}
