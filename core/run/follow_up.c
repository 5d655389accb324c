// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/follow_up.h"

#include "base/ini.h"
#include "exec/place.h"
#include "plugin/search.h"
#include "run/setup.h"

#include <stdlib.h>
#include <string.h>

static const char component[] = "component.";

static int is_option(const struct ini_entry *entry)
{
    return strncmp(entry->section, component, strlen(component)) == 0;
}

int follow_up_needs_config(const struct ini *ini, const struct place_settings *target)
{
    int needs = target->fault_count > 0 || target->observers != NULL ||
                place_isolation_is_far(&target->isolation);

    for (size_t i = 0; i < ini->count; i++) {
        const struct ini_entry *entry = &ini->entries[i];

        needs = needs || strcmp(entry->section, "plugins") == 0 || is_option(entry);
    }
    return needs;
}

void follow_up_print_path(const char *path, struct text *out)
{
    char *whole = realpath(path, NULL);

    text_append_shell(out, whole != NULL ? whole : path);
    free(whole);
}

static void print_plugin(const char *path, struct text *out)
{
    text_append(out, " --plugin ");
    follow_up_print_path(path, out);
}

static void print_safe(const struct setup *setup, struct text *out)
{
    text_append(out, setup->is_safe ? " --safe" : "");
}

void follow_up_print_given(const struct setup *setup, struct text *out)
{
    print_safe(setup, out);
    for (size_t i = 0; !setup->is_safe && setup->plugins[i] != NULL; i++) {
        print_plugin(setup->plugins[i], out);
    }
}

// An option of a component as --option takes it.
static void print_option(const struct ini_entry *entry, struct text *out)
{
    struct text word;

    text_init(&word);
    text_format(&word, "%s.%s=%s", entry->section + strlen(component), entry->key, entry->value);
    text_append(out, " --option ");
    text_append_shell(out, word.data);
    out->failed |= word.failed;
    text_release(&word);
}

void follow_up_print(const struct setup *setup, struct text *out)
{
    const struct registry *registry = setup->registry;
    const char *last = "";

    print_safe(setup, out);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct candidate *entry = registry_at(registry, i);

        if (entry->tier == SEARCH_TIER_NAMED && strcmp(entry->manifest, last) != 0) {
            last = entry->manifest; // The components of a plugin stand together.
            print_plugin(last, out);
        }
    }
    for (size_t i = 0; setup->ini != NULL && i < setup->ini->count; i++) {
        if (is_option(&setup->ini->entries[i])) {
            print_option(&setup->ini->entries[i], out);
        }
    }
}
