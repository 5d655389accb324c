// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/inventory.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/text.h"
#include "plugin/hardware.h"
#include "plugin/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -- From a file to a candidate ----------------------------------------------------------------

static tapml_status add_component(struct inventory *inventory,
                                  struct plugin *plugin,
                                  const struct manifest_component *manifest)
{
    struct component *component = arena_new(inventory->arena, sizeof(*component));
    if (!component || !alloc_grow((void **)&inventory->components, &inventory->component_capacity,
                                  inventory->component_count, sizeof(*inventory->components))) {
        return status_no_memory();
    }
    const int is_read = plugin->manifest.id != NULL;
    component->plugin = plugin;
    component->manifest = manifest;
    component->services.ini = inventory->ini;
    component->services.pool = inventory->pool;
    component->entry = (struct candidate){
        .plugin = is_read ? plugin->manifest.id : plugin->path,
        .version = is_read ? plugin->manifest.version : "",
        .component = manifest ? manifest->id : "",
        .kind = manifest ? manifest->kind : "",
        .title = manifest ? manifest->title : "",
        .manifest = plugin->path,
        .library = plugin->library ? plugin->library : "",
        .tier = plugin->tier,
        .sentence = "",
        .remark = plugin->remark,
    };
    inventory->components[inventory->component_count++] = component;
    if (manifest && !kind_find(manifest->kind)) {
        (void)status_fail(TAPML_UNIMPLEMENTED, "this host does not know the kind '%s'%s",
                          manifest->kind,
                          manifest_is_draft(manifest->kind) ? ", which is a draft" : "");
        component_refuse(component, inventory->arena, CANDIDATE_UNKNOWN_KIND);
    }
    return TAPML_OK;
}

static int is_same_plugin(const struct plugin *a, const struct plugin *b)
{
    return a->manifest.id && b->manifest.id && strcmp(a->manifest.id, b->manifest.id) == 0;
}

static int is_same_build(const struct plugin *a, const struct plugin *b)
{
    return is_same_plugin(a, b) && a->file.inode != 0 && a->file.inode == b->file.inode &&
           a->file.device == b->file.device &&
           strcmp(a->manifest.build_id, b->manifest.build_id) == 0;
}

static int is_known(const struct inventory *inventory, const struct plugin *plugin)
{
    for (size_t i = 0; i < inventory->plugin_count; ++i) {
        if (is_same_build(inventory->plugins[i], plugin)) {
            return 1;
        }
    }
    return 0;
}

// An earlier candidate of the same id decides: another tier shadows, the same tier makes both
// wrong.
static void compare_with_earlier(struct inventory *inventory, struct plugin *plugin)
{
    for (size_t i = 0; i < inventory->plugin_count; ++i) {
        struct plugin *earlier = inventory->plugins[i];
        if (!is_same_plugin(earlier, plugin)) {
            continue;
        }
        if (earlier->tier != plugin->tier) {
            (void)status_fail(TAPML_PRECONDITION, "'%s' in tier %u comes first", earlier->path,
                              earlier->tier);
            component_refuse_plugin(plugin, inventory->arena, CANDIDATE_SHADOWED);
            return;
        }
        (void)status_fail(TAPML_PRECONDITION, "'%s' and '%s' have the same id in tier %u",
                          earlier->path, plugin->path, plugin->tier);
        component_refuse_plugin(plugin, inventory->arena, CANDIDATE_DUPLICATE);
        if (earlier->state == CANDIDATE_USABLE) {
            component_refuse_plugin(earlier, inventory->arena, CANDIDATE_DUPLICATE);
        }
        return;
    }
}

