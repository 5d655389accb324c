// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/host_knobs.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_TEXT = 64 };

// One that there may be, as the table below and the file have it.
struct choice_of_key {
    const char *name, *about;
    const char *section, *key;
    int64_t now;   // What the file says.
    int64_t limit; // Values above it are left out, but for `now`.
    const int64_t *values;
    size_t count;
};

struct host_finding {
    const struct run_config *config;
    struct arena *arena;
    struct knob knobs[TAPML_TUNING_KNOBS_MAX];
    struct host_knob keys[TAPML_TUNING_KNOBS_MAX];
    uint32_t count, size; // Combinations of their values.
};

static const int64_t cache_mib[] = {0, 32, 256};
static const int64_t cases_ahead[] = {0, 1, 2, 4, 8};
static const int64_t processes[] = {1, 2, 4, 8, 16};
static const int64_t ring_slots[] = {0, 2, 3, 4, 6};

#define VALUES(array) .values = (array), .count = sizeof(array) / sizeof(*(array))

static int compare_values(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

// The values, with that of the file in its place.
static tapml_status
set_values(const struct choice_of_key *choice, struct arena *arena, struct knob *knob)
{
    int64_t *values = arena_array(arena, choice->count + 1, sizeof(*values));

    if (values == NULL) {
        return status_no_memory();
    }
    values[knob->count++] = choice->now;
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->values[i] != choice->now && choice->values[i] <= choice->limit) {
            values[knob->count++] = choice->values[i];
        }
    }
    qsort(values, knob->count, sizeof(*values), compare_values);
    while (values[knob->chosen] != choice->now) {
        knob->chosen++;
    }
    knob->values = values;
    return TAPML_OK;
}

// A candidate with one value is none; one that makes too many combinations is left as it is.
static tapml_status add(struct host_finding *finding, const struct choice_of_key *choice)
{
    struct knob knob = {.about = choice->about};
    struct host_knob key = {.key = choice->key};

    TAPML_TRY(set_values(choice, finding->arena, &knob));
    if (knob.count == 1 || finding->count == TAPML_TUNING_KNOBS_MAX ||
        finding->size > KNOBS_COMBINATIONS_MAX / knob.count) {
        return TAPML_OK;
    }
    knob.name = arena_text(finding->arena, choice->name);
    key.section = arena_text(finding->arena, choice->section);
    if (knob.name == NULL || key.section == NULL) {
        return status_no_memory();
    }
    finding->size *= knob.count;
    finding->keys[finding->count] = key;
    finding->knobs[finding->count++] = knob;
    return TAPML_OK;
}

// Keys of the `target`th target and its pool. Knobs of the second target are `slots_2`.
static tapml_status add_target(struct host_finding *finding, size_t target, size_t processors)
{
    const struct place_settings *settings = &finding->config->targets[target];
    const struct device_pool *pool = run_config_pool(finding->config, target);
    char name[TAPML_TUNING_NAME_BYTES], section[SECTION_TEXT], ending[8] = "";

    if (target > 0) {
        (void)snprintf(ending, sizeof(ending), "_%zu", target + 1);
    }
    if (settings->ring.amount != RING_OFF) {
        (void)snprintf(name, sizeof(name), "slots%s", ending);
        (void)snprintf(section, sizeof(section), "target.%s", settings->name);
        TAPML_TRY(add(finding, &(struct choice_of_key){.name = name,
                                                       .about = "slots of the ring; 0: chosen",
                                                       .section = section,
                                                       .key = "slots",
                                                       .now = (int64_t)settings->ring.slots,
                                                       .limit = INT64_MAX,
                                                       VALUES(ring_slots)}));
    }
    if (pool == NULL || pool->processes == 0) {
        return TAPML_OK;
    }
    (void)snprintf(name, sizeof(name), "processes%s", ending);
    (void)snprintf(section, sizeof(section), "pool.%s", pool->name);
    return add(finding, &(struct choice_of_key){.name = name,
                                                .about = "members of the pool",
                                                .section = section,
                                                .key = "processes",
                                                .now = pool->processes,
                                                .limit = (int64_t)processors,
                                                VALUES(processes)});
}

static int has_worker(const struct run_config *config)
{
    int has = config->source.isolation.mode != PLACE_ISOLATION_NEVER;

    for (size_t i = 0; i < config->target_count; i++) {
        has |= config->targets[i].isolation.mode != PLACE_ISOLATION_NEVER;
    }
    return has;
}

