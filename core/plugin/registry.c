// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "plugin/device.h"
#include "plugin/device_table.h"
#include "plugin/inventory.h"
#include "plugin/kind.h"
#include "schema/plain_form.h"

#include <tapml/ops.h>

#include <string.h>

struct registry {
    struct inventory inventory;
    struct arena *arena; // Of ops that the host makes.
    struct catalogue *catalogue;
    struct component *chain; // Those that were probed, the last one first.
    tapml_status (*vet)(void *user, struct registry *registry, size_t index);
    tapml_status (*learn)(void *user, struct registry *registry);
    void *user;
};

// -- Life --------------------------------------------------------------------------------------

static tapml_status fill(struct registry *registry, const struct registry_options *options)
{
    const struct search_options where = {
        .program = options->program,
        .installed = TAPML_PLUGIN_DIR,
        .files = options->files,
        .ini = options->ini,
        .ini_path = options->ini_path,
        .safe_only = options->safe_only,
        .is_secure = search_is_secure(),
    };
    registry->vet = options->vet;
    registry->learn = options->learn;
    registry->user = options->user;
    registry->arena = arena_create();
    if (!registry->arena) {
        return status_no_memory();
    }
    TAPML_TRY(catalogue_create(&registry->catalogue));
    for (size_t i = 0; tapml_ops[i]; ++i) {
        TAPML_TRY(catalogue_add(registry->catalogue, tapml_ops[i], "the host", NULL));
    }
    TAPML_TRY(inventory_read(&where, options->pool, &registry->inventory));
    return options->takes_all ? TAPML_OK : inventory_check_options(&registry->inventory);
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
    catalogue_destroy(registry->catalogue);
    arena_destroy(registry->arena);
    inventory_release(&registry->inventory);
    alloc_free(registry);
}

tapml_status registry_check_option(const struct registry *registry, const struct ini_entry *entry)
{
    return inventory_check_option(&registry->inventory, entry);
}

// -- Bringing components up --------------------------------------------------------------------

static size_t index_of(const struct registry *registry, const struct component *component)
{
    size_t index = 0;
    while (registry->inventory.components[index] != component) {
        ++index;
    }
    return index;
}

// Before a stranger's code runs here for the first time.
static void vet(struct registry *registry, struct component *component)
{
    if (!registry->vet || component->is_vetted || component->entry.tier == SEARCH_TIERS ||
        component->entry.state != CANDIDATE_USABLE) {
        return;
    }
    component->is_vetted = 1;
    if (registry->vet(registry->user, registry, index_of(registry, component)) != TAPML_OK &&
        component->entry.state == CANDIDATE_USABLE) {
        component_refuse(component, registry->inventory.arena, CANDIDATE_PROBE_FAILED);
    }
}

static int is_ready(struct registry *registry, struct component *component)
{
    vet(registry, component);
    return component_ready(component, registry->inventory.arena, &registry->chain);
}

static tapml_status
keep_ops(struct registry *registry, struct component *component, const struct backend *backend)
{
    const size_t count = device_op_count(backend);
    const tapml_op **ops = arena_array(registry->inventory.arena, count + 1, sizeof(*ops));
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
        component_refuse(component, registry->inventory.arena, CANDIDATE_REFUSED);
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
    if (component->entry.state == CANDIDATE_USABLE) {
        component_refuse(component, registry->inventory.arena,
                         status == TAPML_UNAVAILABLE ? CANDIDATE_NO_DEVICE
                                                     : CANDIDATE_PROBE_FAILED);
    }
    return 0;
}

void registry_probe(struct registry *registry, size_t index)
{
    struct component *component = registry->inventory.components[index];
    if (is_ready(registry, component) && component_is_backend(component)) {
        (void)has_ops(registry, component); // What is wrong is now its state.
    }
}

tapml_status registry_probe_all(struct registry *registry)
{
    for (size_t i = 0; i < registry->inventory.component_count; ++i) {
        registry_probe(registry, i);
    }
    return TAPML_OK;
}

tapml_status registry_learn(struct registry *registry)
{
    return registry->learn ? registry->learn(registry->user, registry)
                           : registry_probe_all(registry);
}

