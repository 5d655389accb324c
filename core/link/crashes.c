// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/crashes.h"

#include "base/alloc.h"

#include <string.h>

void crashes_init(struct crashes *crashes)
{
    *crashes = (struct crashes){.count = 0};
    table_init(&crashes->places);
}

void crashes_release(struct crashes *crashes)
{
    for (size_t i = 0; i < crashes->count; i++) {
        alloc_free(crashes->items[i].first);
    }
    alloc_free(crashes->items);
    alloc_free(crashes->killed);
    table_release(&crashes->places);
}

static struct crash *find(const struct crashes *crashes, const char *instance)
{
    size_t place = 0;
    return instance && table_find(&crashes->places, instance, &place) ? &crashes->items[place]
                                                                      : NULL;
}

// Without memory there is none, and the instance is called once more; the verdict of this call
// stands.
static struct crash *add(struct crashes *crashes, const char *instance, const char *message)
{
    void *grown = crashes->items;
    if (!alloc_grow(&grown, &crashes->capacity, crashes->count, sizeof(*crashes->items))) {
        return NULL;
    }
    crashes->items = grown;
    char *first = alloc_text(message);
    if (!first || table_set(&crashes->places, instance, crashes->count) != TAPML_OK) {
        alloc_free(first);
        return NULL;
    }
    crashes->items[crashes->count] = (struct crash){.first = first};
    return &crashes->items[crashes->count++];
}

static void note(struct crashes *crashes, const char *instance, const char *message, size_t count)
{
    struct crash *crash = find(crashes, instance);
    if (!crash) {
        crash = add(crashes, instance, message);
    }
    if (crash) {
        crash->first = crash->first ? crash->first : alloc_text(message);
        crash->count += count;
        crashes->last = (size_t)(crash - crashes->items);
        crashes->last_count = count;
    }
}

static int is_known(const struct backlog_culprit *culprit)
{
    return culprit->instance[0] != '\0' && culprit->is_sure;
}

void crashes_note(struct crashes *crashes,
                  const struct backlog_culprit *culprit,
                  const char *message)
{
    crashes->last_count = crashes->last_kills = 0;
    if (is_known(culprit)) {
        note(crashes, culprit->instance, message, 1);
    }
}

static int is_killed(const struct crashes *crashes, const char *instance)
{
    return crashes->killed && instance && strcmp(crashes->killed, instance) == 0;
}

void crashes_note_kill(struct crashes *crashes,
                       const struct backlog_culprit *culprit,
                       const char *message)
{
    crashes->last_count = crashes->last_kills = 0;
    if (!is_known(culprit)) {
        return;
    }
    crashes->last_kills = 1;
    if (!is_killed(crashes, culprit->instance)) {
        alloc_free(crashes->killed);
        crashes->killed = alloc_text(culprit->instance);
        crashes->kills = 0;
    }
    if (++crashes->kills == CRASHES_KILLS_MAX) {
        note(crashes, culprit->instance, message, CRASHES_KILLS_MAX);
    }
}

void crashes_excuse(struct crashes *crashes)
{
    if (crashes->last_count > 0) {
        struct crash *crash = &crashes->items[crashes->last];
        crash->count -= crashes->last_count < crash->count ? crashes->last_count : crash->count;
        if (crash->count == 0) {
            alloc_free(crash->first);
            crash->first = NULL;
        }
    }
    crashes->kills -= crashes->last_kills < crashes->kills ? crashes->last_kills : crashes->kills;
    crashes->last_count = crashes->last_kills = 0;
}

void crashes_note_call(struct crashes *crashes, const char *instance)
{
    if (crashes->killed && !is_killed(crashes, instance)) {
        alloc_free(crashes->killed);
        crashes->killed = NULL;
    }
}

tapml_status
crashes_check(const struct crashes *crashes, const char *component, const char *instance)
{
    const struct crash *crash = find(crashes, instance);
    if (!crash || crash->count < CRASHES_MAX) {
        return TAPML_OK;
    }
    return status_fail(TAPML_INTERNAL,
                       "%s: '%s' has crashed its worker %zu times and is not called again; first: "
                       "%s",
                       component, instance, crash->count, crash->first ? crash->first : "");
}

void crashes_forgive(struct crashes *crashes)
{
    for (size_t i = 0; i < crashes->count; i++) {
        crashes->items[i].count = 0;
    }
}
