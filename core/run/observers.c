// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/observers.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/ini.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/component.h"
#include "plugin/process.h"
#include "run/observed.h"

#include <string.h>

struct observer {
    struct component *component; // The registry's.
    const char *who;             // "observer 'org.example.tally/tally'"
};

// What stands for an identity of the device.
struct observed_identity {
    const char *inner;
    char text[HASH_TEXT];
    struct observed_identity *next;
};

struct observers {
    struct backend_wrapper wrapper; // First: a backend is observers.
    struct backend_vt vt;
    struct arena *arena;    // Of what lives as long,
    struct arena *of_call;  // and of what lives as long as a call.
    const char *place;      // Name.
    const char *device;     // "COMPONENT:DEVICE"
    struct fetcher fetcher; // Of the inner backend.
    struct observer items[OBSERVERS_MAX];
    size_t count;
    struct observed_identity *identities; // Of each implementation of the device: a few.
    const char *loss;                     // Why the place is given up; or NULL.
};

// -- Which they are ----------------------------------------------------------------------------

// The observers that a setting names: words with blanks between.
struct observer_list {
    struct component *items[OBSERVERS_MAX];
    size_t count;
};

static tapml_status
find_one(struct registry *registry, const char *name, struct observer_list *list)
{
    struct component *component = NULL;

    TAPML_TRY(registry_get(registry, TAPML_KIND_OBSERVER, name, &component));
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == component) {
            return status_fail(TAPML_INVALID, "the observer '%s' is named twice", name);
        }
    }
    if (list->count == OBSERVERS_MAX) {
        return status_fail(TAPML_INVALID, "more than %d observers", OBSERVERS_MAX);
    }
    list->items[list->count++] = component;
    return TAPML_OK;
}

static tapml_status
find_all(struct registry *registry, const char *names, struct observer_list *out_list)
{
    static const char blanks[] = " \t";
    const char *at = names != NULL ? names : "";

    out_list->count = 0;
    for (at += strspn(at, blanks); *at != '\0'; at += strspn(at, blanks)) {
        const size_t length = strcspn(at, blanks);
        struct text name;

        text_init(&name);
        text_append_bytes(&name, at, length);
        tapml_status status = text_status(&name);

        status = status == TAPML_OK ? find_one(registry, name.data, out_list) : status;
        text_release(&name);
        TAPML_TRY(status);
        at += length;
    }
    return TAPML_OK;
}

static int replaces(const struct component *component)
{
    const tapml_observer *table = component->table;

    return (table->traits & TAPML_OBSERVER_REPLACES) != 0;
}

// -- A call ------------------------------------------------------------------------------------

static tapml_status give_up(struct observers *observers, tapml_status status)
{
    if (status == TAPML_NO_MEMORY || status == TAPML_CANCELLED) {
        return status;
    }
    observers->loss = arena_text(observers->arena, status_message());
    return observers->loss != NULL ? status_fail(TAPML_DEVICE_LOST, "%s", observers->loss)
                                   : status_no_memory();
}

static tapml_status
ask(const struct observer *observer, const struct observed *observed, int32_t *out_is_made)
{
    struct component *component = observer->component;
    const tapml_observer *table = component->table;

    return observed->is_before
               ? table->before(component->root, &component->call, &observed->table, out_is_made)
               : table->after(component->root, &component->call, &observed->table);
}

// Shows a call to one observer, before or after it.
static tapml_status show(struct observers *observers,
                         size_t index,
                         struct observed *observed,
                         int is_before,
                         int32_t *out_is_made)
{
    const struct observer *observer = &observers->items[index];
    const tapml_observer *table = observer->component->table;
    const uint64_t mode = process_float_mode();

    *out_is_made = 0;
    if (is_before ? table->before == NULL : table->after == NULL) {
        return TAPML_OK;
    }
    observed_turn(observed, is_before, replaces(observer->component));
    services_begin(&observer->component->call);
    tapml_status status = ask(observer, observed, out_is_made);

    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        status = status == TAPML_OK
                     ? status_fail(TAPML_INTERNAL, "it left another floating-point mode behind")
                     : status;
    }
    if (observed->failure != TAPML_OK) { // Of the device, which another one may be blamed for.
        return status_fail(observed->failure, "%s",
                           observed->message != NULL ? observed->message : "out of memory");
    }
    if (status == TAPML_OK && is_before) {
        status = observed_check(observed, *out_is_made);
    }
    status = services_end(&observer->component->call, status, observer->who,
                          is_before ? "before" : "after");
    return status == TAPML_OK ? TAPML_OK : give_up(observers, status);
}

static tapml_status observe(struct observers *observers, const struct backend_call *call)
{
    struct observed observed;
    size_t reached = 0;
    int32_t is_made = 0;

    TAPML_TRY(observed_make(call, observers->place, observers->device, &observers->fetcher,
                            observers->of_call, &observed));
    while (reached < observers->count && !is_made) {
        TAPML_TRY(show(observers, reached, &observed, 1, &is_made));
        reached += !is_made;
    }
    if (!is_made) {
        TAPML_TRY(backend_call(observers->wrapper.inner, call));
    }
    while (reached > 0) {
        TAPML_TRY(show(observers, --reached, &observed, 0, &is_made));
    }
    return TAPML_OK;
}

