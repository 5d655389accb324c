// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/replay_devices.h"

#include "base/arena.h"
#include "base/sentence.h"
#include "base/terminal.h"
#include "run/installed_devices.h"
#include "run/recorded_on.h"
#include "run/setup.h"

#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH_MIN = 12, VERDICT_WIDTH = -10 };

// A line of the table at the end.
struct replayed_device {
    const char *name;    // "COMPONENT:DEVICE", or the component alone.
    const char *verdict; // Static.
    const char *words;   // What else is to be said.
};

struct replay_devices {
    const struct replay_devices_options *options;
    struct arena *arena; // Of the setup.
    struct installed_device *items;
    struct replayed_device *rows;
    size_t count, row_count;
    struct replay_devices_totals totals;
    size_t tried;
};

static tapml_status
add_row(struct replay_devices *work, const char *name, const char *verdict, const char *words)
{
    if (name == NULL || words == NULL) {
        return status_no_memory();
    }
    work->rows[work->row_count++] = (struct replayed_device){name, verdict, words};
    return TAPML_OK;
}

static tapml_status
meets(struct replay_devices *work, const struct installed_device *item, int *out)
{
    const struct backend_info info = installed_devices_info(item);
    struct bundle_tags tags;

    TAPML_TRY(bundle_tags_of_backend(&info, work->arena, &tags));
    *out = bundle_tags_meet(&tags, work->options->conditions, work->options->condition_count);
    bundle_tags_release(&tags);
    return TAPML_OK;
}

static const char *verdict_of(const struct replay_device_result *result)
{
    return result->bad > 0 ? "wrong" : result->passed > 0 ? "right" : "not judged";
}

static const char *describe(const struct replay_devices *work,
                            const struct installed_device *item,
                            const struct replay_device_result *result)
{
    return arena_format(work->arena, "%zu failed, %zu right, %zu did not run; %s%s%s", result->bad,
                        result->passed, result->others, item->device->name,
                        *item->device->driver != '\0' ? ", " : "", item->device->driver);
}

// A driver that crashes, or has no memory left, says nothing of the others.
static tapml_status try_device(struct replay_devices *work, const struct installed_device *item)
{
    const struct replay_devices_options *options = work->options;
    const char *name = arena_format(work->arena, "%s:%s", item->component, item->device->id);
    struct replay_device_result result = {.bad = 0};

    if (name == NULL) {
        return status_no_memory();
    }
    sentence_print("\n%s (%s)\n", name, item->device->name);
    work->tried++;
    const tapml_status status = options->replay(options->user, name, &result);

    if (status == TAPML_CANCELLED || status == TAPML_NO_MEMORY) {
        return status;
    }
    if (status != TAPML_OK) {
        work->totals.failed++;
        return add_row(work, name, "not tried", arena_text(work->arena, status_message()));
    }
    work->totals.bad += result.bad;
    work->totals.passed += result.passed;
    return add_row(work, name, verdict_of(&result), describe(work, item, &result));
}

// -- What fits ---------------------------------------------------------------------------------

static int has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = strstr(words, word); at != NULL; at = strstr(at + 1, word)) {
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
            return 1;
        }
    }
    return 0;
}

// Whether a condition is about devices by themselves.
static int names_devices(const struct replay_devices *work)
{
    for (size_t i = 0; i < work->options->condition_count; i++) {
        const char *key = work->options->conditions[i].key;

        if (strcmp(key, "device") == 0 || strcmp(key, "device_name") == 0) {
            return 1;
        }
    }
    return 0;
}

static tapml_status
is_recorded(const struct replay_devices *work, const struct installed_device *item, int *out_is)
{
    struct recorded_on was;
    int has = 1;

    *out_is = 0;
    for (size_t i = 0; has && !*out_is; i++) {
        TAPML_TRY(recorded_on_read(work->options->store, i, work->arena, &was, &has));
        *out_is = has && strcmp(was.component, item->component) == 0 &&
                  strcmp(was.device, item->device->id) == 0;
    }
    return TAPML_OK;
}

