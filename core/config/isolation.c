// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/isolation.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/text.h"
#include "exec/persist.h"
#include "link/child.h"
#include "link/client.h"
#include "link/far_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char worker[] = "tapml-worker";

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

// tapml-worker in the folder of `program`, to be freed; NULL where there is none.
static char *beside(const char *program)
{
    char *whole = realpath(program, NULL);
    char *folder = whole != NULL ? file_folder(whole) : NULL;
    char *path = folder != NULL ? file_join(folder, worker) : NULL;

    free(whole);
    alloc_free(folder);
    if (path != NULL && access(path, X_OK) == 0) {
        return path;
    }
    alloc_free(path);
    return NULL;
}

static tapml_status find_worker(const char *program, char **out_path)
{
    char *path = program != NULL ? beside(program) : NULL;

    path = path != NULL ? path : beside("/proc/self/exe");
    if (path == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "there is no '%s' beside '%s'", worker,
                           program != NULL ? program : "this program");
    }
    *out_path = path;
    return TAPML_OK;
}

// -- Settings for the worker -------------------------------------------------------------------

struct settings {
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

static void add_options(struct settings *settings,
                        const struct isolation_options *options,
                        const char *component)
{
    char section[128];

    (void)snprintf(section, sizeof(section), "component.%.100s", component);
    for (size_t i = 0; options->ini != NULL && i < options->ini->count; i++) {
        const struct ini_entry *entry = &options->ini->entries[i];

        if (strcmp(entry->section, section) == 0) {
            add(settings, entry->section, entry->key, entry->value);
        }
    }
}

static tapml_status make_settings(const struct isolation_options *options,
                                  const char *backend,
                                  struct settings *settings)
{
    struct registry_location location;

    TAPML_TRY(registry_locate(options->registry, backend, &location));
    add(settings, "worker", "manifest", location.manifest);
    add(settings, "worker", "build-id", location.build_id);
    add(settings, "worker", "backend",
        arena_format(settings->arena, "%s/%s%s%s", location.plugin, location.component,
                     location.device != NULL ? ":" : "",
                     location.device != NULL ? location.device : ""));
    add(settings, "worker", "threads", arena_format(settings->arena, "%u", options->threads));
    add_options(settings, options, location.component);
    add_faults(settings, options);
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

static uint64_t memory_limit(const struct place_isolation *how)
{
    return how->memory_mib > 0 ? (uint64_t)how->memory_mib << 20 : alloc_memory_bytes() / 4 * 3;
}

tapml_status isolation_open(const struct isolation_options *options,
                            const struct place_isolation *how,
                            const char *backend,
                            struct backend **out_backend)
{
    struct settings settings = {.arena = options->arena};
    struct channel *channel = NULL;
    char *path = NULL;
    tapml_status status = make_settings(options, backend, &settings);

    if (status == TAPML_OK) {
        status = keep(&settings);
    } else {
        alloc_free(settings.items);
    }
    TAPML_TRY(status);
    TAPML_TRY(find_worker(options->program, &path));
    status = child_create(
        &(struct child_options){.program = path, .memory_bytes = memory_limit(how)}, &channel);
    alloc_free(path);
    TAPML_TRY(status);
    return client_create(
        &(struct far_side_options){.channel = channel,
                                   .settings = settings.items,
                                   .setting_count = settings.count,
                                   .catalogue = registry_catalogue(options->registry),
                                   .arena = options->arena,
                                   .deadline_ns = (uint64_t)how->deadline_s * 1000000000u,
                                   .counter_count = (uint32_t)options->rule_count},
        out_backend);
}

// -- Probing -----------------------------------------------------------------------------------

// Who was killed by something else (want of memory, a hand) is asked again.
static tapml_status run_probe(const char *path,
                              const char *plugin,
                              const char *component,
                              struct child_output *out_output)
{
    char host[32];

    (void)snprintf(host, sizeof(host), "%ld", (long)getpid());
    const char *const arguments[] = {path,   "--under", host,      "--probe",
                                     plugin, "--",      component, NULL};

