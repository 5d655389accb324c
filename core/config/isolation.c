// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/isolation.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "config/hangs.h"
#include "link/child.h"
#include "link/client.h"
#include "link/far_side.h"
#include "remote/remote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char worker[] = "tapml-worker";
static const char installed_worker[] = "../" TAPML_PROGRAM_DIR "/tapml-worker";

int isolation_parse(const char *word, enum place_isolation_mode *out_mode)
{
    static const char *const words[] = {"never", "always", "loopback"};

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i], word) == 0) {
            *out_mode = (enum place_isolation_mode)i;
            return 1;
        }
    }
    return 0;
}

// -- The program -------------------------------------------------------------------------------

// `relative` to the folder of `program`, if it is a program that can be run, to be freed; else
// NULL.
static char *find_from(const char *program, const char *relative)
{
    char *whole = realpath(program, NULL);
    char *folder = whole != NULL ? file_folder(whole) : NULL;
    char *path = folder != NULL ? file_join(folder, relative) : NULL;

    free(whole);
    alloc_free(folder);
    if (path != NULL && access(path, X_OK) == 0) {
        return path;
    }
    alloc_free(path);
    return NULL;
}

// Where `program` is in a folder of programs, and where it is in a build tree.
static char *find_worker(const char *program)
{
    char *path = find_from(program, installed_worker);

    return path != NULL ? path : find_from(program, worker);
}

tapml_status isolation_find_worker(const char *program, char **out_path)
{
    char *path = program != NULL ? find_worker(program) : NULL;

    path = path != NULL ? path : find_worker("/proc/self/exe");
    if (path == NULL) {
        return status_fail(TAPML_UNAVAILABLE,
                           "there is no '%s' beside '%s', and no '%s': the worker is not installed",
                           worker, program != NULL ? program : "this program", installed_worker);
    }
    *out_path = path;
    return TAPML_OK;
}

// -- Settings for the worker -------------------------------------------------------------------

struct settings {
    const char *name; // Of the component, for messages.
    struct registry_location location;
    struct message_setting *items;
    size_t count, capacity;
    struct arena *arena;
    int is_failed;
};

static void add(struct settings *settings, const char *section, const char *key, const char *value)
{
    void *items = settings->items;

    if (value == NULL ||
        !alloc_grow(&items, &settings->capacity, settings->count, sizeof(*settings->items))) {
        settings->is_failed = 1;
        return;
    }
    settings->items = items;
    settings->items[settings->count++] = (struct message_setting){section, key, value};
}

static void add_faults(struct settings *settings, const struct isolation_options *options)
{
    for (size_t i = 0; i < options->rule_count; i++) {
        const struct fault_rule *rule = &options->rules[i];
        const char *section = arena_format(settings->arena, "fault.%zu", i);

        add(settings, section, "op", rule->op);
        add(settings, section, "instance", rule->instance);
        add(settings, section, "kind", rule->words);
        add(settings, section, "from-call",
            arena_format(settings->arena, "%" PRId64, rule->from_call));
        add(settings, section, "probability",
            arena_format(settings->arena, "%.17g", rule->probability));
        add(settings, section, "seed", arena_format(settings->arena, "%" PRIu64, rule->seed));
        settings->is_failed = settings->is_failed || section == NULL;
    }
}

// Those for another device are left out there.
static void add_tuned(struct settings *settings, const struct isolation_options *options)
{
    for (size_t i = 0; i < options->tuned.count; i++) {
        const struct tuned_setting *item = &options->tuned.items[i];
        const char *section = arena_format(settings->arena, "tuned.%zu", i);

        settings->is_failed = settings->is_failed || section == NULL;
        if (item->device != NULL) {
            add(settings, section, "device", item->device);
            add(settings, section, "driver", item->driver);
            add(settings, section, "digest", item->digest);
        }
        add(settings, section, "op", item->op);
        add(settings, section, "version", arena_format(settings->arena, "%" PRId64, item->version));
        add(settings, section, "class", item->shape_class);
        add(settings, section, "values", item->values);
    }
}

// The component's id is the first `length` bytes of `component`.
static void add_options(struct settings *settings,
                        const struct isolation_options *options,
                        const char *component,
                        size_t length)
{
    char section[128];

    (void)snprintf(section, sizeof(section), "component.%.*s", (int)(length < 100 ? length : 100),
                   component);
    for (size_t i = 0; options->ini != NULL && i < options->ini->count; i++) {
        const struct ini_entry *entry = &options->ini->entries[i];

        if (strcmp(entry->section, section) == 0) {
            add(settings, entry->section, entry->key, entry->value);
        }
    }
}

// What is known to hang is not opened again.
static tapml_status check_hang(const struct registry_location *location)
{
    char sentence[HANGS_SENTENCE];

    return hangs_recall(location->build_id, location->component, sentence)
               ? status_fail(TAPML_UNAVAILABLE, "the component '%s' of '%s' is %s: %s",
                             location->component, location->plugin,
                             candidate_state_name(CANDIDATE_PROBE_FAILED), sentence)
               : TAPML_OK;
}