static tapml_status observers_call(struct backend *backend, const struct backend_call *call)
{
    struct observers *observers = (struct observers *)backend;

    if (observers->loss != NULL) {
        return status_fail(TAPML_DEVICE_LOST, "%s", observers->loss);
    }
    const tapml_status status = observe(observers, call);

    arena_reset(observers->of_call);
    return status;
}

// -- What results depend on --------------------------------------------------------------------

static void add_text(struct hash_state *state, const char *text)
{
    hash_add(state, text, strlen(text) + 1);
}

static void add_options(struct hash_state *state, const struct component *component)
{
    const struct ini *ini = component->services.ini;

    for (size_t i = 0; ini != NULL && i < ini->count; i++) {
        if (strcmp(ini->entries[i].section, component->manifest->section) == 0) {
            add_text(state, ini->entries[i].key);
            add_text(state, ini->entries[i].value);
        }
    }
}

static int hash_all(const struct observers *observers, const char *inner, char out_text[HASH_TEXT])
{
    struct hash_state *state = hash_begin();

    if (state == NULL) {
        return 0;
    }
    add_text(state, inner);
    for (size_t i = 0; i < observers->count; i++) {
        const struct component *component = observers->items[i].component;

        if (replaces(component)) {
            add_text(state, observers->items[i].who);
            add_text(state, component->plugin->manifest.build_id);
            add_options(state, component);
        }
    }
    hash_text(hash_end(state), out_text);
    return 1;
}

// For want of memory the place is given up at the next call, and its results are nobody's.
static const char *observers_identity(struct backend *backend, const tapml_op *op)
{
    struct observers *observers = (struct observers *)backend;
    const char *inner = backend_identity(observers->wrapper.inner, op);
    struct observed_identity *known = observers->identities;

    while (known != NULL && strcmp(known->inner, inner) != 0) {
        known = known->next;
    }
    if (known == NULL) {
        known = arena_new(observers->arena, sizeof(*known));
        if (known == NULL || !hash_all(observers, inner, known->text)) {
            observers->loss = "out of memory";
            return "";
        }
        known->inner = inner;
        known->next = observers->identities;
        observers->identities = known;
    }
    return known->text;
}

// -- Life --------------------------------------------------------------------------------------

static void release(struct backend *backend)
{
    struct observers *observers = (struct observers *)backend;

    fetcher_release(&observers->fetcher);
    arena_destroy(observers->of_call);
    arena_destroy(observers->arena);
    alloc_free(observers);
}

static tapml_status add_observer(struct observers *observers, struct component *component)
{
    struct observer *observer = &observers->items[observers->count++];

    observer->component = component;
    observer->who = arena_format(observers->arena, "observer '%s/%s'", component->entry.plugin,
                                 component->entry.component);
    if (observer->who == NULL) {
        return status_no_memory();
    }
    if (replaces(component)) {
        observers->vt.identity = observers_identity;
        log_line(LOG_WARNING, "%s may replace what '%s' computes", observer->who, observers->place);
    }
    return TAPML_OK;
}

static tapml_status fill(struct observers *observers,
                         struct registry *registry,
                         const struct place_settings *settings,
                         struct backend *inner)
{
    const struct backend_info *info = backend_info(inner);
    struct observer_list list;

    observers->vt = backend_forward_vt;
    observers->vt.release = release;
    observers->vt.call = observers_call;
    observers->wrapper =
        (struct backend_wrapper){.backend = {.vt = &observers->vt}, .inner = inner};
    fetcher_init(&observers->fetcher, inner);
    observers->arena = arena_create();
    observers->of_call = arena_create();
    if (observers->arena == NULL || observers->of_call == NULL) {
        return status_no_memory();
    }
    observers->place = arena_text(observers->arena, settings->name);
    observers->device = arena_format(observers->arena, "%s:%s", info->component, info->device);
    if (observers->place == NULL || observers->device == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(find_all(registry, settings->observers, &list));
    for (size_t i = 0; i < list.count; i++) {
        TAPML_TRY(add_observer(observers, list.items[i]));
    }
    return TAPML_OK;
}

static tapml_status make_link(void *user,
                              const struct place_settings *settings,
                              struct backend *inner,
                              struct backend **out_backend)
{
    struct observers *observers = alloc_new(sizeof(*observers));

    if (observers == NULL) {
        return status_no_memory();
    }
    const tapml_status status = fill(observers, user, settings, inner);

    if (status != TAPML_OK) {
        release(&observers->wrapper.backend);
        return status;
    }
    *out_backend = &observers->wrapper.backend;
    return TAPML_OK;
}

struct place_link observers_link(struct registry *registry)
{
    return (struct place_link){.kind = PLACE_OBSERVERS, .create = make_link, .user = registry};
}

tapml_status
observers_print(struct registry *registry, const char *names, int replacing_only, struct text *out)
{
    struct observer_list list;

    TAPML_TRY(find_all(registry, names, &list));
    for (size_t i = 0; i < list.count; i++) {
        const struct candidate *entry = &list.items[i]->entry;

        if (!replacing_only || replaces(list.items[i])) {
            text_format(out, "%s%s/%s %s", out->length > 0 ? ", " : "", entry->plugin,
                        entry->component, entry->version);
        }
    }
    return text_status(out);
}
