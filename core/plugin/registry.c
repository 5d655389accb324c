// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/component.h"
#include "plugin/device.h"
#include "plugin/search.h"

#include <tapml/model.h>
#include <tapml/ops.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registry {
    struct arena *arena;
    struct catalogue *catalogue;
    const struct ini *ini;
    struct pool *pool;
    int is_secure;
    struct plugin **plugins;
    size_t plugin_count;
    size_t plugin_capacity;
    struct component **components;
    size_t component_count;
    size_t component_capacity;
    struct component *chain; // Those that were probed, the last one first.
};

// -- From a file to a candidate ----------------------------------------------------------------

static tapml_status add_component(struct registry *registry,
                                  struct plugin *plugin,
                                  const struct manifest_component *manifest)
{
    struct component *component = arena_new(registry->arena, sizeof(*component));
    if (!component || !alloc_grow((void **)&registry->components, &registry->component_capacity,
                                  registry->component_count, sizeof(*registry->components))) {
        return status_no_memory();
    }
    const int is_read = plugin->manifest.id != NULL;
    component->plugin = plugin;
    component->manifest = manifest;
    component->services.ini = registry->ini;
    component->services.pool = registry->pool;
    component->entry = (struct registry_entry){
        .plugin = is_read ? plugin->manifest.id : plugin->path,
        .version = is_read ? plugin->manifest.version : "",
        .component = manifest ? manifest->id : "",
        .kind = manifest ? manifest->kind : "",
        .title = manifest ? manifest->title : "",
        .manifest = plugin->path,
        .library = plugin->library ? plugin->library : "",
        .tier = plugin->tier,
        .sentence = "",
    };
    registry->components[registry->component_count++] = component;
    if (manifest && !component_is_backend(component) && !component_is_model(component)) {
        (void)status_fail(TAPML_UNIMPLEMENTED, "this host does not know the kind '%s'",
                          manifest->kind);
        component_refuse(component, registry->arena, REGISTRY_UNKNOWN_KIND);
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

static int is_known(const struct registry *registry, const struct plugin *plugin)
{
    for (size_t i = 0; i < registry->plugin_count; ++i) {
        if (is_same_build(registry->plugins[i], plugin)) {
            return 1;
        }
    }
    return 0;
}

// An earlier candidate of the same id decides: another tier shadows, the same tier makes both
// wrong.
static void compare_with_earlier(struct registry *registry, struct plugin *plugin)
{
    for (size_t i = 0; i < registry->plugin_count; ++i) {
        struct plugin *earlier = registry->plugins[i];
        if (!is_same_plugin(earlier, plugin)) {
            continue;
        }
        if (earlier->tier != plugin->tier) {
            (void)status_fail(TAPML_PRECONDITION, "'%s' in tier %u comes first", earlier->path,
                              earlier->tier);
            component_refuse_plugin(plugin, registry->arena, REGISTRY_SHADOWED);
            return;
        }
        (void)status_fail(TAPML_PRECONDITION, "'%s' and '%s' have the same id in tier %u",
                          earlier->path, plugin->path, plugin->tier);
        component_refuse_plugin(plugin, registry->arena, REGISTRY_DUPLICATE);
        if (earlier->state == REGISTRY_USABLE) {
            component_refuse_plugin(earlier, registry->arena, REGISTRY_DUPLICATE);
        }
        return;
    }
}

// All that can be said against a candidate whose manifest was read, without opening its library.
static void judge(struct registry *registry, struct plugin *plugin, const struct search_item *item)
{
    enum registry_state state = REGISTRY_USABLE;
    compare_with_earlier(registry, plugin);
    if (plugin->state != REGISTRY_USABLE) {
        return;
    }
    if (item->refusal) {
        (void)status_fail(TAPML_PRECONDITION, "%s", item->refusal);
        component_refuse_plugin(plugin, registry->arena, REGISTRY_REFUSED);
    } else if (search_check_policy(registry->ini, plugin->manifest.id) != TAPML_OK) {
        component_refuse_plugin(plugin, registry->arena, REGISTRY_REFUSED);
    } else if (!handshake_look(plugin->library, &plugin->file)) {
        (void)status_fail(TAPML_NOT_FOUND, "its library '%s': %s", plugin->library,
                          strerror(errno));
        component_refuse_plugin(plugin, registry->arena, REGISTRY_MISMATCH);
    } else if (item->is_checked &&
               search_check_owner(plugin->library, registry->is_secure) != TAPML_OK) {
        component_refuse_plugin(plugin, registry->arena, REGISTRY_REFUSED);
    } else if (handshake_check_manifest(&plugin->manifest, &state) != TAPML_OK) {
        component_refuse_plugin(plugin, registry->arena, state);
    }
}

static const char *
library_path(struct registry *registry, const struct plugin *plugin, const struct search_item *item)
{
    char *folder = file_folder(plugin->path);
    char *joined = !folder || item->is_library ? NULL : file_join(folder, plugin->manifest.library);
    char *whole = realpath(item->is_library ? plugin->path : joined ? joined : "", NULL);
    const char *path = arena_text(registry->arena, whole ? whole : joined ? joined : plugin->path);
    free(whole);
    alloc_free(joined);
    alloc_free(folder);
    return path;
}

static tapml_status keep_plugin(struct registry *registry, struct plugin *plugin)
{
    if (!alloc_grow((void **)&registry->plugins, &registry->plugin_capacity, registry->plugin_count,
                    sizeof(*registry->plugins))) {
        manifest_release(&plugin->manifest);
        return status_no_memory();
    }
    registry->plugins[registry->plugin_count++] = plugin;
    if (!plugin->manifest.id) {
        return add_component(registry, plugin, NULL);
    }
    for (uint32_t i = 0; i < plugin->manifest.component_count; ++i) {
        TAPML_TRY(add_component(registry, plugin, &plugin->manifest.components[i]));
    }
    return TAPML_OK;
}

static tapml_status take_item(struct registry *registry, const struct search_item *item)
{
    struct plugin *plugin = arena_new(registry->arena, sizeof(*plugin));
    const char *path = arena_text(registry->arena, item->path);
    if (!plugin || !path) {
        return status_no_memory();
    }
    plugin->path = path;
    plugin->tier = item->tier;
    plugin->sentence = "";
    const tapml_status status = item->is_library ? manifest_load_library(path, &plugin->manifest)
                                                 : manifest_load(path, &plugin->manifest);
    if (status == TAPML_NO_MEMORY) {
        return status;
    }
    if (status != TAPML_OK) {
        component_refuse_plugin(plugin, registry->arena, REGISTRY_MALFORMED);
        return keep_plugin(registry, plugin);
    }
    plugin->library = library_path(registry, plugin, item);
    if (!plugin->library) {
        manifest_release(&plugin->manifest);
        return status_no_memory();
    }
    (void)handshake_look(plugin->library, &plugin->file); // `judge` says what is wrong with it.
    if (is_known(registry, plugin)) {
        manifest_release(&plugin->manifest);
        return TAPML_OK;
    }
    judge(registry, plugin, item);
    return keep_plugin(registry, plugin);
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
check_component(const struct registry *registry, const struct ini_entry *entry, const char *id)
{
    const char **ids = alloc_array(registry->component_count + 1, sizeof(*ids));
    if (!ids) {
        return status_no_memory();
    }
    for (size_t i = 0; i < registry->component_count; ++i) {
        ids[i] = registry->components[i]->entry.component;
    }
    const char *near = text_nearest(id, ids);
    alloc_free(ids);
    return near ? status_fail(TAPML_INVALID,
                              "%s:%u: [%s] has options, and no plugin has a component '%s', did "
                              "you mean '%s'?",
                              registry->ini->name, entry->line, entry->section, id, near)
                : TAPML_OK;
}

tapml_status registry_check_option(const struct registry *registry, const struct ini_entry *entry)
{
    const char *id = component_of(entry->section);
    const char *known = NULL;
    char hint[128];
    for (size_t i = 0; id && i < registry->component_count; ++i) {
        const struct manifest_component *manifest = registry->components[i]->manifest;
        if (!manifest || strcmp(manifest->id, id) != 0) {
            continue;
        }
        if (manifest_has_option(manifest, entry->key)) {
            return TAPML_OK;
        }
        known = manifest->options;
    }
    if (!known) {
        return id ? check_component(registry, entry, id) : TAPML_OK;
    }
    hint_option(known, entry->key, hint, sizeof(hint));
    return status_fail(TAPML_INVALID, "%s:%u: unknown key '%s' in [%s], known are: %s%s",
                       registry->ini->name, entry->line, entry->key, entry->section,
                       known[0] ? known : "none", hint);
}

static tapml_status check_options(const struct registry *registry)
{
    for (size_t i = 0; registry->ini && i < registry->ini->count; ++i) {
        TAPML_TRY(registry_check_option(registry, &registry->ini->entries[i]));
    }
    return TAPML_OK;
}

// -- Life --------------------------------------------------------------------------------------

static tapml_status scan(struct registry *registry, const struct registry_options *options)
{
    struct search search;
    const struct search_options where = {
        .program = options->program,
        .installed = TAPML_PLUGIN_DIR,
        .files = options->files,
        .ini = options->ini,
        .ini_path = options->ini_path,
        .safe_only = options->safe_only,
        .is_secure = registry->is_secure,
    };
    TAPML_TRY(search_run(&where, &search));
    tapml_status status = TAPML_OK;
    for (size_t i = 0; status == TAPML_OK && i < search.count; ++i) {
        status = take_item(registry, &search.items[i]);
    }
    search_release(&search);
    return status;
}

static void show_plugin_states(struct registry *registry)
{
    for (size_t i = 0; i < registry->component_count; ++i) {
        struct component *component = registry->components[i];
        if (component->plugin->state != REGISTRY_USABLE) {
            component->entry.state = component->plugin->state;
            component->entry.sentence = component->plugin->sentence;
        }
    }
}

static tapml_status fill(struct registry *registry, const struct registry_options *options)
{
    registry->arena = arena_create();
    registry->is_secure = search_is_secure();
    registry->ini = options->ini;
    registry->pool = options->pool;
    if (!registry->arena) {
        return status_no_memory();
    }
    TAPML_TRY(catalogue_create(&registry->catalogue));
    for (size_t i = 0; tapml_ops[i]; ++i) {
        TAPML_TRY(catalogue_add(registry->catalogue, tapml_ops[i], "the host"));
    }
    TAPML_TRY(scan(registry, options));
    show_plugin_states(registry);
    return options->takes_all ? TAPML_OK : check_options(registry);
}

tapml_status registry_create(const struct registry_options *options, struct registry **out_registry)
{
    struct registry *registry = alloc_new(sizeof(*registry));
    if (!registry) {
        return status_no_memory();
    }
    const tapml_status status = fill(registry, options);
    if (status != TAPML_OK) {
        registry_destroy(registry);
        return status;
    }
    *out_registry = registry;
    return TAPML_OK;
}

void registry_destroy(struct registry *registry)
{
    if (!registry) {
        return;
    }
    for (struct component *at = registry->chain; at; at = at->created_before) {
        component_close(at);
    }
    for (size_t i = 0; i < registry->plugin_count; ++i) {
        manifest_release(&registry->plugins[i]->manifest);
    }
    catalogue_destroy(registry->catalogue);
    alloc_free(registry->plugins);
    alloc_free(registry->components);
    arena_destroy(registry->arena);
    alloc_free(registry);
}

// -- Bringing components up --------------------------------------------------------------------

static int is_ready(struct registry *registry, struct component *component)
{
    return component_ready(component, registry->arena, &registry->chain);
}

static tapml_status
keep_ops(struct registry *registry, struct component *component, const struct backend *backend)
{
    const size_t count = device_op_count(backend);
    const tapml_op **ops = arena_array(registry->arena, count + 1, sizeof(*ops));
    if (!ops) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; ++i) {
        ops[i] = device_op_at(backend, i);
    }
    component->is_host_memory = backend_info(backend)->is_host_memory;
    component->op_count = count;
    component->ops = ops;
    return TAPML_OK;
}

// Opens a device of a component that is ready. A changed schema ends the component.
static tapml_status open_device(struct registry *registry,
                                struct component *component,
                                const char *device,
                                struct backend **out_backend)
{
    const struct device_options options = {
        .table = component->table,
        .root = component->root,
        .device = device,
        .component = component->entry.component,
        .plugin = component->entry.plugin,
        .plugin_version = component->entry.version,
        .build_id = component->plugin->manifest.build_id,
        .catalogue = registry->catalogue,
    };
    struct backend *backend = NULL;
    tapml_status status = device_open(&options, &backend);
    if (status == TAPML_ABI_MISMATCH) {
        component_refuse(component, registry->arena, REGISTRY_REFUSED);
    }
    if (status == TAPML_OK && !component->ops) {
        status = keep_ops(registry, component, backend);
    }
    if (status != TAPML_OK) {
        backend_release(backend);
        return status;
    }
    *out_backend = backend;
    return TAPML_OK;
}

// Whether a backend is usable down to the ops of its first device, which are then known. Of one
// that is asked late they are known once it was opened for somebody.
static int has_ops(struct registry *registry, struct component *component)
{
    struct backend *backend = NULL;
    if (!is_ready(registry, component)) {
        return 0;
    }
    if (component->ops) {
        return 1;
    }
    if (component_is_asked_late(component)) {
        component->entry.sentence = "its devices are looked for when one is used, not before";
        return 0;
    }
    const tapml_status status = open_device(registry, component, NULL, &backend);
    if (status == TAPML_OK) {
        backend_release(backend);
        return 1;
    }
    if (component->entry.state == REGISTRY_USABLE) {
        component_refuse(component, registry->arena,
                         status == TAPML_UNAVAILABLE ? REGISTRY_NO_DEVICE : REGISTRY_PROBE_FAILED);
    }
    return 0;
}

void registry_probe(struct registry *registry, size_t index)
{
    struct component *component = registry->components[index];
    if (is_ready(registry, component) && component_is_backend(component)) {
        (void)has_ops(registry, component); // What is wrong is now its state.
    }
}

tapml_status registry_probe_all(struct registry *registry)
{
    for (size_t i = 0; i < registry->component_count; ++i) {
        registry_probe(registry, i);
    }
    return TAPML_OK;
}

// -- Questions ---------------------------------------------------------------------------------

size_t registry_count(const struct registry *registry)
{
    return registry->component_count;
}

const struct registry_entry *registry_at(const struct registry *registry, size_t index)
{
    return index < registry->component_count ? &registry->components[index]->entry : NULL;
}

static const char *const state_names[] = {
    [REGISTRY_USABLE] = "usable",
    [REGISTRY_SHADOWED] = "shadowed",
    [REGISTRY_DUPLICATE] = "duplicate",
    [REGISTRY_MALFORMED] = "malformed",
    [REGISTRY_REFUSED] = "refused",
    [REGISTRY_WRONG_ARCH] = "wrong-arch",
    [REGISTRY_WRONG_ABI] = "wrong-abi",
    [REGISTRY_MISMATCH] = "mismatch",
    [REGISTRY_UNKNOWN_KIND] = "unknown-kind",
    [REGISTRY_NO_DRIVER] = "no-driver",
    [REGISTRY_NO_DEVICE] = "no-device",
    [REGISTRY_PROBE_FAILED] = "probe-failed",
    [REGISTRY_REPLACED] = "replaced",
};

const char *registry_state_name(enum registry_state state)
{
    return (unsigned)state <= REGISTRY_REPLACED ? state_names[state] : "unknown";
}

enum registry_state registry_state_from(const char *name)
{
    unsigned state = REGISTRY_USABLE;
    while (state <= REGISTRY_REPLACED && strcmp(state_names[state], name) != 0) {
        state++;
    }
    return state <= REGISTRY_REPLACED ? (enum registry_state)state : REGISTRY_PROBE_FAILED;
}

struct catalogue *registry_catalogue(struct registry *registry)
{
    return registry->catalogue;
}

// "PLUGIN/COMPONENT:DEVICE" in its parts. A device's id may have colons and slashes.
struct name {
    char plugin[128];
    char component[128];
    const char *device; // In the text, or NULL.
};

static tapml_status split_name(const char *text, struct name *out_name)
{
    const size_t length = strcspn(text, ":");
    const char *slash = memchr(text, '/', length);
    const size_t plugin = slash ? (size_t)(slash - text) : 0;
    const size_t begin = slash ? plugin + 1 : 0;
    if (plugin >= sizeof(out_name->plugin) || length == begin ||
        length - begin >= sizeof(out_name->component)) {
        return status_fail(TAPML_INVALID,
                           "'%s' names no component: expected COMPONENT, COMPONENT:DEVICE or "
                           "PLUGIN/COMPONENT:DEVICE",
                           text);
    }
    memset(out_name, 0, sizeof(*out_name));
    memcpy(out_name->plugin, text, plugin);
    memcpy(out_name->component, text + begin, length - begin);
    out_name->device = text[length] == ':' ? text + length + 1 : NULL;
    return TAPML_OK;
}

static int is_named(const struct component *component, const struct name *name)
{
    return strcmp(component->entry.component, name->component) == 0 &&
           (name->plugin[0] == '\0' || strcmp(component->entry.plugin, name->plugin) == 0);
}

static tapml_status no_component(const struct registry *registry, const struct name *name)
{
    const char **ids = alloc_array(registry->component_count + 1, sizeof(*ids));
    if (!ids) {
        return status_no_memory();
    }
    for (size_t i = 0; i < registry->component_count; ++i) {
        ids[i] = registry->components[i]->entry.component;
    }
    const char *nearest = text_nearest(name->component, ids);
    alloc_free(ids);
    return status_fail(TAPML_NOT_FOUND, "no plugin has a component '%s'%s%s%s", name->component,
                       nearest ? ", did you mean '" : "", nearest ? nearest : "",
                       nearest ? "'?" : "");
}

static tapml_status not_usable(const struct component *component)
{
    const struct registry_entry *entry = &component->entry;
    return status_fail(component->is_told_wrong ? TAPML_INVALID : TAPML_UNAVAILABLE,
                       "the component '%s' of '%s' is %s: %s", entry->component, entry->plugin,
                       registry_state_name(entry->state), entry->sentence);
}

static tapml_status not_a_backend(const struct component *component)
{
    return status_fail(TAPML_NOT_FOUND, "the component '%s' is of kind '%s', expected a backend",
                       component->entry.component, component->entry.kind);
}

// The one component that is meant, usable or not.
static tapml_status
find_named(const struct registry *registry, const struct name *name, struct component **out)
{
    struct component *first = NULL;
    for (size_t i = 0; i < registry->component_count; ++i) {
        struct component *component = registry->components[i];
        if (!is_named(component, name)) {
            continue;
        }
        const int is_usable = component->entry.state == REGISTRY_USABLE;
        if (first && is_usable && first->entry.state == REGISTRY_USABLE) {
            return status_fail(TAPML_INVALID,
                               "two plugins have a component '%s': say '%s/%s' or '%s/%s'",
                               name->component, first->entry.plugin, name->component,
                               component->entry.plugin, name->component);
        }
        if (!first || (is_usable && first->entry.state != REGISTRY_USABLE)) {
            first = component;
        }
    }
    if (!first) {
        return no_component(registry, name);
    }
    *out = first;
    return TAPML_OK;
}

static tapml_status
get_backend(struct registry *registry, const struct name *name, struct component **out_component)
{
    struct component *component = NULL;
    TAPML_TRY(find_named(registry, name, &component));
    if (!component_is_backend(component)) {
        return not_a_backend(component);
    }
    if (!is_ready(registry, component)) {
        return not_usable(component);
    }
    *out_component = component;
    return TAPML_OK;
}

tapml_status
registry_open(struct registry *registry, const char *name, struct backend **out_backend)
{
    struct name parts;
    struct component *component = NULL;
    TAPML_TRY(split_name(name, &parts));
    TAPML_TRY(get_backend(registry, &parts, &component));
    const tapml_status status = open_device(registry, component, parts.device, out_backend);
    return component->entry.state == REGISTRY_USABLE ? status : not_usable(component);
}

tapml_status
registry_locate(struct registry *registry, const char *name, struct registry_location *out_location)
{
    struct name parts;
    struct component *component = NULL;
    TAPML_TRY(split_name(name, &parts));
    TAPML_TRY(find_named(registry, &parts, &component));
    if (!component_is_backend(component)) {
        return not_a_backend(component);
    }
    if (component->entry.state != REGISTRY_USABLE) {
        return not_usable(component);
    }
    component->is_elsewhere = 1;
    *out_location = (struct registry_location){
        .plugin = component->entry.plugin,
        .component = component->entry.component,
        .device = parts.device ? arena_text(registry->arena, parts.device) : NULL,
        .manifest = component->entry.manifest,
        .build_id = component->plugin->manifest.build_id,
    };
    return parts.device && !out_location->device ? status_no_memory() : TAPML_OK;
}

tapml_status registry_settle(struct registry *registry,
                             size_t index,
                             enum registry_state state,
                             const char *sentence)
{
    struct registry_entry *entry = &registry->components[index]->entry;
    entry->sentence = arena_text(registry->arena, sentence);
    entry->state = state;
    return entry->sentence ? TAPML_OK : status_no_memory();
}

tapml_status registry_devices(struct registry *registry,
                              const char *component,
                              const tapml_device_info *const **out_list,
                              uint32_t *out_count)
{
    struct name parts;
    struct component *found = NULL;
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;
    TAPML_TRY(split_name(component, &parts));
    TAPML_TRY(get_backend(registry, &parts, &found));
    const tapml_backend *table = found->table;
    services_begin(&found->call);
    const tapml_status status = table->devices(found->root, &found->call, &list, &count);
    TAPML_TRY(services_end(&found->call, status, found->entry.component, "devices"));
    TAPML_TRY(device_check_list(list, count));
    *out_list = list;
    *out_count = count;
    return TAPML_OK;
}

tapml_status registry_check(struct registry *registry, const char *name)
{
    struct name parts;
    struct component *component = NULL;
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;
    TAPML_TRY(split_name(name, &parts));
    TAPML_TRY(find_named(registry, &parts, &component));
    if (component_is_backend(component) && component->entry.state != REGISTRY_USABLE) {
        return not_usable(component);
    }
    if (component_is_backend(component) && (!parts.device || component_is_asked_late(component))) {
        return TAPML_OK;
    }
    TAPML_TRY(registry_devices(registry, name, &list, &count));
    return device_find(component->entry.component, parts.device, list, count, &count);
}

struct component *registry_find(struct registry *registry, const char *kind, size_t index)
{
    for (size_t i = 0; i < registry->component_count; ++i) {
        struct component *component = registry->components[i];
        if (strcmp(component->entry.kind, kind) == 0 && is_ready(registry, component) &&
            index-- == 0) {
            return component;
        }
    }
    return NULL;
}

const char *registry_component(struct registry *registry, const char *kind, size_t index)
{
    const struct component *component = registry_find(registry, kind, index);
    return component ? component->entry.component : NULL;
}

const char *
registry_component_key(struct registry *registry, const char *component, const char *key)
{
    struct name parts;
    struct component *found = NULL;
    if (split_name(component, &parts) != TAPML_OK ||
        find_named(registry, &parts, &found) != TAPML_OK || !found) {
        return NULL;
    }
    return manifest_key(&found->plugin->manifest, found->entry.component, key);
}

int registry_is_asked_late(const struct registry *registry, const char *component)
{
    struct name parts;
    struct component *found = NULL;
    return split_name(component, &parts) == TAPML_OK &&
           find_named(registry, &parts, &found) == TAPML_OK && component_is_asked_late(found);
}

static int has_op(const struct component *component, const tapml_op *op)
{
    for (size_t i = 0; i < component->op_count; ++i) {
        if (component->ops[i]->version == op->version &&
            strcmp(component->ops[i]->name, op->name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int calibrates(const struct component *component)
{
    return manifest_key(&component->plugin->manifest, component->entry.component, "calibrates") !=
           NULL;
}

const char *registry_oracle(struct registry *registry, const tapml_op *op)
{
    for (int pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < registry->component_count; ++i) {
            struct component *component = registry->components[i];
            // Nothing is brought up that cannot be the answer.
            if (component->entry.state != REGISTRY_USABLE || !component_is_backend(component) ||
                (pass == 0 ? !calibrates(component) : component->is_elsewhere) ||
                !has_ops(registry, component)) {
                continue;
            }
            if (has_op(component, op) && (pass == 0 || component->is_host_memory)) {
                return component->entry.component;
            }
        }
    }
    return NULL;
}
