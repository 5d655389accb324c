// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/recorded.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/table.h"
#include "base/text.h"
#include "choose/choice.h"
#include "store/carved.h"
#include "store/look.h"
#include "watch/regret.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SECOND_NS = 1e9;

struct reading {
    struct arena *arena;
    struct recorded recorded;
    struct looked_row *rows;
    size_t row_count;
    struct look_row *look_rows; // From the first that has rows of `looked` on.
    size_t *case_of;            // Of each row.
    struct table targets, groups, cases, regressions; // By their names, with '\n' between.
    struct text name;
};

// The number of a name in a table, that of a new one if it is not there yet.
static tapml_status
number_of(struct table *table, const struct text *name, size_t next, size_t *out_number)
{
    TAPML_TRY(text_status(name));
    if (!table_find(table, name->data, out_number)) {
        TAPML_TRY(table_set(table, name->data, next));
        *out_number = next;
    }
    return TAPML_OK;
}

static struct text *name_of(struct reading *reading, const char *a, const char *b)
{
    text_clear(&reading->name);
    text_format(&reading->name, "%s\n%s", a, b);
    return &reading->name;
}

// -- Looks -------------------------------------------------------------------------------------

static tapml_status read_looks(struct reading *reading)
{
    struct recorded *recorded = &reading->recorded;
    struct look_row *rows = NULL;
    size_t count = 0, first = 0;

    TAPML_TRY(look_list_all(recorded->store, reading->arena, &rows, &count));
    while (first < count && (reading->row_count == 0 || rows[first].id < reading->rows[0].look)) {
        first++;
    }
    reading->look_rows = rows + first;
    recorded->looks_before = first;
    recorded->look_count = count - first;
    if (recorded->look_count == 0) {
        return status_fail(TAPML_NOT_FOUND,
                           "no look of `tapml-host watch` has recorded which cases it saw");
    }
    recorded->looks = arena_array(reading->arena, recorded->look_count, sizeof(*recorded->looks));
    if (recorded->looks == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < recorded->look_count; i++) {
        recorded->looks[i].at_s = reading->look_rows[i].began_s;
        recorded->looks[i].everything = reading->look_rows[i].everything;
        recorded->turned_unseen += reading->look_rows[i].worse;
    }
    return TAPML_OK;
}

static int by_id(const void *key, const void *item)
{
    const int64_t id = *(const int64_t *)key, other = ((const struct look_row *)item)->id;

    return id < other ? -1 : id > other;
}

static size_t find_look(const struct reading *reading, int64_t id)
{
    const struct look_row *found =
        bsearch(&id, reading->look_rows, reading->recorded.look_count, sizeof(*found), by_id);

    ASSERT(found != NULL); // Each row refers to a look, and looks are read from the first row on.
    return (size_t)(found - reading->look_rows);
}

// The look that a case was stale from. Looks of one second are not told apart: the last of them is
// taken, so that none says less than was known.
static size_t find_onset(const struct recorded *recorded, size_t look, int64_t stale_s)
{
    size_t onset = look;

    while (onset > 0 && recorded->looks[onset].at_s > stale_s &&
           recorded->looks[onset - 1].at_s >= stale_s) {
        onset--;
    }
    return onset;
}

// -- Cases -------------------------------------------------------------------------------------

static enum recorded_cause find_cause(const char *name)
{
    return strcmp(name, LOOKED_NEW) == 0      ? RECORDED_NEW
           : strcmp(name, LOOKED_SAMPLE) == 0 ? RECORDED_SAMPLE
           : strcmp(name, LOOKED_RUN) == 0    ? RECORDED_RUN
           : strcmp(name, LOOKED_GONE) == 0   ? RECORDED_GONE
                                              : RECORDED_CHANGE;
}

static tapml_status find_group(struct reading *reading, const struct looked_row *row, size_t *out)
{
    struct recorded *recorded = &reading->recorded;
    size_t target = 0;

    TAPML_TRY(number_of(&reading->targets, name_of(reading, row->target, ""),
                        recorded->target_count, &target));
    if (target == recorded->target_count) {
        recorded->targets[recorded->target_count++] = row->target;
    }
    TAPML_TRY(number_of(&reading->groups, name_of(reading, row->target, row->op),
                        recorded->group_count, out));
    if (*out == recorded->group_count) {
        recorded->groups[recorded->group_count++] = (struct recorded_group){target, row->op};
    }
    return TAPML_OK;
}

static tapml_status add_row(struct reading *reading, size_t index)
{
    struct recorded *recorded = &reading->recorded;
    const struct looked_row *row = &reading->rows[index];
    size_t group = 0, number = 0;

    TAPML_TRY(find_group(reading, row, &group));
    TAPML_TRY(number_of(&reading->cases, name_of(reading, row->target, row->key),
                        recorded->case_count, &number));
    if (number == recorded->case_count) {
        recorded->cases[recorded->case_count++] =
            (struct recorded_case){.key = row->key, .group = group, .cost_s = REGRET_CASE_S};
    }
    recorded->cases[number].event_end++; // A count: read_events makes a place of it.
    reading->case_of[index] = number;
    return TAPML_OK;
}