static tapml_status add_all(struct host_finding *finding, size_t processors)
{
    const struct run_config *config = finding->config;

    TAPML_TRY(add(finding, &(struct choice_of_key){.name = "cache",
                                                   .about = "MiB of the store's pages in memory",
                                                   .section = "run",
                                                   .key = "cache",
                                                   .now = config->cache_mib,
                                                   .limit = INT64_MAX,
                                                   VALUES(cache_mib)}));
    if (has_worker(config)) {
        TAPML_TRY(add(finding, &(struct choice_of_key){.name = "ahead",
                                                       .about = "cases on their way to a worker",
                                                       .section = "check",
                                                       .key = "ahead",
                                                       .now = config->ahead,
                                                       .limit = INT64_MAX,
                                                       VALUES(cases_ahead)}));
    }
    if (config->store == NULL) {
        TAPML_TRY(add(finding, &(struct choice_of_key){.name = "workers",
                                                       .about = "processes that carve",
                                                       .section = "source",
                                                       .key = "workers",
                                                       .now = config->source_workers,
                                                       .limit = (int64_t)processors,
                                                       VALUES(processes)}));
    }
    for (size_t i = 0; i < config->target_count; i++) {
        TAPML_TRY(add_target(finding, i, processors));
    }
    return TAPML_OK;
}

// A class of the same file: of its keys and values, whatever its comments are.
static tapml_status name_class(const struct run_config *config, size_t processors, char *out_class)
{
    struct hash_state *state = hash_begin();
    char text[HASH_TEXT];

    if (state == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < config->ini.count; i++) {
        const struct ini_entry *entry = &config->ini.entries[i];

        hash_add(state, entry->section, strlen(entry->section) + 1);
        hash_add(state, entry->key, strlen(entry->key) + 1);
        hash_add(state, entry->value, strlen(entry->value) + 1);
    }
    hash_text(hash_end(state), text);
    (void)snprintf(out_class, TAPML_TUNING_CLASS_BYTES, "file=%s,processors=%zu", text, processors);
    return TAPML_OK;
}

static tapml_status make_space(const struct host_finding *finding, struct host_knobs *knobs)
{
    struct knob_space *space = &knobs->space;
    struct host_knob *keys = arena_array(finding->arena, finding->count + 1, sizeof(*keys));

    space->count = finding->count;
    space->knobs = arena_array(finding->arena, finding->count + 1, sizeof(*space->knobs));
    if (keys == NULL || space->knobs == NULL) {
        return status_no_memory();
    }
    memcpy(keys, finding->keys, finding->count * sizeof(*keys));
    memcpy(space->knobs, finding->knobs, finding->count * sizeof(*space->knobs));
    knobs->keys = keys;
    TAPML_TRY(knobs_check(space));
    space->legal = arena_array(finding->arena, space->size / 8 + 1, 1);
    if (space->legal == NULL) {
        return status_no_memory();
    }
    memset(space->legal, 0xff, space->size / 8 + 1);
    return knobs_check_legal(space);
}

tapml_status host_knobs_find(const struct run_config *config,
                             size_t processors,
                             struct arena *arena,
                             struct host_knobs *out_knobs)
{
    struct host_finding finding = {.config = config, .arena = arena, .size = 1};

    *out_knobs = (struct host_knobs){.keys = NULL};
    TAPML_TRY(add_all(&finding, processors));
    TAPML_TRY(name_class(config, processors, out_knobs->space.shape_class));
    return make_space(&finding, out_knobs);
}

tapml_status host_knobs_edits(const struct host_knobs *knobs,
                              uint32_t number,
                              struct arena *arena,
                              struct ini_edit **out_edits)
{
    struct ini_edit *edits = arena_array(arena, knobs->space.count + 1, sizeof(*edits));
    uint32_t places[TAPML_TUNING_KNOBS_MAX];

    if (edits == NULL) {
        return status_no_memory();
    }
    knobs_places(&knobs->space, number, places);
    for (uint32_t i = 0; i < knobs->space.count; i++) {
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRId64, knobs->space.knobs[i].values[places[i]]);
        edits[i] =
            (struct ini_edit){knobs->keys[i].section, knobs->keys[i].key, arena_text(arena, text)};
        if (edits[i].value == NULL) {
            return status_no_memory();
        }
    }
    *out_edits = edits;
    return TAPML_OK;
}