    for (int tried = 1;; tried++) {
        TAPML_TRY(child_run(arguments, (uint64_t)ISOLATION_PROBE_S * 1000000000u, out_output));
        if (!out_output->was_killed || tried == PERSIST_TRIES) {
            return TAPML_OK;
        }
        alloc_free(out_output->text);
    }
}

// "component<TAB>ID<TAB>STATE<TAB>SENTENCE": 0 where `line` is none of `component`.
static int
read_line(char *line, const char *component, enum candidate_state *out_state, char **out_sentence)
{
    char *fields[4];
    size_t count = 0;

    for (char *at = line; at != NULL && count < 4; count++) {
        fields[count] = at;
        at = count < 3 ? strchr(at, '\t') : NULL;
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    if (count < 4 || strcmp(fields[0], "component") != 0 || strcmp(fields[1], component) != 0) {
        return 0;
    }
    *out_state = candidate_state_from(fields[2]);
    *out_sentence = fields[3];
    return 1;
}

// What the probe says of an entry; a probe that ended badly has said what it knew.
static tapml_status
settle(struct registry *registry, size_t index, const struct child_output *output)
{
    const char *component = registry_at(registry, index)->component;
    char *text = alloc_text(output->text);
    char sentence[2048];
    int is_known = 0;
    enum candidate_state state = CANDIDATE_PROBE_FAILED;

    if (text == NULL) {
        return status_no_memory();
    }
    (void)snprintf(sentence, sizeof(sentence), "its probe %s%s%s",
                   output->ending[0] != '\0' ? output->ending : "printed no line for it",
                   output->last_words[0] != '\0' ? "; it wrote: " : "", output->last_words);
    char *rest = NULL;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL && !is_known;
         line = strtok_r(NULL, "\n", &rest)) {
        char *said = NULL;

        is_known = read_line(line, component, &state, &said);
        if (is_known) {
            (void)snprintf(sentence, sizeof(sentence), "%s", said);
        }
    }
    alloc_free(text);
    return registry_settle(registry, index, state, sentence);
}

// Looks for a device among the lines of a probe.
static tapml_status find_device(const struct registry_location *location, const char *probed)
{
    char wanted[256];
    struct text known;
    const char *line = probed;
    const size_t prefix = strlen("device\t") + strlen(location->component) + 1;

    (void)snprintf(wanted, sizeof(wanted), "device\t%.80s\t%.120s\t", location->component,
                   location->device);
    text_init(&known);
    while (line != NULL && strncmp(line, wanted, strlen(wanted)) != 0) {
        if (strncmp(line, wanted, prefix) == 0) {
            text_format(&known, "%s'%.*s'", known.length > 0 ? ", " : "",
                        (int)strcspn(line + prefix, "\t\n"), line + prefix);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    tapml_status status = text_status(&known);

    if (status == TAPML_OK && line == NULL) {
        status =
            status_fail(TAPML_NOT_FOUND, "%s: no device '%s', there are: %s", location->component,
                        location->device, known.length > 0 ? known.data : "none");
    }
    text_release(&known);
    return status;
}

// Why a probed component cannot be used, from the line that is its own; TAPML_OK where it can.
static tapml_status judge_probe(const struct registry_location *location,
                                const struct child_output *output)
{
    char usable[256];

    (void)snprintf(usable, sizeof(usable), "component\t%.100s\tusable\t", location->component);
    if (strstr(output->text, usable) != NULL) {
        return find_device(location, output->text);
    }
    return status_fail(TAPML_UNAVAILABLE, "the component '%s' of '%s' cannot be used: %s%s%s",
                       location->component, location->plugin, output->ending,
                       output->ending[0] != '\0' ? "; it wrote: " : "",
                       output->ending[0] != '\0' ? output->last_words : output->text);
}

tapml_status isolation_check(const char *program,
                             struct registry *registry,
                             const struct place_isolation *how,
                             const char *backend)
{
    struct registry_location location;
    struct child_output output;
    char *path = NULL;

    if (how->mode != PLACE_ISOLATION_ALWAYS) {
        return registry_check(registry, backend);
    }
    TAPML_TRY(registry_locate(registry, backend, &location));
    if (location.device == NULL || registry_is_asked_late(registry, backend)) {
        return TAPML_OK;
    }
    TAPML_TRY(find_worker(program, &path));
    tapml_status status = run_probe(path, location.manifest, location.component, &output);

    alloc_free(path);
    if (status == TAPML_OK) {
        status = judge_probe(&location, &output);
        alloc_free(output.text);
    }
    return status;
}

static int is_to_be_probed(const struct candidate *entry)
{
    return entry->state == CANDIDATE_USABLE && entry->library[0] != '\0' &&
           entry->component[0] != '\0';
}

tapml_status isolation_probe_all(const char *program, struct registry *registry)
{
    char *path = NULL;
    const size_t count = registry_count(registry);

    TAPML_TRY(find_worker(program, &path));
    tapml_status status = TAPML_OK;

    for (size_t i = 0; i < count && status == TAPML_OK; i++) {
        const struct candidate *entry = registry_at(registry, i);
        struct child_output output;

        if (!is_to_be_probed(entry)) {
            continue;
        }
        // The manifest, not the library: the worker judges whether the two belong together.
        status = run_probe(path, entry->manifest, entry->component, &output);
        if (status == TAPML_OK) {
            status = settle(registry, i, &output);
            alloc_free(output.text);
        }
    }
    alloc_free(path);
    return status;
}
