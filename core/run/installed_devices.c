// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/installed_devices.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "run/setup.h"

#include <string.h>

struct device_listing {
    struct setup *setup;
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
    struct setup *setup = listing->setup;
    const struct candidate *entry = registry_at(setup->registry, index);
    struct survey survey = {.devices = NULL};
    const tapml_status status = survey_entry(setup->program, setup->registry, index,
                                             &(struct survey_question){0}, setup->arena, &survey);

    if (status == TAPML_NO_MEMORY || (status != TAPML_OK && entry->state == CANDIDATE_USABLE)) {
        return status; // Nothing can be asked.
    }
    item.state = entry->state;
    if (status != TAPML_OK || survey.device_count == 0) {
        item.sentence = arena_text(setup->arena, status != TAPML_OK ? status_message() : "");
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
    const struct registry *registry = listing->setup->registry;
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
    *out_items = arena_array(listing->setup->arena, listing->count + 1, sizeof(**out_items));
    if (*out_items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < listing->count; i++) {
        (*out_items)[i] = listing->items[i];
    }
    return TAPML_OK;
}

tapml_status
installed_devices_list(struct setup *setup, struct installed_device **out_items, size_t *out_count)
{
    struct device_listing listing = {.setup = setup};
    tapml_status status = TAPML_OK;

    for (size_t i = 0; status == TAPML_OK && i < registry_count(setup->registry); i++) {
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
