// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/history.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report_markup.h"

#include <string.h>

// Cases of a run that have no place yet.
struct left_over {
    const char *target;
    const json_t *item;
    const char *identity; // With its key.
};

// A history that is being gathered.
struct gathering {
    struct history *history;
    struct table by_key; // What a case is, with its key, to its place.
    struct text identity;
    struct left_over *left;
    size_t left_count, left_capacity;
    size_t run;
};

static const char *const identities[] = {"instance", "phase", "shape_class", "source", "label"};

// What an item is, with a number behind it, since a run may have several of a kind: `seen` has how
// many there were.
static tapml_status identify(struct gathering *gathering,
                             struct table *seen,
                             const char *target,
                             const json_t *item,
                             int has_key)
{
    struct text *out = &gathering->identity;
    size_t number = 0;

    text_clear(out);
    text_append(out, target);
    for (size_t i = 0; i < sizeof(identities) / sizeof(*identities); i++) {
        text_format(out, "\x1f%s", report_markup_string(item, identities[i]));
    }
    text_format(out, "\x1f%s\x1f", has_key ? report_markup_string(item, "key") : "");
    TAPML_TRY(text_status(out));
    (void)table_find(seen, out->data, &number);
    TAPML_TRY(table_set(seen, out->data, number + 1));
    text_format(out, "%zu", number);
    return text_status(out);
}

static tapml_status add_case(struct gathering *gathering, const char *target, size_t *out_index)
{
    struct history *history = gathering->history;
    void *cases = history->cases;

    if (!alloc_grow(&cases, &history->capacity, history->count, sizeof(*history->cases))) {
        return status_no_memory();
    }
    history->cases = cases;
    const json_t **items = arena_array(history->arena, history->run_count, sizeof(*items));

    if (items == NULL) {
        return status_no_memory();
    }
    history->cases[history->count] = (struct history_case){.target = target, .items = items};
    *out_index = history->count++;
    return TAPML_OK;
}

static tapml_status leave(struct gathering *gathering, const char *target, const json_t *item)
{
    void *left = gathering->left;

    if (!alloc_grow(&left, &gathering->left_capacity, gathering->left_count,
                    sizeof(*gathering->left))) {
        return status_no_memory();
    }
    const char *identity = arena_text(gathering->history->arena, gathering->identity.data);

    gathering->left = left;
    gathering->left[gathering->left_count++] = (struct left_over){target, item, identity};
    return identity != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status place_by_key(struct gathering *gathering,
                                 struct table *seen,
                                 const char *target,
                                 const json_t *items)
{
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        size_t index = 0;

        TAPML_TRY(identify(gathering, seen, target, item, 1));
        if (table_find(&gathering->by_key, gathering->identity.data, &index)) {
            gathering->history->cases[index].items[gathering->run] = item;
        } else {
            TAPML_TRY(leave(gathering, target, item));
        }
    }
    return TAPML_OK;
}

static const json_t *targets_of(const struct history *history, size_t run)
{
    return json_object_get(history->runs[run].report, "targets");
}

static tapml_status place_all_by_key(struct gathering *gathering, struct table *seen)
{
    const json_t *targets = targets_of(gathering->history, gathering->run);

    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i);
        const char *name = report_markup_string(target, "name");

        TAPML_TRY(place_by_key(gathering, seen, name, json_object_get(target, "cases")));
        TAPML_TRY(place_by_key(gathering, seen, name, json_object_get(target, "derived")));
    }
    return TAPML_OK;
}

// The cases that the run at hand has not, by all but their keys.
static tapml_status
index_lacking(struct gathering *gathering, struct table *seen, struct table *by_name)
{
    const struct history *history = gathering->history;

    for (size_t i = 0; i < history->count; i++) {
        const struct history_case *one = &history->cases[i];
        size_t run = 0;

        if (one->items[gathering->run] == NULL) {
            const json_t *item = history_before(history, i, gathering->run, &run);

            TAPML_TRY(identify(gathering, seen, one->target, item, 0));
            TAPML_TRY(table_set(by_name, gathering->identity.data, i));
        }
    }
    return TAPML_OK;
}

static tapml_status
place_rest(struct gathering *gathering, struct table *seen, const struct table *by_name)
{
    for (size_t i = 0; i < gathering->left_count; i++) {
        const struct left_over *left = &gathering->left[i];
        size_t index = 0;

        TAPML_TRY(identify(gathering, seen, left->target, left->item, 0));
        if (!table_find(by_name, gathering->identity.data, &index)) {
            TAPML_TRY(add_case(gathering, left->target, &index));
        }
        gathering->history->cases[index].items[gathering->run] = left->item;
        TAPML_TRY(table_set(&gathering->by_key, left->identity, index));
    }
    return TAPML_OK;
}

static tapml_status place_run(struct gathering *gathering)
{
    struct table keys, lacking, rest, by_name;

    table_init(&keys);
    table_init(&lacking);
    table_init(&rest);
    table_init(&by_name);
    gathering->left_count = 0;
    tapml_status status = place_all_by_key(gathering, &keys);

    if (status == TAPML_OK) {
        status = index_lacking(gathering, &lacking, &by_name);
    }
    if (status == TAPML_OK) {
        status = place_rest(gathering, &rest, &by_name);
    }
    table_release(&by_name);
    table_release(&rest);
    table_release(&lacking);
    table_release(&keys);
    return status;
}

tapml_status
history_read(const struct comparison_side *runs, size_t count, struct history *out_history)
{
    struct history history = {.arena = arena_create(), .runs = runs, .run_count = count};
    struct gathering gathering = {.history = &history};
    tapml_status status = history.arena != NULL ? TAPML_OK : status_no_memory();

    table_init(&gathering.by_key);
    text_init(&gathering.identity);
    for (; status == TAPML_OK && gathering.run < count; gathering.run++) {
        status = place_run(&gathering);
    }
    text_release(&gathering.identity);
    table_release(&gathering.by_key);
    alloc_free(gathering.left);
    if (status == TAPML_OK) {
        *out_history = history;
    } else {
        history_release(&history);
    }
    return status;
}

void history_release(struct history *history)
{
    arena_destroy(history->arena);
    alloc_free(history->cases);
    *history = (struct history){.runs = NULL};
}

enum history_class history_class_of(const json_t *item)
{
    const char *verdict = report_markup_string(item, "verdict");

    return strcmp(verdict, "pass") == 0                                    ? HISTORY_GOOD
           : strcmp(verdict, "fail") == 0 || strcmp(verdict, "error") == 0 ? HISTORY_BAD
                                                                           : HISTORY_NONE;
}

const json_t *
history_before(const struct history *history, size_t index, size_t run, size_t *out_run)
{
    while (run > 0) {
        const json_t *item = history->cases[index].items[--run];

        if (item != NULL) {
            *out_run = run;
            return item;
        }
    }
    return NULL;
}

const json_t *history_target(const struct history *history, size_t run, const char *name)
{
    const json_t *targets = targets_of(history, run);

    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i);

        if (strcmp(report_markup_string(target, "name"), name) == 0) {
            return target;
        }
    }
    return NULL;
}
