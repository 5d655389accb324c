// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/installed_devices.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/text.h"

#include <string.h>

struct device_listing {
    const char *program;
    struct registry *registry;
    struct arena *arena;
    struct installed_device *items;
    size_t count, capacity;
};

static tapml_status add(struct device_listing *listing, const struct installed_device *item)
{
    void *items = listing->items;

    if (!alloc_grow(&items, &listing->capacity, listing->count, sizeof(*listing->items))) {
        return status_no_memory();
    }
    listing->items = items;
    listing->items[listing->count++] = *item;
    return TAPML_OK;
}

static tapml_status ask(struct device_listing *listing, size_t index, struct installed_device item)
{
    const struct candidate *entry = registry_at(listing->registry, index);
    struct survey survey = {.devices = NULL};
    const tapml_status status = survey_entry(listing->program, listing->registry, index,
                                             &(struct survey_question){0}, listing->arena, &survey);

    if (status == TAPML_NO_MEMORY || (status != TAPML_OK && entry->state == CANDIDATE_USABLE)) {
        return status; // Nothing can be asked.
    }
    item.state = entry->state;
    if (status != TAPML_OK || survey.device_count == 0) {
        item.sentence = arena_text(listing->arena, status != TAPML_OK ? status_message() : "");
        return item.sentence != NULL ? add(listing, &item) : status_no_memory();
    }
    for (size_t i = 0; i < survey.device_count; i++) {
        item.device = &survey.devices[i];
        TAPML_TRY(add(listing, &item));
    }
    return TAPML_OK;
}

static tapml_status list_entry(struct device_listing *listing, size_t index)
{
    const struct registry *registry = listing->registry;
    const struct candidate *entry = registry_at(registry, index);

    if (strcmp(entry->kind, TAPML_KIND_BACKEND) != 0 || entry->state == CANDIDATE_SHADOWED) {
        return TAPML_OK;
    }
    const struct installed_device item = {.plugin = entry->plugin,
                                          .plugin_version = entry->version,
                                          .build = registry_location_at(registry, index).build_id,
                                          .component = entry->component,
                                          .opens_late =
                                              entry->state == CANDIDATE_USABLE &&
                                              registry_is_asked_late(registry, entry->component),
                                          .state = entry->state,
                                          .sentence = ""};

    return item.opens_late ? add(listing, &item) : ask(listing, index, item);
}

static tapml_status keep(const struct device_listing *listing, struct installed_device **out_items)
{
    *out_items = arena_array(listing->arena, listing->count + 1, sizeof(**out_items));
    if (*out_items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < listing->count; i++) {
        (*out_items)[i] = listing->items[i];
    }
    return TAPML_OK;
}

tapml_status installed_devices_list(const char *program,
                                    struct registry *registry,
                                    struct arena *arena,
                                    struct installed_device **out_items,
                                    size_t *out_count)
{
    struct device_listing listing = {.program = program, .registry = registry, .arena = arena};
    tapml_status status = TAPML_OK;

    for (size_t i = 0; status == TAPML_OK && i < registry_count(registry); i++) {
        status = list_entry(&listing, i);
    }
    if (status == TAPML_OK) {
        status = keep(&listing, out_items);
        *out_count = listing.count;
    }
    alloc_free(listing.items);
    return status;
}

struct backend_info installed_devices_info(const struct installed_device *item)
{
    return (struct backend_info){.component = item->component,
                                 .plugin = item->plugin,
                                 .plugin_version = item->plugin_version,
                                 .build_id = item->build,
                                 .device = item->device != NULL ? item->device->id : "",
                                 .device_name = item->device != NULL ? item->device->name : "",
                                 .driver = item->device != NULL ? item->device->driver : ""};
}

void installed_devices_append(const char *component,
                              const struct survey_device *device,
                              struct text *out_line)
{
    text_format(out_line, "%s:%s  %s", component, device->id, device->name);
    if (device->driver[0] != '\0') {
        text_format(out_line, ", %s", device->driver);
    }
    if (device->memory_bytes > 0) {
        text_format(out_line, ", %.1f GB", (double)device->memory_bytes * 1e-9);
    }
    if (device->buffer_bytes > 0) {
        text_format(out_line, ", buffers of %.1f MB", (double)device->buffer_bytes * 1e-6);
    }
}

static void print(const struct installed_device *item, struct text *out_lines)
{
    if (item->device != NULL) {
        installed_devices_append(item->component, item->device, out_lines);
        text_append(out_lines, "\n");
    } else if (item->opens_late) {
        text_format(out_lines, "%s  opens its device when it is named\n", item->component);
    } else if (item->state != CANDIDATE_USABLE && item->state != CANDIDATE_NO_DRIVER &&
               item->state != CANDIDATE_NO_DEVICE) {
        log_line(LOG_WARNING, "not listed: %s", item->sentence);
    }
}

void installed_devices_print(const struct installed_device *items,
                             size_t count,
                             struct text *out_lines)
{
    for (size_t i = 0; i < count; i++) {
        print(&items[i], out_lines);
    }
}
