// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/worker.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/ini.h"
#include "base/text.h"
#include "exec/expanded.h"
#include "exec/place.h"
#include "link/serve.h"
#include "link/socket.h"
#include "plugin/registry.h"
#include "verify/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FAULTS_MAX = 32, TUNED_MAX = 1024 };

// -- The messages of the host ------------------------------------------------------------------

struct worker {
    const struct message_setting *settings;
    size_t setting_count;
    struct ini ini; // The options of the component; entries that point into the settings.
    struct pool *pool;
    struct registry *registry;
    struct fault_rule rules[FAULTS_MAX];
    size_t rule_count;
    struct tuned_setting *tuned; // TUNED_MAX of them, or NULL.
    size_t tuned_count;
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

static tapml_status
read_tuned(const struct worker *worker, const char *section, struct tuned_setting *out)
{
    const char *version = NULL;

    out->device = find(worker, section, "device");
    if (out->device != NULL) {
        TAPML_TRY(need(worker, section, "driver", &out->driver));
        TAPML_TRY(need(worker, section, "digest", &out->digest));
    }
    TAPML_TRY(need(worker, section, "version", &version));
    TAPML_TRY(need(worker, section, "class", &out->shape_class));
    TAPML_TRY(need(worker, section, "values", &out->values));
    return text_parse_i64(version, &out->version);
}

static tapml_status read_all_tuned(struct worker *worker)
{
    char section[32];

    for (; worker->tuned_count < TUNED_MAX; worker->tuned_count++) {
        struct tuned_setting *item = NULL;

        (void)snprintf(section, sizeof(section), "tuned.%zu", worker->tuned_count);
        if (find(worker, section, "op") == NULL) {
            break;
        }
        worker->tuned =
            worker->tuned != NULL ? worker->tuned : alloc_array(TUNED_MAX, sizeof(*worker->tuned));
        if (worker->tuned == NULL) {
            return status_no_memory();
        }
        item = &worker->tuned[worker->tuned_count];
        item->op = find(worker, section, "op");
        TAPML_TRY(read_tuned(worker, section, item));
    }
    return TAPML_OK;
}

// The chain of a place whose messages come from the host: its device, the ops that have a
// plain form there, and the faults that are to be injected.
static tapml_status open_place(struct worker *worker, const char *backend)
{
    const struct place_link links[] = {place_device_link(worker->registry),
                                       expanded_link(registry_catalogue(worker->registry)),
                                       fault_link()};

    TAPML_TRY(place_create(&(struct place_settings){.name = "worker",
                                                    .backend = backend,
                                                    .faults = worker->rules,
                                                    .fault_count = worker->rule_count,
                                                    .tuned = {worker->tuned, worker->tuned_count}},
                           &worker->place));
    return place_open(worker->place, NULL, links, worker->rule_count > 0 ? 3 : 2);
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
    TAPML_TRY(read_all_tuned(worker));
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
                                struct catalogue **out_catalogue)
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
    alloc_free(worker->tuned);
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

struct worker_probing {
    FILE *out; // The standard output as it was: a plugin that prints there writes to the other one.
    struct registry *registry;
    const char *component; // Of the question; NULL: all.
    const char *device;    // To be opened; NULL: the first one.
    int opens_late;        // Also what is expensive to open.
};

// A line of fields: what would end a line or a field becomes a blank. The fields end with NULL.
static void print_line(const struct worker_probing *probing, const char *const *fields)
{
    for (size_t i = 0; fields[i] != NULL; i++) {
        (void)fputs(i > 0 ? "\t" : "", probing->out);
        for (const char *at = fields[i]; *at != '\0'; at++) {
            (void)fputc(*at == '\t' || *at == '\n' ? ' ' : *at, probing->out);
        }
    }
    (void)fputc('\n', probing->out);
    (void)fflush(probing->out); // What follows may end the process.
}

#define PRINT_LINE(probing_, ...) print_line(probing_, (const char *const[]){__VA_ARGS__, NULL})

enum { NUMBER_TEXT = 24 };

// As text; what is larger than any device is 0: without limit.
static const char *show(uint64_t number, char out_text[NUMBER_TEXT])
{
    (void)snprintf(out_text, NUMBER_TEXT, "%" PRIu64, number <= INT64_MAX ? number : 0);
    return out_text;
}

static void print_device(const struct worker_probing *probing,
                         const char *component,
                         const tapml_device_info *info)
{
    char memory[NUMBER_TEXT], buffer[NUMBER_TEXT];

    PRINT_LINE(probing, "device", component, info->id, info->name,
               info->driver != NULL ? info->driver : "", show(info->memory_total, memory),
               show(info->memory_types[0]->max_bytes, buffer));
}

static void print_limits(const struct worker_probing *probing, const struct backend_info *info)
{
    const tapml_limits *limits = info->limits;
    char numbers[6][NUMBER_TEXT];

    if (limits == NULL) {
        return;
    }
    PRINT_LINE(probing, "limits", info->component, info->device, show(limits->bindings, numbers[0]),
               show(limits->align, numbers[1]), show(limits->group_items, numbers[2]),
               show(limits->shared_bytes, numbers[3]), show(limits->grid, numbers[4]),
               show(limits->half, numbers[5]));
}

static void print_ops(const struct worker_probing *probing, struct backend *backend)
{
    const struct catalogue *catalogue = registry_catalogue(probing->registry);
    char version[NUMBER_TEXT];

    for (size_t i = 0; i < catalogue_count(catalogue); i++) {
        const tapml_op *op = catalogue_at(catalogue, i)->op;

        if (backend_has_op(backend, op)) {
            PRINT_LINE(probing, "op", backend_info(backend)->component, op->name,
                       show(op->version, version));
        }
    }
}

static tapml_status open_device(const struct worker_probing *probing,
                                const char *component,
                                struct backend **out_backend)
{
    char name[512];