// All that can be said against a candidate whose manifest was read, without opening its library.
static void
judge(struct inventory *inventory, struct plugin *plugin, const struct search_item *item)
{
    enum candidate_state state = CANDIDATE_USABLE;
    compare_with_earlier(inventory, plugin);
    if (plugin->state != CANDIDATE_USABLE) {
        return;
    }
    if (item->refusal) {
        (void)status_fail(TAPML_PRECONDITION, "%s", item->refusal);
        component_refuse_plugin(plugin, inventory->arena, CANDIDATE_REFUSED);
    } else if (search_check_policy(inventory->ini, plugin->manifest.id) != TAPML_OK) {
        component_refuse_plugin(plugin, inventory->arena, CANDIDATE_REFUSED);
    } else if (!handshake_look(plugin->library, &plugin->file)) {
        (void)status_fail(TAPML_NOT_FOUND, "its library '%s': %s", plugin->library,
                          strerror(errno));
        component_refuse_plugin(plugin, inventory->arena, CANDIDATE_MISMATCH);
    } else if (item->is_checked &&
               search_check_owner(plugin->library, inventory->is_secure) != TAPML_OK) {
        component_refuse_plugin(plugin, inventory->arena, CANDIDATE_REFUSED);
    } else if (handshake_check_manifest(&plugin->manifest, &state) != TAPML_OK) {
        component_refuse_plugin(plugin, inventory->arena, state);
    } else if (plugin->tier ==
                   SEARCH_TIER_NAMED && // It is asked for: its user waits for an answer.
               handshake_check_library(plugin->library, &plugin->manifest, &plugin->file, &state) !=
                   TAPML_OK) {
        component_refuse_plugin(plugin, inventory->arena, state);
    }
}

// Tier 2 is the user's word, also for what other users can change.
static tapml_status doubt(struct inventory *inventory, struct plugin *plugin)
{
    if (plugin->tier != 2 || plugin->state != CANDIDATE_USABLE ||
        (search_check_others(plugin->path) == TAPML_OK &&
         search_check_others(plugin->library) == TAPML_OK)) {
        return TAPML_OK;
    }
    plugin->doubt = arena_text(inventory->arena, status_message());
    plugin->remark = plugin->doubt;
    return plugin->doubt ? TAPML_OK : status_no_memory();
}

static const char *library_path(struct inventory *inventory,
                                const struct plugin *plugin,
                                const struct search_item *item)
{
    char *folder = file_folder(plugin->path);
    char *joined = !folder || item->is_library ? NULL : file_join(folder, plugin->manifest.library);
    char *whole = realpath(item->is_library ? plugin->path : joined ? joined : "", NULL);
    const char *path = arena_text(inventory->arena, whole ? whole : joined ? joined : plugin->path);
    free(whole);
    alloc_free(joined);
    alloc_free(folder);
    return path;
}

static tapml_status keep_plugin(struct inventory *inventory, struct plugin *plugin)
{
    if (!alloc_grow((void **)&inventory->plugins, &inventory->plugin_capacity,
                    inventory->plugin_count, sizeof(*inventory->plugins))) {
        manifest_release(&plugin->manifest);
        return status_no_memory();
    }
    inventory->plugins[inventory->plugin_count++] = plugin;
    if (!plugin->manifest.id) {
        return add_component(inventory, plugin, NULL);
    }
    for (uint32_t i = 0; i < plugin->manifest.component_count; ++i) {
        TAPML_TRY(add_component(inventory, plugin, &plugin->manifest.components[i]));
    }
    return TAPML_OK;
}

static tapml_status take_item(struct inventory *inventory, const struct search_item *item)
{
    struct plugin *plugin = arena_new(inventory->arena, sizeof(*plugin));
    const char *path = arena_text(inventory->arena, item->path);
    if (!plugin || !path) {
        return status_no_memory();
    }
    plugin->path = path;
    plugin->tier = item->tier;
    plugin->sentence = "";
    plugin->remark = "";
    const tapml_status status = item->is_library ? manifest_load_library(path, &plugin->manifest)
                                                 : manifest_load(path, &plugin->manifest);
    if (status == TAPML_NO_MEMORY) {
        return status;
    }
    if (status != TAPML_OK) {
        component_refuse_plugin(plugin, inventory->arena, CANDIDATE_MALFORMED);
        return keep_plugin(inventory, plugin);
    }
    plugin->library = library_path(inventory, plugin, item);
    if (!plugin->library) {
        manifest_release(&plugin->manifest);
        return status_no_memory();
    }
    (void)handshake_look(plugin->library, &plugin->file); // `judge` says what is wrong with it.
    if (is_known(inventory, plugin)) {
        manifest_release(&plugin->manifest);
        return TAPML_OK;
    }
    judge(inventory, plugin, item);
    const tapml_status doubted = doubt(inventory, plugin);
    if (doubted != TAPML_OK) {
        manifest_release(&plugin->manifest);
        return doubted;
    }
    return keep_plugin(inventory, plugin);
}

