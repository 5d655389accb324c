// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/worker.h"

#include "base/alloc.h"
#include "base/ini.h"
#include "base/text.h"
#include "exec/place.h"
#include "link/serve.h"
#include "link/socket.h"
#include "plugin/registry.h"
#include "verify/fault.h"

#include <stdio.h>
#include <string.h>

enum { FAULTS_MAX = 32 };

// -- The messages of the host ------------------------------------------------------------------

struct worker {
    const struct message_setting *settings;
    size_t setting_count;
    struct ini ini; // The options of the component; entries that point into the settings.
    struct pool *pool;
    struct registry *registry;
    struct fault_rule rules[FAULTS_MAX];
    size_t rule_count;
    struct place *place;
};

static const char *find(const struct worker *worker, const char *section, const char *key)
{
    for (size_t i = 0; i < worker->setting_count; i++) {
        if (strcmp(worker->settings[i].section, section) == 0 &&
            strcmp(worker->settings[i].key, key) == 0) {
            return worker->settings[i].value;
        }
    }
    return NULL;
}

static tapml_status
need(const struct worker *worker, const char *section, const char *key, const char **out_value)
{
    *out_value = find(worker, section, key);
    return *out_value != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "a worker has no setting '%s' in [%s]", key, section);
}

// The settings as an INI file, in which no plugin is looked for but the one that is named.
static tapml_status make_ini(struct worker *worker)
{
    struct ini_entry *entries = alloc_array(worker->setting_count + 1, sizeof(*entries));

    if (entries == NULL) {
        return status_no_memory();
    }
    worker->ini = (struct ini){.name = "settings of a worker", .entries = entries};
    entries[worker->ini.count++] =
        (struct ini_entry){.section = "plugins", .key = "tiers", .value = "1"};
    for (size_t i = 0; i < worker->setting_count; i++) {
        const struct message_setting *setting = &worker->settings[i];

        if (strncmp(setting->section, "component.", strlen("component.")) == 0) {
            entries[worker->ini.count++] = (struct ini_entry){
                .section = setting->section, .key = setting->key, .value = setting->value};
        }
    }
    return TAPML_OK;
}

static tapml_status read_rule(const struct worker *worker, size_t index, struct fault_rule *rule)
{
    char section[32];
    const char *from_call = NULL, *probability = NULL, *seed = NULL;
    int64_t number = 0;

    (void)snprintf(section, sizeof(section), "fault.%zu", index);
    rule->name = "fault";
    TAPML_TRY(need(worker, section, "op", &rule->op));
    TAPML_TRY(need(worker, section, "instance", &rule->instance));
    TAPML_TRY(need(worker, section, "kind", &rule->words));
    TAPML_TRY(need(worker, section, "from-call", &from_call));
    TAPML_TRY(need(worker, section, "probability", &probability));
    TAPML_TRY(need(worker, section, "seed", &seed));
    TAPML_TRY(text_parse_i64(from_call, &rule->from_call));
    TAPML_TRY(text_parse_f64(probability, &rule->probability));
    TAPML_TRY(text_parse_i64(seed, &number));
    rule->seed = (uint64_t)number;
    return fault_rule_parse(rule);
}

static tapml_status read_rules(struct worker *worker)
{
    char section[32];

    for (; worker->rule_count < FAULTS_MAX; worker->rule_count++) {
        (void)snprintf(section, sizeof(section), "fault.%zu", worker->rule_count);
        if (find(worker, section, "kind") == NULL) {
            break;
        }
        TAPML_TRY(read_rule(worker, worker->rule_count, &worker->rules[worker->rule_count]));
    }
    return TAPML_OK;
}

// The chain of a place whose messages come from the host: its device, and the faults that are to be
// injected there.
static tapml_status open_place(struct worker *worker, const char *backend)
{
    const struct place_link links[] = {place_device_link(worker->registry), fault_link()};

    TAPML_TRY(place_create(&(struct place_settings){.name = "worker",
                                                    .backend = backend,
                                                    .faults = worker->rules,
                                                    .fault_count = worker->rule_count},
                           &worker->place));
    return place_open(worker->place, NULL, links, worker->rule_count > 0 ? 2 : 1);
}

static tapml_status open_plugin(struct worker *worker)
{
    const char *manifest = NULL, *backend = NULL, *threads = NULL, *build = NULL;
    int64_t width = 0;

    TAPML_TRY(need(worker, "worker", "manifest", &manifest));
    TAPML_TRY(need(worker, "worker", "backend", &backend));
    TAPML_TRY(need(worker, "worker", "build-id", &build));
    TAPML_TRY(need(worker, "worker", "threads", &threads));
    TAPML_TRY(text_parse_i64(threads, &width));
    TAPML_TRY(make_ini(worker));
    TAPML_TRY(pool_create(width > 0 && width <= UINT16_MAX ? (uint32_t)width : 1, &worker->pool));
    const char *const files[] = {manifest, NULL};

    TAPML_TRY(registry_create(
        &(struct registry_options){.files = files, .ini = &worker->ini, .pool = worker->pool},
        &worker->registry));
    TAPML_TRY(read_rules(worker));
    TAPML_TRY(open_place(worker, backend));
    if (strcmp(backend_info(worker->place->backend)->build_id, build) != 0) {
        return status_fail(TAPML_PRECONDITION, "'%s' is of another build than the host has checked",
                           manifest);
    }
    return TAPML_OK;
}