// Whether what a row found is a regression.
static int is_worse(const struct looked_row *row, enum turning_rank after)
{
    return *row->before == '\0' ? after == TURNING_WRONG : after > turning_rank(row->before);
}

static tapml_status
find_regression(struct reading *reading, struct recorded_event *event, size_t group)
{
    struct recorded *recorded = &reading->recorded;

    event->regression = RECORDED_NONE;
    if (event->cause == RECORDED_GONE || !is_worse(event->row, event->after)) {
        return TAPML_OK;
    }
    text_clear(&reading->name);
    text_format(&reading->name, "%zu %zu", event->look, group);
    TAPML_TRY(number_of(&reading->regressions, &reading->name, recorded->regression_count,
                        &event->regression));
    struct recorded_regression *regression = &recorded->regressions[event->regression];

    if (event->regression == recorded->regression_count) {
        recorded->regression_count++;
        *regression = (struct recorded_regression){event->look, group, event->onset};
    }
    regression->onset = event->onset < regression->onset ? event->onset : regression->onset;
    recorded->turned_unseen--;
    return TAPML_OK;
}

static tapml_status fill_event(struct reading *reading, size_t index)
{
    struct recorded *recorded = &reading->recorded;
    const struct looked_row *row = &reading->rows[index];
    struct recorded_case *item = &recorded->cases[reading->case_of[index]];
    struct recorded_event *event = &recorded->events[item->event_end++];

    *event = (struct recorded_event){.row = row,
                                     .cause = find_cause(row->cause),
                                     .look = find_look(reading, row->look),
                                     .after = turning_rank(row->after)};
    event->onset = event->cause == RECORDED_CHANGE ? find_onset(recorded, event->look, row->stale_s)
                                                   : event->look;
    if (row->time_ns > 0) {
        recorded->timed += item->cost_s == REGRET_CASE_S;
        item->cost_s = (double)row->time_ns / SECOND_NS;
    }
    return find_regression(reading, event, item->group);
}

// In two passes over the rows: one counts the events of each case, one fills their places.
static tapml_status read_events(struct reading *reading)
{
    struct recorded *recorded = &reading->recorded;
    size_t begin = 0;

    for (size_t i = 0; i < reading->row_count; i++) {
        TAPML_TRY(add_row(reading, i));
    }
    for (size_t i = 0; i < recorded->case_count; i++) {
        struct recorded_case *item = &recorded->cases[i];
        const size_t count = item->event_end;

        item->event_begin = item->event_end = begin;
        begin += count;
    }
    recorded->event_count = reading->row_count;
    for (size_t i = 0; i < reading->row_count; i++) {
        TAPML_TRY(fill_event(reading, i));
    }
    return TAPML_OK;
}

static tapml_status list_onsets(struct reading *reading)
{
    struct recorded *recorded = &reading->recorded;
    size_t *all = arena_array(reading->arena, recorded->event_count + 1, sizeof(*all));

    if (all == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < recorded->event_count; i++) {
        recorded->looks[recorded->events[i].onset].onset_count++;
    }
    for (size_t i = 0; i < recorded->look_count; i++) {
        recorded->looks[i].onsets = all;
        all += recorded->looks[i].onset_count;
        recorded->looks[i].onset_count = 0;
    }
    for (size_t i = 0; i < recorded->event_count; i++) {
        struct recorded_look *look = &recorded->looks[recorded->events[i].onset];

        look->onsets[look->onset_count++] = i;
    }
    return TAPML_OK;
}

// -- Costs and the order -----------------------------------------------------------------------

// The case of the store with that id, on a target; RECORDED_NONE if no look has seen it.
static tapml_status
find_case(const struct recorded *recorded, const struct table *keys, int64_t id, size_t *out_case)
{
    char key[CARVED_KEY];

    TAPML_TRY(carved_find_key(recorded->store, id, key));
    if (!table_find(keys, key, out_case)) {
        *out_case = RECORDED_NONE;
    }
    return TAPML_OK;
}

static tapml_status
list_keys(const struct recorded *recorded, size_t target, struct table *out_keys)
{
    for (size_t i = 0; i < recorded->case_count; i++) {
        if (recorded->groups[recorded->cases[i].group].target == target) {
            TAPML_TRY(table_set(out_keys, recorded->cases[i].key, i));
        }
    }
    return TAPML_OK;
}