// A component whose devices calibrate may have others beside them, which compute less exactly on
// purpose, as a measure too. That they fail says nothing of this machine.
static tapml_status
is_other_measure(struct replay_devices *work, const struct installed_device *item, int *out_is)
{
    const char *calibrates =
        registry_component_key(work->options->setup->registry, item->component, "calibrates");
    int is_wanted = names_devices(work) || item->device == NULL || calibrates == NULL ||
                    has_word(calibrates, item->device->id);

    if (!is_wanted) {
        TAPML_TRY(is_recorded(work, item, &is_wanted));
    }
    *out_is = !is_wanted;
    return TAPML_OK;
}

static tapml_status take_item(struct replay_devices *work, const struct installed_device *item)
{
    int is_asked = 0, is_measure = 0;

    TAPML_TRY(meets(work, item, &is_asked));
    if (!is_asked) {
        return TAPML_OK;
    }
    if (item->opens_late) {
        return add_row(work, item->component, "not tried",
                       "opens its device when --backend names it");
    }
    TAPML_TRY(is_other_measure(work, item, &is_measure));
    if (is_measure) {
        return add_row(work, arena_format(work->arena, "%s:%s", item->component, item->device->id),
                       "not tried", "computes less exactly on purpose, unless device= names it");
    }
    return item->device != NULL ? try_device(work, item)
                                : add_row(work, item->component, "not here",
                                          *item->sentence != '\0' ? item->sentence : "no device");
}

// -- What the store had run on -----------------------------------------------------------------

static int is_installed(const struct replay_devices *work, const struct recorded_on *item)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct installed_device *one = &work->items[i];

        if (one->device != NULL && strcmp(one->component, item->component) == 0 &&
            strcmp(one->device->id, item->device) == 0) {
            return 1;
        }
    }
    return 0;
}

static tapml_status print_missing(const struct replay_devices *work)
{
    struct recorded_on item;
    int has = 1;

    for (size_t i = 0; has; i++) {
        TAPML_TRY(recorded_on_read(work->options->store, i, work->arena, &item, &has));
        if (has && !is_installed(work, &item)) {
            sentence_print("recorded on '%s' = %s:%s (%s), which is not here\n", item.target,
                           item.component, item.device, item.device_name);
        }
    }
    return TAPML_OK;
}

// -- The whole ---------------------------------------------------------------------------------

static void print_rows(const struct replay_devices *work)
{
    int width = NAME_WIDTH_MIN;

    for (size_t i = 0; i < work->row_count; i++) {
        width = terminal_widen(width, work->rows[i].name);
    }
    (void)printf("\n");
    for (size_t i = 0; i < work->row_count; i++) {
        const struct replayed_device *row = &work->rows[i];
        char room[SENTENCE_QUOTED_BYTES];

        (void)printf("%-*s %*s %s\n", width, row->name, VERDICT_WIDTH, row->verdict,
                     sentence_shorten(row->words, room, sizeof(room)));
    }
}

static tapml_status run(struct replay_devices *work)
{
    struct setup *setup = work->options->setup;

    TAPML_TRY(installed_devices_list(setup->program, setup->registry, setup->arena, &work->items,
                                     &work->count));
    work->rows = arena_array(work->arena, work->count + 1, sizeof(*work->rows));
    if (work->rows == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < work->count; i++) {
        TAPML_TRY(take_item(work, &work->items[i]));
    }
    if (work->row_count > 0) {
        print_rows(work);
    }
    TAPML_TRY(print_missing(work));
    return work->tried > 0
               ? TAPML_OK
               : status_fail(
                     TAPML_UNAVAILABLE, "no installed device %s; 'tapml-host devices' lists them",
                     work->options->condition_count > 0 ? "meets the conditions" : "can be used");
}

tapml_status replay_devices_run(const struct replay_devices_options *options,
                                struct replay_devices_totals *out_totals)
{
    struct replay_devices work = {.options = options, .arena = options->setup->arena};

    TAPML_TRY(run(&work));
    *out_totals = work.totals;
    return TAPML_OK;
}