static tapml_status open_worker(void *user,
                                const struct message_setting *settings,
                                size_t count,
                                struct backend **out_backend,
                                const struct catalogue **out_catalogue)
{
    struct worker *worker = user;

    worker->settings = settings;
    worker->setting_count = count;
    TAPML_TRY(open_plugin(worker));
    *out_backend = worker->place->backend;
    *out_catalogue = registry_catalogue(worker->registry);
    return TAPML_OK;
}

static uint64_t count_triggered(void *user, uint32_t index)
{
    const struct worker *worker = user;

    return index < worker->rule_count
               ? fault_triggered(fault_of(worker->place->links[PLACE_FAULTS]), index)
               : 0;
}

static void worker_close(struct worker *worker)
{
    place_destroy(worker->place);
    registry_destroy(worker->registry);
    pool_destroy(worker->pool);
    alloc_free(worker->ini.entries);
}

// -- Serving -----------------------------------------------------------------------------------

// Takes all frames that are there.
static tapml_status
take_frames(struct server *server, struct socket_inbox *inbox, struct wire_writer *replies)
{
    struct wire_frame frame = {0};
    char sentence[128];
    enum wire_result result = WIRE_FRAME;

    while (!serve_is_closed(server) && (result = socket_next(inbox, &frame)) == WIRE_FRAME) {
        const int has_descriptor = message_has_descriptor(frame.verb);

        TAPML_TRY(serve_frame(server, &frame, has_descriptor ? socket_take_descriptor(inbox) : -1,
                              replies));
    }
    if (result == WIRE_FRAME || result == WIRE_MORE) {
        return TAPML_OK;
    }
    wire_explain(result, &frame, sentence, sizeof(sentence));
    return status_fail(TAPML_INVALID, "the host cannot be understood: %s", sentence);
}

static tapml_status serve(struct server *server, int socket)
{
    struct socket_inbox inbox = {0};
    struct wire_writer replies = MESSAGE_WRITER;
    tapml_status status = TAPML_OK;

    while (status == TAPML_OK && !serve_is_closed(server)) {
        if (socket_receive(socket, &inbox) != TAPML_OK) {
            break; // The host has no more to say.
        }
        status = take_frames(server, &inbox, &replies);
        if (status == TAPML_OK && replies.size > 0) {
            status = socket_send(socket, replies.data, replies.size, -1);
            replies.size = 0;
        }
    }
    socket_inbox_release(&inbox);
    wire_writer_release(&replies);
    return status;
}

enum outcome worker_serve(int socket)
{
    struct worker worker = {.settings = NULL};
    struct server *server = NULL;
    tapml_status status = serve_create(
        &(struct serve_options){.open = open_worker, .counter = count_triggered, .user = &worker},
        &server);

    if (status == TAPML_OK) {
        status = serve(server, socket);
    }
    const enum outcome outcome = outcome_report(status);

    serve_destroy(server);
    worker_close(&worker);
    return outcome;
}

// -- Probing -----------------------------------------------------------------------------------

// A field: what would end a line or a field becomes a blank.
static void print_field(const char *text, char end)
{
    for (; *text != '\0'; text++) {
        (void)putchar(*text == '\t' || *text == '\n' ? ' ' : *text);
    }
    (void)putchar(end);
}

static void print_line(const char *what, const char *component, const char *a, const char *b)
{
    print_field(what, '\t');
    print_field(component, '\t');
    print_field(a, '\t');
    print_field(b, '\n');
}

static void print_more(struct registry *registry, const char *component)
{
    const tapml_device_info *const *devices = NULL;
    const struct catalogue *catalogue = registry_catalogue(registry);
    struct backend *backend = NULL;
    uint32_t count = 0;

    if (registry_is_asked_late(registry, component) ||
        registry_devices(registry, component, &devices, &count) != TAPML_OK ||
        registry_open(registry, component, &backend) != TAPML_OK) {
        return; // A model has none.
    }
    for (uint32_t i = 0; i < count; i++) {
        print_line("device", component, devices[i]->id, devices[i]->name);
    }
    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const tapml_op *op = catalogue_at(catalogue, i)->op;
        char version[16];

        (void)snprintf(version, sizeof(version), "%u", op->version);
        if (backend_has_op(backend, op)) {
            print_line("op", component, op->name, version);
        }
    }
    backend_release(backend);
}

static tapml_status probe(struct registry *registry, const char *component)
{
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct candidate *entry = registry_at(registry, i);

        if (component != NULL && strcmp(entry->component, component) != 0) {
            continue;
        }
        registry_probe(registry, i);
        print_line("component", entry->component, candidate_state_name(entry->state),
                   entry->sentence);
        if (entry->state == CANDIDATE_USABLE) {
            print_more(registry, entry->component);
        }
        (void)fflush(stdout);
    }
    return TAPML_OK;
}

enum outcome worker_probe(const char *plugin, const char *component)
{
    struct worker worker = {.settings = NULL};
    const char *const files[] = {plugin, NULL};
    tapml_status status = make_ini(&worker);

    if (status == TAPML_OK) {
        status = registry_create(&(struct registry_options){.files = files, .ini = &worker.ini},
                                 &worker.registry);
    }
    if (status == TAPML_OK) {
        status = probe(worker.registry, component);
    }
    const enum outcome outcome = outcome_report(status);

    worker_close(&worker);
    return outcome;
}