static tapml_status
predict(struct recorded *recorded, size_t target, const struct table *keys, struct arena *arena)
{
    struct case_choice choice;
    size_t found = 0;

    TAPML_TRY(choice_make(recorded->store,
                          &(struct choice_options){.settings = {.order = CHOICE_CARVED},
                                                   .target = recorded->targets[target]},
                          arena, &choice));
    for (size_t i = 0; choice.has_times && i < choice.count; i++) {
        TAPML_TRY(find_case(recorded, keys, choice.cases[i].id, &found));
        if (found != RECORDED_NONE) {
            recorded->predicted++;
            recorded->timed -= recorded->cases[found].cost_s != REGRET_CASE_S;
            recorded->cases[found].cost_s = choice.times.times_ns[i] / SECOND_NS;
        }
    }
    return TAPML_OK;
}

static tapml_status find_costs(struct recorded *recorded, struct arena *arena)
{
    for (size_t i = 0; i < recorded->target_count; i++) {
        struct table keys;

        table_init(&keys);
        tapml_status status = list_keys(recorded, i, &keys);

        if (status == TAPML_OK) {
            status = predict(recorded, i, &keys, arena);
        }
        table_release(&keys);
        TAPML_TRY(status);
    }
    return TAPML_OK;
}

// What `find_failures` of a choice needs.
struct failing {
    const struct recorded *recorded;
    size_t target;
    const double *failures;
};

static double find_failures(void *user, const char *op)
{
    const struct failing *failing = user;

    for (size_t i = 0; i < failing->recorded->group_count; i++) {
        const struct recorded_group *group = &failing->recorded->groups[i];

        if (group->target == failing->target && strcmp(group->op, op) == 0) {
            return failing->failures[i];
        }
    }
    return 0;
}

static tapml_status place_cases(struct failing *failing,
                                const struct table *keys,
                                struct arena *arena,
                                size_t *out_places)
{
    const struct recorded *recorded = failing->recorded;
    struct case_choice choice;
    size_t found = 0;

    TAPML_TRY(choice_make(recorded->store,
                          &(struct choice_options){.settings = {.order = CHOICE_COVER},
                                                   .target = recorded->targets[failing->target],
                                                   .find_failures = find_failures,
                                                   .user = failing},
                          arena, &choice));
    for (size_t i = 0; i < choice.chosen; i++) {
        TAPML_TRY(find_case(recorded, keys, choice.cases[choice.order[i]].id, &found));
        if (found != RECORDED_NONE && out_places[found] >= recorded->case_count) {
            out_places[found] = i;
        }
    }
    return TAPML_OK;
}

tapml_status recorded_order(const struct recorded *recorded,
                            size_t target,
                            const double *failures,
                            size_t *out_places)
{
    struct failing failing = {recorded, target, failures};
    struct arena *arena = arena_create();
    struct table keys;

    if (arena == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < recorded->case_count; i++) {
        out_places[i] = RECORDED_LAST + i;
    }
    table_init(&keys);
    tapml_status status = list_keys(recorded, target, &keys);

    if (status == TAPML_OK) {
        status = place_cases(&failing, &keys, arena, out_places);
    }
    table_release(&keys);
    arena_destroy(arena);
    return status;
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status make_room(struct reading *reading)
{
    struct recorded *recorded = &reading->recorded;
    struct arena *arena = reading->arena;
    const size_t count = reading->row_count + 1;

    recorded->targets = arena_array(arena, count, sizeof(*recorded->targets));
    recorded->groups = arena_array(arena, count, sizeof(*recorded->groups));
    recorded->cases = arena_array(arena, count, sizeof(*recorded->cases));
    recorded->events = arena_array(arena, count, sizeof(*recorded->events));
    recorded->regressions = arena_array(arena, count, sizeof(*recorded->regressions));
    reading->case_of = arena_array(arena, count, sizeof(*reading->case_of));
    return recorded->targets != NULL && recorded->groups != NULL && recorded->cases != NULL &&
                   recorded->events != NULL && recorded->regressions != NULL &&
                   reading->case_of != NULL
               ? TAPML_OK
               : status_no_memory();
}

static tapml_status read(struct reading *reading)
{
    TAPML_TRY(
        looked_list(reading->recorded.store, reading->arena, &reading->rows, &reading->row_count));
    TAPML_TRY(make_room(reading));
    TAPML_TRY(read_looks(reading));
    TAPML_TRY(read_events(reading));
    TAPML_TRY(list_onsets(reading));
    return find_costs(&reading->recorded, reading->arena);
}

tapml_status recorded_read(struct store *store, struct arena *arena, struct recorded *out_recorded)
{
    struct reading reading = {.arena = arena, .recorded = {.store = store}};

    table_init(&reading.targets);
    table_init(&reading.groups);
    table_init(&reading.cases);
    table_init(&reading.regressions);
    text_init(&reading.name);
    const tapml_status status = read(&reading);

    text_release(&reading.name);
    table_release(&reading.regressions);
    table_release(&reading.cases);
    table_release(&reading.groups);
    table_release(&reading.targets);
    if (status == TAPML_OK) {
        *out_recorded = reading.recorded;
    }
    return status;
}
