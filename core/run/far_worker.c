// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/far_worker.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/user_folder.h"
#include "config/isolation.h"
#include "plugin/registry.h"
#include "remote/far_session.h"
#include "remote/gateway.h"
#include "run/installed_devices.h"
#include "run/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)FAR_WORKER_DIALS_MAX == (int)GATEWAY_DIALS_MAX, "hosts that are dialled");

// -- What a host may ask for -------------------------------------------------------------------

struct settling {
    const struct far_worker_options *options;
    const char *worker; // The program.
    struct registry *registry;
    char threads[16];      // Of this machine.
    pthread_mutex_t mutex; // Around `settle` and `list`.
};

static int begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static tapml_status check_asked(const struct message_setting *asked)
{
    if ((strcmp(asked->section, "worker") == 0 && strcmp(asked->key, "backend") == 0) ||
        begins_with(asked->section, "component.") || begins_with(asked->section, "fault.") ||
        begins_with(asked->section, "tuned.")) {
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "a host must not ask for '%.60s' in [%.60s]", asked->key,
                       asked->section);
}

// The library and its build are those of this machine.
static tapml_status add_location(const struct settling *settling,
                                 const struct registry_location *location,
                                 struct arena *arena,
                                 struct message_setting *settings)
{
    const char *backend =
        arena_format(arena, "%s/%s%s%s", location->plugin, location->component,
                     location->device != NULL ? ":" : "",
                     location->device != NULL ? arena_text(arena, location->device) : "");

    settings[0] = (struct message_setting){"worker", "manifest", location->manifest};
    settings[1] = (struct message_setting){"worker", "build-id", location->build_id};
    settings[2] = (struct message_setting){"worker", "threads", settling->threads};
    settings[3] = (struct message_setting){"worker", "backend", backend};
    return backend != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status settle(void *user,
                           const struct message_setting *asked,
                           size_t asked_count,
                           struct arena *arena,
                           struct message_setting **out_settings,
                           size_t *out_count)
{
    enum { OWN = 4 };
    const struct settling *settling = user;
    struct registry_location location;
    const char *backend = NULL;
    struct message_setting *settings = arena_array(arena, asked_count + OWN, sizeof(*settings));
    size_t count = OWN;

    if (settings == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < asked_count; i++) {
        TAPML_TRY(check_asked(&asked[i]));
        if (strcmp(asked[i].section, "worker") == 0) {
            backend = asked[i].value;
        } else {
            settings[count++] = asked[i];
        }
    }
    if (backend == NULL) {
        return status_fail(TAPML_INVALID, "a host asks for a worker without a backend");
    }
    TAPML_TRY(registry_locate(settling->registry, backend, &location));
    TAPML_TRY(add_location(settling, &location, arena, settings));
    *out_settings = settings;
    *out_count = count;
    return TAPML_OK;
}

// Looks anew, at plugins too: what was found an hour ago may have been plugged in or out since.
static tapml_status list(void *user, struct text *out_lines)
{
    const struct settling *settling = user;
    const char *program = settling->options->program;
    struct arena *arena = arena_create();
    struct registry *registry = NULL;
    struct installed_device *items = NULL;
    size_t count = 0;
    tapml_status status =
        arena != NULL ? registry_create(&(struct registry_options){.program = program}, &registry)
                      : status_no_memory();

    if (status == TAPML_OK) {
        status = installed_devices_list(program, registry, arena, &items, &count);
    }
    if (status == TAPML_OK) {
        installed_devices_print(items, count, out_lines);
    }
    registry_destroy(registry);
    arena_destroy(arena);
    return status;
}

// -- Serving -----------------------------------------------------------------------------------

static tapml_status create_session(void *user,
                                   const char *name,
                                   const char *cache_folder,
                                   struct host_session **out_session)
{
    struct settling *settling = user;

    (void)name;
    return far_session_create(
        &(struct far_session_options){.program = settling->worker,
                                      .cache_folder = cache_folder,
                                      .cache_bytes = (uint64_t)settling->options->cache_mib << 20,
                                      .memory_bytes = alloc_memory_bytes() / 4 * 3,
                                      .settle = settle,
                                      .list = list,
                                      .user = settling,
                                      .settling = &settling->mutex},
        out_session);
}

static void tell(void *user, unsigned port)
{
    const struct settling *settling = user;
    const struct far_worker_options *options = settling->options;

    if (options->address != NULL) {
        (void)printf("tapml-worker: listening on port %u\n", port);
    }
    for (size_t i = 0; i < options->dial_count; i++) {
        (void)printf("tapml-worker: dialling %s\n", options->dials[i]);
    }
    (void)fflush(stdout);
}

static tapml_status find_caches(const char *given, char **out_folder)
{
    if (given == NULL) {
        const tapml_status status = user_folder_find(USER_FOLDER_CACHE, "tapml/far", out_folder);

        return status == TAPML_OK
                   ? status
                   : status_explain(status, "there is no folder for caches, and no --cache");
    }
    *out_folder = alloc_text(given);
    return *out_folder != NULL ? TAPML_OK : status_no_memory();
}

struct paths {
    char *worker, *folder, *caches;
};

static tapml_status find_paths(const struct far_worker_options *options, struct paths *paths)
{
    TAPML_TRY(isolation_find_worker(options->program, &paths->worker));
    TAPML_TRY(identity_folder(&paths->folder));
    return find_caches(options->cache, &paths->caches);
}

static tapml_status serve(const struct far_worker_options *options,
                          const struct paths *paths,
                          struct registry *registry,
                          int stop)
{
    struct settling settling = {.options = options, .worker = paths->worker, .registry = registry};

    (void)pthread_mutex_init(&settling.mutex, NULL);
    (void)snprintf(settling.threads, sizeof(settling.threads), "%ld",
                   sysconf(_SC_NPROCESSORS_ONLN));
    const tapml_status status =
        gateway_run(&(struct gateway_options){.address = options->address,
                                              .dials = options->dials,
                                              .dial_count = options->dial_count,
                                              .folder = paths->folder,
                                              .caches = paths->caches,
                                              .create = create_session,
                                              .ready = tell,
                                              .user = &settling},
                    stop);

    (void)pthread_mutex_destroy(&settling.mutex);
    return status;
}

enum outcome far_worker_serve(const struct far_worker_options *options)
{
    struct paths paths = {.worker = NULL};
    struct registry *registry = NULL;
    int stop = -1;
    tapml_status status = interrupt_open(&stop);

    status = status == TAPML_OK ? find_paths(options, &paths) : status;
    if (status == TAPML_OK) {
        status =
            registry_create(&(struct registry_options){.program = options->program}, &registry);
    }
    if (status == TAPML_OK) {
        status = serve(options, &paths, registry, stop);
    }
    const enum outcome outcome = outcome_report(status);

    registry_destroy(registry);
    alloc_free(paths.worker);
    alloc_free(paths.folder);
    alloc_free(paths.caches);
    if (stop >= 0) {
        close(stop);
    }
    return outcome;
}
