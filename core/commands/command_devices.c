// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/device_file.h"
#include "run/setup.h"

#include <inttypes.h>
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

static int64_t number_of(uint64_t value)
{
    return value < INT64_MAX ? (int64_t)value : 0; // No device has so much.
}

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

static tapml_status dump(struct registry *registry, const char *name)
{
    struct backend *backend = NULL;
    char source[SOURCE_BYTES];
    struct text text;

    TAPML_TRY(registry_open(registry, name, &backend));
    const struct backend_info *info = backend_info(backend);
    struct device_file file = {.name = info->device_name,
                               .driver = info->driver,
                               .source = source,
                               .memory_bytes = number_of(info->memory_bytes),
                               .binding_bytes = number_of(info->buffer_bytes_max)};

    (void)snprintf(source, sizeof(source), "tapml-host devices --dump %.50s:%.50s", info->component,
                   info->device);
    if (info->limits != NULL) {
        take_limits(info->limits, &file);
    }
    text_init(&text);
    device_file_print(&file, &text);
    backend_release(backend);
    return text_print(&text);
}

// -- The list ----------------------------------------------------------------------------------

static void append_device(struct text *text, const char *component, const tapml_device_info *info)
{
    const size_t begin = text->length;
    const uint64_t buffer =
        info->n_memory_types > 0 ? info->memory_types[0]->max_bytes : 0; // 0: no limit.

    text_format(text, "%s:%s  %s", component, info->id, info->name);
    if (info->driver != NULL && info->driver[0] != '\0') {
        text_format(text, ", %s", info->driver);
    }
    if (info->memory_total > 0) {
        text_format(text, ", %.1f GB", (double)info->memory_total * 1e-9);
    }
    if (buffer > 0 && buffer < UINT64_MAX) {
        text_format(text, ", buffers of %.1f MB", (double)buffer * 1e-6);
    }
    if (!text->failed) {
        utf8_make_plain(text->data + begin); // A driver's texts.
    }
    text_append(text, "\n");
}

static void list_component(struct registry *registry, const char *component, struct text *text)
{
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;

    if (registry_devices(registry, component, &list, &count) != TAPML_OK) {
        log_line(LOG_WARNING, "not listed: %s", status_message());
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        append_device(text, component, list[i]);
    }
}

// Without a name all, but for those that open something, such as a browser, to list their devices.
static tapml_status list(struct registry *registry, const char *wanted)
{
    struct text text;
    size_t found = 0;

    text_init(&text);
    for (size_t i = 0; registry_component(registry, TAPML_KIND_BACKEND, i) != NULL; i++) {
        const char *component = registry_component(registry, TAPML_KIND_BACKEND, i);

        if (wanted != NULL && strcmp(wanted, component) != 0) {
            continue;
        }
        found++;
        if (wanted == NULL && registry_is_asked_late(registry, component)) {
            text_format(&text, "%s  opens its device when it is named\n", component);
        } else {
            list_component(registry, component, &text);
        }
    }
    TAPML_TRY(text_print(&text));
    return wanted == NULL || found > 0
               ? TAPML_OK
               : status_fail(TAPML_NOT_FOUND,
                             "no backend '%s' can be used; 'tapml-host plugins' "
                             "lists what was found",
                             wanted);
}

static tapml_status run(const struct options *options, struct registry *registry)
{
    const char *name = options_get(options, "--dump");

    if (options->plain_count > (name != NULL ? 0 : 1)) {
        return status_fail(TAPML_INVALID, "expected one name at most, found '%s' too",
                           options->plain[options->plain_count - 1]);
    }
    return name != NULL ? dump(registry, name)
                        : list(registry, options->plain_count > 0 ? options->plain[0] : NULL);
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
    status = run(&options, setup.registry);
    setup_close(&setup);
    return outcome_report(status);
}
