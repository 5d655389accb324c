// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_series.h"

#include "base/alloc.h"
#include "base/text.h"
#include "kit/kit_expectation.h"
#include "kit/kit_list.h"
#include "kit/kit_options.h"
#include "plugin/kind.h"

#include <tapml/backend.h>
#include <tapml/model.h>

#include <fnmatch.h>
#include <string.h>

// -- Which checks ------------------------------------------------------------------------------

static int is_wanted(const struct kit_series *series, const struct kit_check *check)
{
    const char *const *patterns = series->selection.patterns;

    if (check->level == KIT_MODELS && check->what == NULL &&
        series->selection.task.replay == NULL) {
        return 0; // Nothing to replay.
    }
    if (patterns == NULL || patterns[0] == NULL) {
        return (int)check->level <= series->selection.level;
    }
    for (size_t i = 0; patterns[i] != NULL; i++) {
        if (fnmatch(patterns[i], check->id, 0) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_of(const struct kit_check *check, const struct manifest_component *component)
{
    const int is_backend = strcmp(component->kind, TAPML_KIND_BACKEND) == 0;

    switch (check->scope) {
    case KIT_OF_BACKEND:
        return is_backend;
    case KIT_OF_MODEL:
        return strcmp(component->kind, TAPML_KIND_MODEL) == 0;
    case KIT_OF_OTHER:
        return !is_backend && (check->kind == NULL || kind_serves(component->kind, check->kind));
    case KIT_OF_COMPONENT:
        return 1;
    case KIT_OF_FILE:
    case KIT_OF_PLUGIN:
        return 0;
    }
    return 0;
}

static int is_of_components(const struct kit_check *check)
{
    return check->scope != KIT_OF_FILE && check->scope != KIT_OF_PLUGIN;
}

// -- Making them -------------------------------------------------------------------------------

// The ground of a check that has not passed, or NULL.
static const struct kit_item *find_lost_ground(const struct kit_series *series,
                                               const struct kit_check *check,
                                               const char *component)
{
    for (size_t i = 0; check->scope != KIT_OF_FILE && i < series->count; i++) {
        const struct kit_item *item = &series->items[i];
        const int is_its = item->component[0] == '\0' ||
                           (component != NULL && strcmp(item->component, component) == 0);
        const int is_ground =
            item->check->ground == KIT_GROUND ||
            (item->check->ground == KIT_GROUND_OF_LEVEL && check->level == item->check->level + 1);

        if (is_ground && is_its && kit_result_is_wrong(&item->result)) {
            return item;
        }
    }
    return NULL;
}

static tapml_status
make(struct kit_series *series, const struct kit_check *check, const char *component)
{
    const struct kit_selection *selection = &series->selection;
    struct kit_task task = selection->task;

    if (!alloc_grow((void **)&series->items, &series->capacity, series->count,
                    sizeof(*series->items))) {
        return status_no_memory();
    }
    struct kit_item *item = &series->items[series->count];
    const struct kit_item *ground = find_lost_ground(series, check, component);

    *item = (struct kit_item){.check = check, .component = component != NULL ? component : ""};
    task.component = component;
    if (ground != NULL) {
        kit_result_skip(&item->result, "%s has not passed", ground->check->id);
    } else if (selection->in_process && check->hides_drivers) {
        kit_result_skip(&item->result, "drivers are hidden from other processes only");
    } else if (selection->in_process) {
        kit_process_run(&task, check, &item->result);
    } else {
        TAPML_TRY(kit_process_make(&task, check, &item->result, &item->time_ns));
    }
    kit_expectation_apply(&series->expected, check, component, &item->result);
    series->count++;
    return selection->made != NULL ? selection->made(selection->user, item) : TAPML_OK;
}

static tapml_status make_of_components(struct kit_series *series, const struct kit_check *check)
{
    const struct manifest *manifest = &series->subject.manifest;
    const char *only = series->selection.task.component;

    for (uint32_t i = 0; i < manifest->component_count; i++) {
        if (is_of(check, &manifest->components[i]) &&
            (only == NULL || strcmp(only, manifest->components[i].id) == 0)) {
            TAPML_TRY(make(series, check, manifest->components[i].id));
        }
    }
    return TAPML_OK;
}

// A plugin whose manifest cannot be read has no components that are known; the first check says so.
static tapml_status make_all(struct kit_series *series)
{
    const struct kit_check *check = NULL;

    if (!series->is_read) {
        return make(series, kit_list_at(0), NULL);
    }
    for (size_t i = 0; (check = kit_list_at(i)) != NULL; i++) {
        if (is_wanted(series, check)) {
            TAPML_TRY(is_of_components(check) ? make_of_components(series, check)
                                              : make(series, check, NULL));
        }
    }
    return series->count > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "no check that was asked for is about this plugin; "
                                            "--list lists all");
}

// -- What was asked for ------------------------------------------------------------------------

static tapml_status find_component(const struct manifest *manifest, const char *wanted)
{
    const char **ids = alloc_array(manifest->component_count + 1, sizeof(*ids));
    int is_there = 0;

    if (ids == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < manifest->component_count; i++) {
        ids[i] = manifest->components[i].id;
        is_there = is_there || strcmp(ids[i], wanted) == 0;
    }
    const char *nearest = text_nearest(wanted, ids);

    alloc_free(ids);
    return is_there ? TAPML_OK
                    : status_fail(TAPML_INVALID, "the plugin has no component '%s'%s%s%s", wanted,
                                  nearest != NULL ? ", did you mean '" : "",
                                  nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static tapml_status check_words(const struct kit_series *series)
{
    const struct kit_task *task = &series->selection.task;
    const struct manifest *manifest = &series->subject.manifest;
    struct ini options;

    if (!series->is_read) {
        return TAPML_OK;
    }
    if (task->component != NULL) {
        TAPML_TRY(find_component(manifest, task->component));
    }
    TAPML_TRY(kit_options_read(manifest, task->component, task->options, &options));
    ini_release(&options);
    return TAPML_OK;
}

// A plugin beside it that is none is a mistake of the user.
static tapml_status check_companions(const struct kit_task *task)
{
    for (size_t i = 0; task->others != NULL && task->others[i] != NULL; i++) {
        struct kit_subject other;

        TAPML_TRY(kit_subject_read(task->others[i], &other));
        kit_subject_release(&other);
    }
    return TAPML_OK;
}

// What is no file is a mistake of the user, and one that cannot be read one of the plugin.
tapml_status kit_series_make(const struct kit_selection *selection, struct kit_series *out_series)
{
    struct kit_series *series = out_series;

    *series = (struct kit_series){.selection = *selection};
    if (selection->expected != NULL) {
        TAPML_TRY(kit_expectation_read(selection->expected, &series->expected));
    }
    const tapml_status status = kit_subject_read(selection->task.plugin, &series->subject);

    series->is_read = status == TAPML_OK;
    if (status == TAPML_NOT_FOUND || status == TAPML_NO_MEMORY) {
        return status;
    }
    TAPML_TRY(check_words(series));
    TAPML_TRY(check_companions(&selection->task));
    return make_all(series);
}

void kit_series_release(struct kit_series *series)
{
    kit_subject_release(&series->subject);
    ini_release(&series->expected);
    alloc_free(series->items);
    *series = (struct kit_series){.count = 0};
}

// Whether some check of a component has found no driver or no device.
static int lacks_device(const struct kit_series *series, const char *component)
{
    for (size_t i = 0; i < series->count; i++) {
        const struct kit_item *item = &series->items[i];

        if (item->result.lacks_device && strcmp(item->component, component) == 0) {
            return 1;
        }
    }
    return 0;
}

enum kit_series_verdict kit_series_conclude(const struct kit_series *series)
{
    size_t wrong = 0, good = 0, skipped = 0;

    for (size_t i = 0; i < series->count; i++) {
        const struct kit_item *item = &series->items[i];

        wrong += kit_result_is_wrong(&item->result);
        if (is_of_components(item->check)) {
            good += kit_result_is_good(&item->result) && !lacks_device(series, item->component);
            skipped += item->result.outcome == KIT_SKIPPED;
        }
    }
    return wrong > 0                  ? KIT_SERIES_WRONG
           : skipped > 0 && good == 0 ? KIT_SERIES_NOTHING
                                      : KIT_SERIES_RIGHT;
}
