// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/survey.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/ini.h"
#include "base/text.h"
#include "base/utf8.h"
#include "config/hangs.h"
#include "config/isolation.h"
#include "exec/persist.h"
#include "link/child.h"
#include "plugin/device_table.h"
#include "schema/plain_form.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS_MAX = 9, SENTENCE_BYTES = 2048 };

// -- Reading what a worker has printed ---------------------------------------------------------

struct survey_reading {
    struct arena *arena;
    struct survey *survey;
    const char *component;
    size_t device_capacity, op_capacity;
    int is_answered; // The component's state was printed,
    int is_done;     // and all of the rest.
};

// Cuts a line at its tabs. Fields that are missing are "".
static void split(char *line, const char *fields[FIELDS_MAX])
{
    char *rest = line;

    utf8_make_plain(line);
    for (size_t i = 0; i < FIELDS_MAX; i++) {
        fields[i] = rest != NULL ? strsep(&rest, "\t") : "";
    }
}

static int64_t number(const char *field)
{
    int64_t value = 0;

    return text_parse_i64(field, &value) == TAPML_OK && value > 0 ? value : 0;
}

static uint32_t small_number(const char *field)
{
    const int64_t value = number(field);

    return value <= UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

// An array in the arena that grows by half; the old one stays there.
static void *
grow(struct arena *arena, void *items, size_t count, size_t *capacity, size_t item_size)
{
    if (count < *capacity) {
        return items;
    }
    const size_t wanted = *capacity + *capacity / 2 + 16;
    void *grown = arena_array(arena, wanted, item_size);

    if (grown != NULL && count > 0) {
        memcpy(grown, items, count * item_size);
    }
    *capacity = grown != NULL ? wanted : *capacity;
    return grown;
}

static tapml_status take_device(struct survey_reading *reading, const char *const *fields)
{
    struct survey *survey = reading->survey;
    const struct survey_device device = {
        .id = arena_text(reading->arena, fields[2]),
        .name = arena_text(reading->arena, fields[3]),
        .driver = arena_text(reading->arena, fields[4]),
        .memory_bytes = number(fields[5]),
        .buffer_bytes = number(fields[6]),
    };
    void *items = grow(reading->arena, survey->devices, survey->device_count,
                       &reading->device_capacity, sizeof(device));

    if (items == NULL || device.id == NULL || device.name == NULL || device.driver == NULL) {
        return status_no_memory();
    }
    survey->devices = items;
    survey->devices[survey->device_count++] = device;
    return TAPML_OK;
}

static tapml_status take_op(struct survey_reading *reading, const char *const *fields)
{
    struct survey *survey = reading->survey;
    const struct survey_op op = {arena_text(reading->arena, fields[2]), small_number(fields[3])};
    void *items =
        grow(reading->arena, survey->ops, survey->op_count, &reading->op_capacity, sizeof(op));

    if (items == NULL || op.name == NULL) {
        return status_no_memory();
    }
    survey->ops = items;
    survey->ops[survey->op_count++] = op;
    return TAPML_OK;
}

static tapml_status take_limits(struct survey_reading *reading, const char *const *fields)
{
    tapml_limits *limits = arena_new(reading->arena, sizeof(*limits));

    if (limits == NULL) {
        return status_no_memory();
    }
    *limits = (tapml_limits){.hdr = TAPML_HDR(tapml_limits),
                             .bindings = small_number(fields[3]),
                             .align = small_number(fields[4]),
                             .group_items = small_number(fields[5]),
                             .shared_bytes = small_number(fields[6]),
                             .grid = small_number(fields[7]),
                             .half = small_number(fields[8])};
    for (size_t i = 0; i < reading->survey->device_count; i++) {
        struct survey_device *device = &reading->survey->devices[i];

        device->limits = strcmp(device->id, fields[2]) == 0 ? limits : device->limits;
    }
    return TAPML_OK;
}

static tapml_status take_state(struct survey_reading *reading, const char *const *fields)
{
    reading->is_answered = 1;
    reading->survey->state = candidate_state_from(fields[2]);
    reading->survey->sentence = arena_text(reading->arena, fields[3]);
    return reading->survey->sentence != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status take_failure(struct survey_reading *reading, const char *const *fields)
{
    reading->survey->failure = arena_text(reading->arena, fields[2]);
    return reading->survey->failure != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status take_remark(struct survey_reading *reading, const char *const *fields)
{
    reading->survey->remark = arena_text(reading->arena, fields[2]);
    return reading->survey->remark != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status take_end(struct survey_reading *reading, const char *const *fields)
{
    (void)fields;
    reading->is_done = 1;
    return TAPML_OK;
}

static tapml_status take_line(struct survey_reading *reading, char *line)
{
    static const struct {
        const char *name;
        tapml_status (*take)(struct survey_reading *reading, const char *const *fields);
    } kinds[] = {
        {"component", take_state}, {"device", take_device},  {"op", take_op},
        {"limits", take_limits},   {"failed", take_failure}, {"remark", take_remark},
        {"end", take_end},
    };
    const char *fields[FIELDS_MAX];

    split(line, fields);
    if (strcmp(fields[1], reading->component) != 0) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        if (strcmp(fields[0], kinds[i].name) == 0) {
            return kinds[i].take(reading, fields);
        }
    }
    return TAPML_OK;
}

// A probe that ended before it had printed all is one that failed, whatever it said before.
static tapml_status judge_end(struct survey_reading *reading, const char *ending)
{
    struct survey *survey = reading->survey;

    if (reading->is_done || (reading->is_answered && survey->state != CANDIDATE_USABLE)) {
        return TAPML_OK;
    }
    survey->has_broken_off = 1;
    survey->state = CANDIDATE_PROBE_FAILED;
    survey->sentence =
        arena_format(reading->arena, "its probe %s%s",
                     ending[0] != '\0' ? ending : "ended its process with exit status 0",
                     reading->is_answered ? ", after it had answered" : "");
    return survey->sentence != NULL ? TAPML_OK : status_no_memory();
}

tapml_status survey_read(const char *text,
                         const char *component,
                         const char *ending,
                         struct arena *arena,
                         struct survey *out_survey)
{
    struct survey survey = {.sentence = "", .remark = ""};
    struct survey_reading reading = {.arena = arena, .survey = &survey, .component = component};
    char *copy = alloc_text(text), *rest = copy;
    tapml_status status = copy != NULL ? TAPML_OK : status_no_memory();

    for (char *line = strsep(&rest, "\n"); status == TAPML_OK && line != NULL;
         line = strsep(&rest, "\n")) {
        status = take_line(&reading, line);
    }
    alloc_free(copy);
    TAPML_TRY(status);
    TAPML_TRY(judge_end(&reading, ending));
    *out_survey = survey;
    return TAPML_OK;
}

// -- Asking a worker ---------------------------------------------------------------------------

static tapml_status read_output(const struct child_output *output,
                                const char *component,
                                struct arena *arena,
                                struct survey *out_survey)
{
    char ending[SENTENCE_BYTES] = "";

    if (output->ending[0] != '\0') {
        (void)snprintf(ending, sizeof(ending), "%s%s%s", output->ending,
                       output->last_words[0] != '\0' ? "; it wrote: " : "", output->last_words);
    }
    return survey_read(output->text, component, ending, arena, out_survey);
}

// The command that asks a worker: its path and ours, the question, and the options of the component
// as KEY=VALUE.
static tapml_status make_arguments(const char *worker,
                                   const struct registry_location *location,
                                   const struct survey_question *question,
                                   struct arena *arena,
                                   const char ***out_arguments)
{
    const struct ini *ini = location->ini;
    const int opens = question->opens_late || question->device != NULL;
    const char *section = arena_format(arena, "component.%s", location->component);
    const char **arguments = arena_array(arena, 8 + (ini != NULL ? ini->count : 0), sizeof(char *));
    size_t count = 0;

    if (section == NULL || arguments == NULL) {
        return status_no_memory();
    }
    arguments[count++] = worker;
    arguments[count++] = "--under";
    arguments[count++] = arena_format(arena, "%ld", (long)getpid());
    arguments[count++] = "--probe";
    // The manifest, not the library: the worker judges whether the two belong together.
    arguments[count++] = location->manifest;
    arguments[count++] = "--"; // What follows is no option of the worker.
    arguments[count++] = arena_format(arena, "%s%s%s", location->component, opens ? ":" : "",
                                      question->device != NULL ? question->device : "");
    for (size_t i = 0; ini != NULL && i < ini->count; i++) {
        const struct ini_entry *entry = &ini->entries[i];

        if (strcmp(entry->section, section) == 0) {
            arguments[count++] = arena_format(arena, "%s=%s", entry->key, entry->value);
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (arguments[i] == NULL) {
            return status_no_memory();
        }
    }
    *out_arguments = arguments;
    return TAPML_OK;
}

static int64_t limit_of(const struct registry_location *location,
                        const struct survey_question *question)
{
    return question->limit_s > 0                             ? question->limit_s
           : question->opens_late && location->is_asked_late ? SURVEY_LATE_S
                                                             : SURVEY_PROBE_S;
}

// What hangs because a person or a browser keeps it waiting may be faster the next time.
static int is_to_be_remembered(const struct registry_location *location,
                               const struct child_output *output)
{
    return output->was_late && !location->is_asked_late;
}

static tapml_status ask(const char *worker,
                        const struct registry_location *location,
                        const struct survey_question *question,
                        struct arena *arena,
                        struct survey *out_survey)
{
    const char **arguments = NULL;
    struct child_output output;

    TAPML_TRY(make_arguments(worker, location, question, arena, &arguments));
    TAPML_TRY(
        persist_run(arguments, (uint64_t)limit_of(location, question) * 1000000000u, &output));
    const tapml_status status = read_output(&output, location->component, arena, out_survey);

    if (is_to_be_remembered(location, &output)) {
        hangs_note(location->build_id, location->component);
    }
    alloc_free(output.text);
    return status;
}

// What is known of a component whose probe hung.
static tapml_status recall(const char *sentence, struct arena *arena, struct survey *out_survey)
{
    *out_survey = (struct survey){.state = CANDIDATE_PROBE_FAILED,
                                  .sentence = arena_text(arena, sentence),
                                  .remark = "",
                                  .has_broken_off = 1};
    return out_survey->sentence != NULL ? TAPML_OK : status_no_memory();
}

tapml_status survey_component(const char *program,
                              const struct registry_location *location,
                              const struct survey_question *question,
                              struct arena *arena,
                              struct survey *out_survey)
{
    char sentence[HANGS_SENTENCE];
    char *worker = NULL;

    if (hangs_recall(location->build_id, location->component, sentence)) {
        return recall(sentence, arena, out_survey);
    }
    TAPML_TRY(isolation_find_worker(program, &worker));
    const tapml_status status = ask(worker, location, question, arena, out_survey);

    alloc_free(worker);
    return status;
}

tapml_status survey_status(const struct survey *survey, const struct registry_location *location)
{
    if (survey->state != CANDIDATE_USABLE) {
        return status_fail(TAPML_UNAVAILABLE, "the component '%s' of '%s' is %s: %s",
                           location->component, location->plugin,
                           candidate_state_name(survey->state), survey->sentence);
    }
    return survey->failure == NULL
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "the component '%s' of '%s': %s",
                             location->component, location->plugin, survey->failure);
}

tapml_status survey_entry(const char *program,
                          struct registry *registry,
                          size_t index,
                          const struct survey_question *question,
                          struct arena *arena,
                          struct survey *out_survey)
{
    const struct candidate *entry = registry_at(registry, index);
    const struct registry_location location = registry_location_at(registry, index);

    *out_survey = (struct survey){.state = entry->state, .sentence = entry->sentence, .remark = ""};
    if (entry->state == CANDIDATE_USABLE) {
        TAPML_TRY(survey_component(program, &location, question, arena, out_survey));
        TAPML_TRY(registry_settle(registry, index, out_survey->state, out_survey->sentence));
    }
    return entry->state == CANDIDATE_USABLE ? TAPML_OK : survey_status(out_survey, &location);
}

// Entries that could be asked stay usable, as far as files say, and say why they were not.
static tapml_status
leave_untried(struct registry *registry, const char *reason, struct survey *surveys)
{
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct candidate *entry = registry_at(registry, i);

        if (entry->state == CANDIDATE_USABLE) {
            TAPML_TRY(registry_settle(registry, i, CANDIDATE_USABLE, reason));
        }
        surveys[i] =
            (struct survey){.state = entry->state, .sentence = entry->sentence, .remark = ""};
    }
    return TAPML_OK;
}

// Whether there is a worker program; if not, why nothing was tried.
static tapml_status
check_worker(const char *program, struct arena *arena, int *out_is_there, const char **out_reason)
{
    char *worker = NULL;
    const tapml_status status = isolation_find_worker(program, &worker);

    alloc_free(worker);
    *out_is_there = status == TAPML_OK;
    *out_reason = arena_format(arena, "not tried: %s", status == TAPML_OK ? "" : status_message());
    return status != TAPML_OK && status != TAPML_UNAVAILABLE ? status
           : *out_reason == NULL                             ? status_no_memory()
                                                             : TAPML_OK;
}

tapml_status survey_all(const char *program,
                        struct registry *registry,
                        const char *id,
                        struct arena *arena,
                        struct survey **out_surveys)
{
    const char *reason = NULL;
    int is_there = 0;
    const size_t count = registry_count(registry);
    struct survey *surveys = arena_array(arena, count + 1, sizeof(*surveys));

    if (surveys == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(check_worker(program, arena, &is_there, &reason));
    if (!is_there) {
        TAPML_TRY(leave_untried(registry, reason, surveys));
        *out_surveys = surveys;
        return TAPML_OK;
    }
    for (size_t i = 0; i < count; i++) {
        if (!candidate_is_named(registry_at(registry, i), id)) {
            continue;
        }
        const tapml_status status =
            survey_entry(program, registry, i, &(struct survey_question){0}, arena, &surveys[i]);

        // What cannot be used is an answer; that nothing can be asked is none.
        if (status != TAPML_OK &&
            (status != TAPML_UNAVAILABLE || registry_at(registry, i)->state == CANDIDATE_USABLE)) {
            return status;
        }
    }
    *out_surveys = surveys;
    return TAPML_OK;
}

static tapml_status
vet(const char *program, struct registry *registry, size_t index, struct arena *arena)
{
    const struct registry_location location = registry_location_at(registry, index);
    struct survey survey;

    TAPML_TRY(survey_component(program, &location, &(struct survey_question){0}, arena, &survey));
    return survey.has_broken_off ? registry_settle(registry, index, survey.state, survey.sentence)
                                 : TAPML_OK;
}

tapml_status survey_vet(const char *program, struct registry *registry, size_t index)
{
    struct arena *arena = arena_create();
    const tapml_status status =
        arena != NULL ? vet(program, registry, index, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}

// -- Questions ---------------------------------------------------------------------------------

int survey_has_op(const struct survey *survey, const char *name, uint32_t version)
{
    for (size_t i = 0; i < survey->op_count; i++) {
        if (survey->ops[i].version == version && strcmp(survey->ops[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static int has_op(void *user, const tapml_op *op)
{
    return survey_has_op(user, op->name, op->version);
}

int survey_computes_op(const struct survey *survey,
                       const struct catalogue *catalogue,
                       const tapml_op *op)
{
    struct survey own = *survey;

    return plain_form_is_there(catalogue, op, has_op, &own);
}

tapml_status survey_find_device(const struct survey *survey,
                                const char *component,
                                const char *id,
                                const struct survey_device **out_device)
{
    const char **ids = alloc_array(survey->device_count + 1, sizeof(*ids));

    if (ids == NULL) {
        return status_no_memory();
    }
    tapml_status status = TAPML_OK;
    size_t index = 0;

    for (size_t i = 0; i < survey->device_count; i++) {
        ids[i] = survey->devices[i].id;
    }
    status = device_table_find_id(component, id, ids, &index);
    alloc_free(ids);
    TAPML_TRY(status);
    *out_device = &survey->devices[index];
    return TAPML_OK;
}

static tapml_status
ask_for_device(const char *program, const struct registry_location *location, struct arena *arena)
{
    const struct survey_device *device = NULL;
    struct survey survey;

    TAPML_TRY(survey_component(program, location, &(struct survey_question){.device = NULL}, arena,
                               &survey));
    if (survey.state != CANDIDATE_USABLE) {
        return survey_status(&survey, location);
    }
    return survey_find_device(&survey, location->component, location->device, &device);
}

tapml_status survey_check(const char *program,
                          struct registry *registry,
                          const struct place_isolation *how,
                          const char *backend)
{
    struct registry_location location;

    if (place_isolation_is_far(how)) {
        return TAPML_OK; // Its machine knows.
    }
    if (how->mode != PLACE_ISOLATION_ALWAYS) {
        return registry_check(registry, backend);
    }
    TAPML_TRY(registry_locate(registry, backend, &location));
    if (location.device == NULL || registry_is_asked_late(registry, backend)) {
        return TAPML_OK;
    }
    struct arena *arena = arena_create();
    const tapml_status status =
        arena != NULL ? ask_for_device(program, &location, arena) : status_no_memory();

    arena_destroy(arena);
    return status;
}
