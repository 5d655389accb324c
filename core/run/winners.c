// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/winners.h"

#include "config/tuning_file.h"
#include "plugin/registry.h"
#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>

// The file is released with what was read, so that texts are copied.
static tapml_status
copy_settings(struct tuned_settings from, struct arena *arena, struct tuned_settings *out_settings)
{
    struct tuned_setting *items = arena_array(arena, from.count + 1, sizeof(*items));

    if (items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < from.count; i++) {
        const char *const texts[] = {from.items[i].device,      from.items[i].driver,
                                     from.items[i].digest,      from.items[i].op,
                                     from.items[i].shape_class, from.items[i].values};
        const char **const copies[] = {&items[i].device, &items[i].driver,      &items[i].digest,
                                       &items[i].op,     &items[i].shape_class, &items[i].values};

        for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
            *copies[k] = arena_text(arena, texts[k]);
            if (*copies[k] == NULL) {
                return status_no_memory();
            }
        }
        items[i].version = from.items[i].version;
    }
    *out_settings = (struct tuned_settings){items, from.count};
    return TAPML_OK;
}

tapml_status
winners_find(const char *backend, struct arena *arena, struct tuned_settings *out_settings)
{
    const char *slash = strchr(backend, '/');
    const char *component = slash != NULL ? slash + 1 : backend;
    struct tuning_file file;
    struct tuned_settings found = {.count = 0};
    char name[128];

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(component, ":"), component);
    tapml_status status = tuning_file_load(&file);

    if (status == TAPML_OK) {
        status = tuning_file_winners(&file, name, file.arena, &found);
    }
    if (status == TAPML_OK) {
        status = copy_settings(found, arena, out_settings);
    }
    tuning_file_release(&file);
    return status;
}

// How many settings are for the op that the setting `at` names; 0 where an earlier one names it.
static size_t count_alike(const struct place *place, const struct catalogue *catalogue, size_t at)
{
    const struct tuned_setting *items = place->settings.tuned.items;
    size_t count = 0;

    for (size_t i = 0; i < place->settings.tuned.count; i++) {
        if (strcmp(items[i].op, items[at].op) == 0 &&
            tuned_fits(place->backend, catalogue, &items[i])) {
            if (i < at) {
                return 0;
            }
            count++;
        }
    }
    return count;
}

static const char *short_name(const struct catalogue *catalogue, const struct tuned_setting *item)
{
    return catalogue_short_name(catalogue_find(catalogue, item->op, (uint32_t)item->version)
                                    ->op); // It fits, so it is there.
}

size_t
winners_print(const struct place *place, struct registry *registry, char out_text[WINNERS_TEXT])
{
    const struct catalogue *catalogue = registry_catalogue(registry);
    size_t used = 0, all = 0;

    out_text[0] = '\0';
    for (size_t i = 0; i < place->settings.tuned.count; i++) {
        const struct tuned_setting *item = &place->settings.tuned.items[i];
        const size_t count =
            tuned_fits(place->backend, catalogue, item) ? count_alike(place, catalogue, i) : 0;

        if (count > 0 && used < WINNERS_TEXT - 1) {
            used += (size_t)snprintf(out_text + used, WINNERS_TEXT - used, "%s%s %zu",
                                     all == 0 ? "settings of 'tapml-host tune' are used: " : ", ",
                                     short_name(catalogue, item), count);
            used = used < WINNERS_TEXT ? used : WINNERS_TEXT - 1;
        }
        all += count;
    }
    return all;
}