    (void)snprintf(name, sizeof(name), "%.200s%s%.300s", component,
                   probing->device != NULL ? ":" : "",
                   probing->device != NULL ? probing->device : "");
    return registry_open(probing->registry, name, out_backend);
}

// The devices of a backend, and what one of them has.
static tapml_status print_backend(const struct worker_probing *probing, const char *component)
{
    const tapml_device_info *const *devices = NULL;
    struct backend *backend = NULL;
    uint32_t count = 0;

    if (registry_is_asked_late(probing->registry, component) && !probing->opens_late) {
        return TAPML_OK;
    }
    TAPML_TRY(registry_devices(probing->registry, component, &devices, &count));
    for (uint32_t i = 0; i < count; i++) {
        print_device(probing, component, devices[i]);
    }
    TAPML_TRY(open_device(probing, component, &backend));
    print_limits(probing, backend_info(backend));
    print_ops(probing, backend);
    backend_release(backend);
    return TAPML_OK;
}

static void print_component(const struct worker_probing *probing, size_t index)
{
    const struct candidate *entry = registry_at(probing->registry, index);

    registry_probe(probing->registry, index);
    PRINT_LINE(probing, "component", entry->component, candidate_state_name(entry->state),
               entry->sentence);
    if (entry->remark[0] != '\0') {
        PRINT_LINE(probing, "remark", entry->component, entry->remark);
    }
    if (entry->state == CANDIDATE_USABLE && strcmp(entry->kind, TAPML_KIND_BACKEND) == 0 &&
        print_backend(probing, entry->component) != TAPML_OK) {
        PRINT_LINE(probing, "failed", entry->component, status_message());
    }
    PRINT_LINE(probing, "end", entry->component);
}

static void probe(const struct worker_probing *probing)
{
    for (size_t i = 0; i < registry_count(probing->registry); i++) {
        const char *component = registry_at(probing->registry, i)->component;

        if (probing->component == NULL || strcmp(component, probing->component) == 0) {
            print_component(probing, i);
        }
    }
}

// What a plugin prints goes to the error stream until `give_output_back`.
static tapml_status take_output(FILE **out_output)
{
    (void)fflush(stdout);
    const int descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    FILE *output = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (output == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return status_fail(TAPML_UNAVAILABLE, "the standard output cannot be kept: %s",
                           strerror(errno));
    }
    *out_output = output;
    return TAPML_OK;
}

static void give_output_back(FILE *output)
{
    (void)fflush(stdout);
    (void)dup2(fileno(output), STDOUT_FILENO);
    (void)fclose(output);
}

// Options as KEY=VALUE become settings of the component.
static tapml_status take_options(struct worker *worker,
                                 const char *component,
                                 const char *const *options,
                                 struct arena *arena)
{
    size_t count = 0;

    while (options[count] != NULL) {
        count++;
    }
    struct message_setting *settings = arena_array(arena, count + 1, sizeof(*settings));
    const char *section = arena_format(arena, "component.%s", component);

    for (size_t i = 0; settings != NULL && i < count; i++) {
        const char *equals = strchr(options[i], '=');

        if (equals == NULL) {
            return status_fail(TAPML_INVALID, "'%s' is no option: expected KEY=VALUE", options[i]);
        }
        settings[i] = (struct message_setting){
            section, arena_format(arena, "%.*s", (int)(equals - options[i]), options[i]),
            equals + 1};
        count = settings[i].key != NULL ? count : 0;
    }
    worker->settings = settings;
    worker->setting_count = count;
    return settings != NULL && section != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status
probe_plugin(struct worker *worker, const char *plugin, struct worker_probing *probing)
{
    const char *const files[] = {plugin, NULL};

    TAPML_TRY(make_ini(worker));
    TAPML_TRY(take_output(&probing->out));
    // The host judges the options, and names the line.
    const tapml_status status = registry_create(
        &(struct registry_options){.files = files, .ini = &worker->ini, .takes_all = 1},
        &worker->registry);

    if (status == TAPML_OK) {
        probing->registry = worker->registry;
        probe(probing);
    }
    return status;
}

static tapml_status ask(struct worker *worker,
                        const struct worker_question *question,
                        struct worker_probing *probing,
                        struct arena *arena)
{
    const char *words = question->component;
    const char *device = words != NULL ? strchr(words, ':') : NULL;

    if (words != NULL) {
        probing->component = arena_format(arena, "%.*s", (int)strcspn(words, ":"), words);
        if (probing->component == NULL) {
            return status_no_memory();
        }
        TAPML_TRY(take_options(worker, probing->component, question->options, arena));
    }
    probing->opens_late = device != NULL;
    probing->device = device != NULL && device[1] != '\0' ? device + 1 : NULL;
    return probe_plugin(worker, question->plugin, probing);
}

enum outcome worker_probe(const struct worker_question *question)
{
    struct worker worker = {.settings = NULL};
    struct worker_probing probing = {.out = NULL};
    struct arena *arena = arena_create();
    const enum outcome outcome = outcome_report(
        arena != NULL ? ask(&worker, question, &probing, arena) : status_no_memory());

    worker_close(&worker);
    if (probing.out != NULL) {
        give_output_back(probing.out);
    }
    arena_destroy(arena);
    return outcome;
}