static int is_named(const struct inventory *inventory, const char *library)
{
    for (size_t i = 0; i < inventory->plugin_count; ++i) {
        const char *named = inventory->plugins[i]->library;
        if (named && strcmp(named, library) == 0) {
            return 1;
        }
    }
    return 0;
}

// What is said of a library by itself.
static void judge_library(const char *path)
{
    struct manifest manifest;
    if (manifest_load_library(path, &manifest) != TAPML_OK) {
        (void)status_fail(TAPML_NOT_FOUND,
                          "no manifest in its folder names this library, which has no note of a "
                          "plugin");
        return;
    }
    (void)status_fail(TAPML_NOT_FOUND,
                      "no manifest in its folder names this library of the plugin '%s': write one "
                      "with 'manifest write', or give the library to --plugin",
                      manifest.id);
    manifest_release(&manifest);
}

// Lists what was found and is no candidate: a library that no manifest names, a folder that cannot
// be read.
static tapml_status take_stray(struct inventory *inventory, const struct search_stray *stray)
{
    char *whole = stray->problem ? NULL : realpath(stray->path, NULL);
    const int is_taken = !stray->problem && (!whole || is_named(inventory, whole));
    free(whole);
    if (is_taken) {
        return TAPML_OK;
    }
    struct plugin *plugin = arena_new(inventory->arena, sizeof(*plugin));
    const char *path = arena_text(inventory->arena, stray->path);
    if (!plugin || !path) {
        return status_no_memory();
    }
    plugin->path = path;
    plugin->tier = stray->tier;
    plugin->remark = "";
    if (stray->problem) {
        (void)status_fail(TAPML_NOT_FOUND, "this folder cannot be searched: %s", stray->problem);
    } else {
        judge_library(path);
    }
    component_refuse_plugin(plugin, inventory->arena,
                            stray->problem ? CANDIDATE_NO_FOLDER : CANDIDATE_NO_MANIFEST);
    return keep_plugin(inventory, plugin);
}

// -- Options of components ---------------------------------------------------------------------

static const char *component_of(const char *section)
{
    static const char prefix[] = "component.";
    return strncmp(section, prefix, strlen(prefix)) == 0 ? section + strlen(prefix) : NULL;
}

enum { OPTIONS_MAX = 64 };

// ", did you mean 'x'?" for what is nearest to `key` in a list with blanks between, or "".
static void hint_option(const char *options, const char *key, char *out_hint, size_t size)
{
    char list[1024];
    const char *words[OPTIONS_MAX + 1] = {NULL};
    size_t count = 0;
    snprintf(list, sizeof(list), "%s", options);
    for (char *at = list; *at && count < OPTIONS_MAX;) {
        char *end = at + strcspn(at, " \t");
        const int is_last = *end == '\0';
        *end = '\0';
        words[count] = at;
        count += *at != '\0';
        at = is_last ? end : end + 1;
    }
    words[count] = NULL;
    const char *near = text_nearest(key, words);
    snprintf(out_hint, size, "%s%s%s", near ? ", did you mean '" : "", near ? near : "",
             near ? "'?" : "");
}

// Options of a component that is not here may be meant for another machine; a name that is nearly
// one of those that are here is a mistake.
static tapml_status
check_component(const struct inventory *inventory, const struct ini_entry *entry, const char *id)
{
    const char **ids = alloc_array(inventory->component_count + 1, sizeof(*ids));
    if (!ids) {
        return status_no_memory();
    }
    for (size_t i = 0; i < inventory->component_count; ++i) {
        ids[i] = inventory->components[i]->entry.component;
    }
    const char *near = text_nearest(id, ids);
    alloc_free(ids);
    return near ? status_fail(TAPML_INVALID,
                              "%s:%u: [%s] has options, and no plugin has a component '%s', did "
                              "you mean '%s'?",
                              inventory->ini->name, entry->line, entry->section, id, near)
                : TAPML_OK;
}

