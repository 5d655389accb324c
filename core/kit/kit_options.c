// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_options.h"

#include "base/arena.h"
#include "base/text.h"

#include <string.h>

enum { WORDS_MAX = 64 };

static int
is_asked(const struct manifest *manifest, const char *component, uint32_t index, const char *key)
{
    const struct manifest_component *it = &manifest->components[index];

    return (component == NULL || strcmp(component, it->id) == 0) && manifest_has_option(it, key);
}

// The declared options of all components, one after the other.
static const char *
list_options(const struct manifest *manifest, const char *component, struct arena *arena)
{
    const char *list = "";

    for (uint32_t i = 0; list != NULL && i < manifest->component_count; i++) {
        const struct manifest_component *it = &manifest->components[i];

        if (it->options[0] != '\0' && (component == NULL || strcmp(component, it->id) == 0)) {
            list = arena_format(arena, "%s%s%s", list, *list != '\0' ? " " : "", it->options);
        }
    }
    return list;
}

static const char *find_nearest(const char *list, const char *key, struct arena *arena)
{
    const char *words[WORDS_MAX + 1] = {NULL};

    for (size_t count = 0; *list != '\0' && count < WORDS_MAX; list += strspn(list, " \t")) {
        const size_t length = strcspn(list, " \t");

        words[count++] = arena_format(arena, "%.*s", (int)length, list);
        list += length;
    }
    return text_nearest(key, words);
}

static tapml_status
refuse(const struct manifest *manifest, const char *component, const char *key, struct arena *arena)
{
    const char *list = list_options(manifest, component, arena);

    if (list == NULL) {
        return status_no_memory();
    }
    const char *nearest = find_nearest(list, key, arena);

    return status_fail(TAPML_INVALID, "%s%s%s declares no option '%s', known are: %.300s%s%s%s",
                       component != NULL ? "component '" : "the plugin",
                       component != NULL ? component : "", component != NULL ? "'" : "", key,
                       *list != '\0' ? list : "none", nearest != NULL ? ", did you mean '" : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static tapml_status
add(const struct manifest *manifest, const char *component, const char *word, struct ini *io_ini)
{
    const size_t length = strcspn(word, "=");
    const char *key = arena_format(io_ini->arena, "%.*s", (int)length, word);
    const char *value = word[length] == '=' ? arena_text(io_ini->arena, word + length + 1) : NULL;
    const size_t before = io_ini->count;

    if (word[length] != '=' || length == 0) {
        return status_fail(TAPML_INVALID, "--option is '%s', expected 'key=value'", word);
    }
    if (key == NULL || value == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < manifest->component_count; i++) {
        if (is_asked(manifest, component, i, key)) {
            io_ini->entries[io_ini->count++] = (struct ini_entry){
                .section = manifest->components[i].section, .key = key, .value = value};
        }
    }
    return io_ini->count > before ? TAPML_OK : refuse(manifest, component, key, io_ini->arena);
}

tapml_status kit_options_read(const struct manifest *manifest,
                              const char *component,
                              const char *const *words,
                              struct ini *out_ini)
{
    struct ini ini = {.arena = arena_create(), .name = "--option"};
    size_t count = 0;

    while (words != NULL && words[count] != NULL) {
        count++;
    }
    ini.entries = ini.arena != NULL ? arena_array(ini.arena, count * manifest->component_count + 1,
                                                  sizeof(*ini.entries))
                                    : NULL;
    tapml_status status = ini.entries != NULL ? TAPML_OK : status_no_memory();

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = add(manifest, component, words[i], &ini);
    }
    if (status != TAPML_OK) {
        ini_release(&ini);
        return status;
    }
    *out_ini = ini;
    return TAPML_OK;
}