// Of a worker of this machine.
static tapml_status make_settings(const struct isolation_options *options,
                                  const char *backend,
                                  struct settings *settings)
{
    struct registry_location *location = &settings->location;

    TAPML_TRY(registry_locate(options->registry, backend, location));
    TAPML_TRY(check_hang(location));
    settings->name = arena_format(settings->arena, "the component '%s' of '%s'",
                                  location->component, location->plugin);
    settings->is_failed = settings->name == NULL;
    add(settings, "worker", "manifest", location->manifest);
    add(settings, "worker", "build-id", location->build_id);
    add(settings, "worker", "backend",
        arena_format(settings->arena, "%s/%s%s%s", location->plugin, location->component,
                     location->device != NULL ? ":" : "",
                     location->device != NULL ? location->device : ""));
    add(settings, "worker", "threads", arena_format(settings->arena, "%u", options->threads));
    add_options(settings, options, location->component, strlen(location->component));
    add_faults(settings, options);
    add_tuned(settings, options);
    return settings->is_failed ? status_no_memory() : TAPML_OK;
}

// Of a worker of another machine, which knows by itself where its plugins are.
static tapml_status make_far_settings(const struct isolation_options *options,
                                      const struct place_isolation *how,
                                      const char *backend,
                                      struct settings *settings)
{
    const char *where = how->url != NULL ? how->url : how->listen;
    const char *slash = strchr(backend, '/');
    const char *component = slash != NULL ? slash + 1 : backend;

    settings->name = arena_format(settings->arena, "the component '%s' of %s%s", backend,
                                  how->url != NULL ? "" : "the worker that dials ", where);
    settings->is_failed = settings->name == NULL;
    add(settings, "worker", "backend", arena_text(settings->arena, backend));
    add_options(settings, options, component, strcspn(component, ":"));
    add_faults(settings, options);
    add_tuned(settings, options);
    return settings->is_failed ? status_no_memory() : TAPML_OK;
}

// The client borrows the settings, to start the worker again.
static tapml_status keep(struct settings *settings)
{
    struct message_setting *kept =
        arena_array(settings->arena, settings->count + 1, sizeof(*settings->items));

    if (kept != NULL) {
        memcpy(kept, settings->items, settings->count * sizeof(*kept));
    }
    alloc_free(settings->items);
    settings->items = kept;
    return kept != NULL ? TAPML_OK : status_no_memory();
}

// A worker that does not answer while it opens the first device hangs in what a probe does, too.
static void note_hang(const struct registry_location *location, const struct place_isolation *how)
{
    if (location->device == NULL && !location->is_asked_late && !how->has_foreign_code &&
        how->deadline_s >= HANGS_LEAST_S) {
        hangs_note(location->build_id, location->component);
    }
}

static uint64_t memory_limit(const struct place_isolation *how)
{
    return how->memory_mib > 0 ? (uint64_t)how->memory_mib << 20 : alloc_memory_bytes() / 4 * 3;
}

static tapml_status make_channel(const struct isolation_options *options,
                                 const struct place_isolation *how,
                                 struct channel **out_channel)
{
    char *path = NULL;

    if (place_isolation_is_far(how)) {
        return remote_create(
            &(struct remote_options){.url = how->url,
                                     .listen = how->listen,
                                     .memory_bytes = (uint64_t)how->memory_mib << 20,
                                     .patience_ns = (uint64_t)how->patience_s * 1000000000u,
                                     .timeline = options->timeline},
            out_channel);
    }
    TAPML_TRY(isolation_find_worker(options->program, &path));
    const tapml_status status = child_create(
        &(struct child_options){
            .program = path, .memory_bytes = memory_limit(how), .limits = how->limits},
        out_channel);

    alloc_free(path);
    return status;
}

tapml_status isolation_open(const struct isolation_options *options,
                            const struct place_isolation *how,
                            const char *backend,
                            struct backend **out_backend)
{
    struct settings settings = {.arena = options->arena};
    struct channel *channel = NULL;
    const int is_far = place_isolation_is_far(how);
    tapml_status status = is_far ? make_far_settings(options, how, backend, &settings)
                                 : make_settings(options, backend, &settings);

    if (status == TAPML_OK) {
        status = keep(&settings);
    } else {
        alloc_free(settings.items);
    }
    TAPML_TRY(status);
    TAPML_TRY(make_channel(options, how, &channel));
    status = client_create(
        &(struct far_side_options){.name = settings.name,
                                   .channel = channel,
                                   .settings = settings.items,
                                   .setting_count = settings.count,
                                   .catalogue = registry_catalogue(options->registry),
                                   .arena = options->arena,
                                   .deadline_ns = (uint64_t)how->deadline_s * 1000000000u,
                                   .counter_count = (uint32_t)options->rule_count},
        out_backend);
    if (status == TAPML_DEADLINE && !is_far) {
        note_hang(&settings.location, how);
    }
    return status;
}