tapml_status inventory_check_option(const struct inventory *inventory,
                                    const struct ini_entry *entry)
{
    const char *id = component_of(entry->section);
    const char *known = NULL;
    char hint[128];
    for (size_t i = 0; id && i < inventory->component_count; ++i) {
        const struct manifest_component *manifest = inventory->components[i]->manifest;
        if (!manifest || strcmp(manifest->id, id) != 0) {
            continue;
        }
        if (manifest_has_option(manifest, entry->key)) {
            return TAPML_OK;
        }
        known = manifest->options;
    }
    if (!known) {
        return id ? check_component(inventory, entry, id) : TAPML_OK;
    }
    hint_option(known, entry->key, hint, sizeof(hint));
    return status_fail(TAPML_INVALID, "%s:%u: unknown key '%s' in [%s], known are: %s%s",
                       inventory->ini->name, entry->line, entry->key, entry->section,
                       known[0] ? known : "none", hint);
}

tapml_status inventory_check_options(const struct inventory *inventory)
{
    for (size_t i = 0; inventory->ini && i < inventory->ini->count; ++i) {
        TAPML_TRY(inventory_check_option(inventory, &inventory->ini->entries[i]));
    }
    return TAPML_OK;
}

// -- Life --------------------------------------------------------------------------------------

static tapml_status scan(struct inventory *inventory, const struct search_options *where)
{
    struct search search;
    TAPML_TRY(search_run(where, &search));
    tapml_status status = TAPML_OK;
    for (size_t i = 0; status == TAPML_OK && i < search.count; ++i) {
        status = take_item(inventory, &search.items[i]);
    }
    for (size_t i = 0; status == TAPML_OK && i < search.stray_count; ++i) {
        status = take_stray(inventory, &search.strays[i]);
    }
    search_release(&search);
    return status;
}

// A component shows what its plugin as a whole was refused for.
static void show_plugin_states(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->component_count; ++i) {
        struct component *component = inventory->components[i];
        if (component->plugin->state != CANDIDATE_USABLE) {
            component->entry.state = component->plugin->state;
            component->entry.sentence = component->plugin->sentence;
        }
    }
}

// What a component needs of the machine, before anything of its library is mapped.
static void judge_hardware(struct inventory *inventory, struct component *component)
{
    const struct manifest *manifest = &component->plugin->manifest;
    const char *id = component->entry.component;
    const tapml_status status =
        hardware_check(&hardware_of_machine, manifest_key(manifest, id, "hardware"),
                       manifest_key(manifest, id, "processor"));
    if (status != TAPML_OK) {
        component_refuse(component, inventory->arena,
                         status == TAPML_INVALID ? CANDIDATE_MALFORMED : CANDIDATE_NO_DEVICE);
    }
}

static void judge_machine(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->component_count; ++i) {
        struct component *component = inventory->components[i];
        if (component->manifest && component->entry.state == CANDIDATE_USABLE) {
            judge_hardware(inventory, component);
        }
    }
}

tapml_status inventory_read(const struct search_options *where,
                            struct pool *pool,
                            struct inventory *out_inventory)
{
    *out_inventory = (struct inventory){
        .arena = arena_create(),
        .ini = where->ini,
        .pool = pool,
        .is_secure = where->is_secure,
    };
    if (!out_inventory->arena) {
        return status_no_memory();
    }
    TAPML_TRY(scan(out_inventory, where));
    show_plugin_states(out_inventory);
    judge_machine(out_inventory);
    return TAPML_OK;
}

void inventory_release(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->plugin_count; ++i) {
        manifest_release(&inventory->plugins[i]->manifest);
    }
    alloc_free(inventory->plugins);
    alloc_free(inventory->components);
    arena_destroy(inventory->arena);
    *inventory = (struct inventory){0};
}