// -- Questions ---------------------------------------------------------------------------------

// Whether a component is of a kind that this host knows, of the plugin of `entry`.
static int has_known_kind(const struct registry *registry, const struct candidate *entry)
{
    for (size_t i = 0; i < registry->inventory.component_count; ++i) {
        const struct candidate *other = &registry->inventory.components[i]->entry;
        if (strcmp(other->manifest, entry->manifest) == 0 &&
            other->state != CANDIDATE_UNKNOWN_KIND) {
            return 1;
        }
    }
    return 0;
}

// Whether a candidate speaks against its plugin, which was asked for.
static int is_bad(const struct registry *registry, const struct candidate *entry)
{
    const enum candidate_state state = entry->state;
    return state != CANDIDATE_USABLE && state != CANDIDATE_NO_DRIVER &&
           state != CANDIDATE_NO_DEVICE &&
           (state != CANDIDATE_UNKNOWN_KIND || !has_known_kind(registry, entry));
}

tapml_status registry_check_named(const struct registry *registry, size_t index)
{
    const struct candidate *entry = registry_at(registry, index);
    int is_told = entry->tier != SEARCH_TIER_NAMED || !is_bad(registry, entry);
    for (size_t i = 0; i < index && !is_told; ++i) {
        const struct candidate *other = registry_at(registry, i);
        is_told = strcmp(other->manifest, entry->manifest) == 0 && is_bad(registry, other);
    }
    return is_told
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "the plugin '%s', which is named by --plugin or [plugins] load, "
                             "is %s: %s",
                             entry->manifest, candidate_state_name(entry->state), entry->sentence);
}

size_t registry_count(const struct registry *registry)
{
    return registry->inventory.component_count;
}

const struct candidate *registry_at(const struct registry *registry, size_t index)
{
    return index < registry->inventory.component_count
               ? &registry->inventory.components[index]->entry
               : NULL;
}

struct arena *registry_arena(struct registry *registry)
{
    return registry->arena;
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
    const char **ids = alloc_array(registry->inventory.component_count + 1, sizeof(*ids));
    if (!ids) {
        return status_no_memory();
    }
    for (size_t i = 0; i < registry->inventory.component_count; ++i) {
        ids[i] = registry->inventory.components[i]->entry.component;
    }
    const char *nearest = text_nearest(name->component, ids);
    alloc_free(ids);
    return status_fail(TAPML_NOT_FOUND, "no plugin has a component '%s'%s%s%s", name->component,
                       nearest ? ", did you mean '" : "", nearest ? nearest : "",
                       nearest ? "'?" : "");
}

static tapml_status not_usable(const struct component *component)
{
    const struct candidate *entry = &component->entry;
    return status_fail(component->is_refused_for_options ? TAPML_INVALID : TAPML_UNAVAILABLE,
                       "the component '%s' of '%s' is %s: %s", entry->component, entry->plugin,
                       candidate_state_name(entry->state), entry->sentence);
}

static tapml_status wrong_kind(const struct component *component, const char *expected)
{
    return status_fail(TAPML_NOT_FOUND, "the component '%s' is of kind '%s', expected %s",
                       component->entry.component, component->entry.kind,
                       kind_find(expected)->what);
}

// The one component that is meant, usable or not.
static tapml_status
find_named(const struct registry *registry, const struct name *name, struct component **out)
{
    struct component *first = NULL;
    for (size_t i = 0; i < registry->inventory.component_count; ++i) {
        struct component *component = registry->inventory.components[i];
        if (!is_named(component, name)) {
            continue;
        }
        const int is_usable = component->entry.state == CANDIDATE_USABLE;
        if (first && is_usable && first->entry.state == CANDIDATE_USABLE) {
            return status_fail(TAPML_INVALID,
                               "two plugins have a component '%s': say '%s/%s' or '%s/%s'",
                               name->component, first->entry.plugin, name->component,
                               component->entry.plugin, name->component);
        }
        if (!first || (is_usable && first->entry.state != CANDIDATE_USABLE)) {
            first = component;
        }
    }
    if (!first) {
        return no_component(registry, name);
    }
    *out = first;
    return TAPML_OK;
}

static tapml_status get(struct registry *registry,
                        const char *kind,
                        const struct name *name,
                        struct component **out_component)
{
    struct component *component = NULL;
    TAPML_TRY(find_named(registry, name, &component));
    if (!kind_serves(component->entry.kind, kind)) {
        return wrong_kind(component, kind);
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
    TAPML_TRY(get(registry, TAPML_KIND_BACKEND, &parts, &component));
    const tapml_status status = open_device(registry, component, parts.device, out_backend);
    return component->entry.state == CANDIDATE_USABLE ? status : not_usable(component);
}

static struct registry_location location_of(const struct component *component)
{
    return (struct registry_location){
        .plugin = component->entry.plugin,
        .component = component->entry.component,
        .manifest = component->entry.manifest,
        .build_id = component->plugin->manifest.id ? component->plugin->manifest.build_id : "",
        .tier = component->entry.tier,
        .ini = component->services.ini,
        .is_asked_late = component_is_asked_late(component),
    };
}

struct registry_location registry_location_at(const struct registry *registry, size_t index)
{
    return location_of(registry->inventory.components[index]);
}

tapml_status
registry_locate(struct registry *registry, const char *name, struct registry_location *out_location)
{
    struct name parts;
    struct component *component = NULL;
    TAPML_TRY(split_name(name, &parts));
    TAPML_TRY(find_named(registry, &parts, &component));
    if (!component_is_backend(component)) {
        return wrong_kind(component, TAPML_KIND_BACKEND);
    }
    if (component->entry.state != CANDIDATE_USABLE) {
        return not_usable(component);
    }
    component_warn(component);
    component->is_elsewhere = 1;
    *out_location = location_of(component);
    out_location->device =
        parts.device ? arena_text(registry->inventory.arena, parts.device) : NULL;
    return parts.device && !out_location->device ? status_no_memory() : TAPML_OK;
}

tapml_status registry_settle(struct registry *registry,
                             size_t index,
                             enum candidate_state state,
                             const char *sentence)
{
    struct candidate *entry = &registry->inventory.components[index]->entry;
    entry->sentence = arena_text(registry->inventory.arena, sentence);
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
    TAPML_TRY(get(registry, TAPML_KIND_BACKEND, &parts, &found));
    const tapml_backend *table = found->table;
    services_begin(&found->call);
    const tapml_status status = table->devices(found->root, &found->call, &list, &count);
    TAPML_TRY(services_end(&found->call, status, found->entry.component, "devices"));
    TAPML_TRY(device_table_check_list(list, count));
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
    if (component_is_backend(component) && component->entry.state != CANDIDATE_USABLE) {
        return not_usable(component);
    }
    if (component_is_backend(component) && (!parts.device || component_is_asked_late(component))) {
        return TAPML_OK;
    }
    TAPML_TRY(registry_devices(registry, name, &list, &count));
    return device_table_find(component->entry.component, parts.device, list, count, &count);
}

static int is_listed(const struct component *component, const char *key, const char *word)
{
    const char *list = manifest_key(&component->plugin->manifest, component->entry.component, key);
    const size_t length = strlen(word);
    for (const char *at = list; at && *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == length && length > 0 && strncmp(at, word, length) == 0) {
            return 1;
        }
    }
    return !list;
}

struct component *registry_find_listed(
    struct registry *registry, const char *kind, const char *key, const char *word, size_t index)
{
    for (size_t i = 0; i < registry->inventory.component_count; ++i) {
        struct component *component = registry->inventory.components[i];
        if (strcmp(component->entry.kind, kind) == 0 && (!key || is_listed(component, key, word)) &&
            is_ready(registry, component) && index-- == 0) {
            return component;
        }
    }
    return NULL;
}

struct component *registry_find(struct registry *registry, const char *kind, size_t index)
{
    return registry_find_listed(registry, kind, NULL, NULL, index);
}

tapml_status registry_get(struct registry *registry,
                          const char *kind,
                          const char *name,
                          struct component **out_component)
{
    struct name parts;
    TAPML_TRY(split_name(name, &parts));
    if (parts.device) {
        return status_fail(TAPML_INVALID, "'%s' has a device, expected %s", name,
                           kind_find(kind)->what);
    }
    return get(registry, kind, &parts, out_component);
}

const char *registry_component(struct registry *registry, const char *kind, size_t index)
{
    const struct component *component = registry_find(registry, kind, index);
    return component ? component->entry.component : NULL;
}

size_t registry_next_backend(const struct registry *registry, const char *key, size_t from)
{
    const struct inventory *inventory = &registry->inventory;
    size_t i = from;
    for (; i < inventory->component_count; ++i) {
        const struct component *component = inventory->components[i];
        if (component->entry.state == CANDIDATE_USABLE && component_is_backend(component) &&
            (!key || manifest_key(&component->plugin->manifest, component->entry.component, key))) {
            break;
        }
    }
    return i;
}

int registry_is_installed(const struct registry *registry, const char *name)
{
    struct name parts;
    struct component *found = NULL;
    return split_name(name, &parts) != TAPML_OK ||
           find_named(registry, &parts, &found) != TAPML_OK || !found ||
           found->entry.tier == SEARCH_TIERS;
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

// Beside the manifest, or beside the library if the manifest is its note.
static const char *print_beside(struct arena *arena, const char *manifest, const char *name)
{
    const char *slash = strrchr(manifest, '/');
    const int folder = slash ? (int)(slash - manifest) + 1 : 0;
    return arena_format(arena, "%.*s%s", folder, manifest, name);
}

tapml_status registry_component_file(struct registry *registry,
                                     const char *component,
                                     const char *key,
                                     const char **out_path)
{
    struct name parts;
    struct component *found = NULL;
    TAPML_TRY(split_name(component, &parts));
    TAPML_TRY(find_named(registry, &parts, &found));
    const struct manifest *manifest = &found->plugin->manifest;
    const char *name = manifest_key(manifest, found->entry.component, key);
    if (name && (name[0] == '\0' || name[0] == '.' || strchr(name, '/'))) {
        return status_fail(TAPML_INVALID,
                           "%s: [component.%s] %s: expected the plain name of a file in the "
                           "manifest's folder, found '%s'",
                           manifest->ini.name, found->entry.component, key, name);
    }
    *out_path = name ? print_beside(registry->inventory.arena, found->entry.manifest, name) : NULL;
    return name && !*out_path ? status_no_memory() : TAPML_OK;
}

int registry_is_asked_late(const struct registry *registry, const char *component)
{
    struct name parts;
    struct component *found = NULL;
    return split_name(component, &parts) == TAPML_OK &&
           find_named(registry, &parts, &found) == TAPML_OK && component_is_asked_late(found);
}

// Of `user`, a component.
static int has_op(void *user, const tapml_op *op)
{
    const struct component *component = user;

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

// Who may be the oracle, the best first: what came with the host and calibrates, what else does,
// and what has its values in host memory.
enum { ORACLE_INSTALLED, ORACLE_OTHER, ORACLE_HOST_MEMORY, ORACLE_RANKS };

// Whether a component may be it, as far as this shows before it is brought up.
static int is_of_rank(const struct component *component, int rank)
{
    if (component->entry.state != CANDIDATE_USABLE || !component_is_backend(component)) {
        return 0;
    }
    if (rank == ORACLE_HOST_MEMORY) {
        return !component->is_elsewhere;
    }
    return calibrates(component) && (rank == ORACLE_OTHER || component->entry.tier == SEARCH_TIERS);
}

const char *registry_oracle(struct registry *registry, const tapml_op *op)
{
    for (int rank = 0; rank < ORACLE_RANKS; ++rank) {
        for (size_t i = 0; i < registry->inventory.component_count; ++i) {
            struct component *component = registry->inventory.components[i];

            // Nothing is brought up that cannot be the answer.
            if (is_of_rank(component, rank) && has_ops(registry, component) &&
                (rank != ORACLE_HOST_MEMORY || component->is_host_memory) &&
                plain_form_is_there(registry->catalogue, op, has_op, component)) {
                return component->entry.component;
            }
        }
    }
    return NULL;
}
