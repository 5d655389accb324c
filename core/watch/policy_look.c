// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/policy_look.h"

#include "base/arena.h"
#include "plugin/policy.h"
#include "store/metadata.h"
#include "store/target.h"

#include <stdio.h>
#include <string.h>

#define FRESH_FILES "watch.fresh.files"

enum { NAME_TEXT = 256 };

// What is kept of a target.
static const struct {
    uint32_t what;
    const char *name;
} PARTS[] = {{TAPML_CHANGED_DRIVER, "driver"},
             {TAPML_CHANGED_DEVICE, "identity"},
             {TAPML_CHANGED_BUILD, "build"}};

enum { PARTS_COUNT = sizeof(PARTS) / sizeof(*PARTS) };

static const char *part_of(const struct target_row *target, size_t part)
{
    const char *const texts[PARTS_COUNT] = {target->driver, target->identity, target->build};

    return texts[part];
}

static void name_part(const char *target, size_t part, char out_name[NAME_TEXT])
{
    (void)snprintf(out_name, NAME_TEXT, "watch.fresh.%.200s.%s", target, PARTS[part].name);
}

// -- What has changed --------------------------------------------------------------------------

struct change_gathering {
    struct store *store;
    struct arena *arena;
    tapml_policy_change **items;
    size_t count, capacity;
    tapml_status status;
};

static void add(struct change_gathering *gathering, const tapml_policy_change *change)
{
    if (gathering->count == gathering->capacity) {
        const size_t capacity = 2 * gathering->capacity + 16;
        tapml_policy_change **items = arena_array(gathering->arena, capacity, sizeof(*items));

        if (items == NULL) {
            gathering->status = status_no_memory();
            return;
        }
        if (gathering->count > 0) {
            memcpy(items, gathering->items, gathering->count * sizeof(*items));
        }
        gathering->items = items;
        gathering->capacity = capacity;
    }
    tapml_policy_change *item = arena_array(gathering->arena, 1, sizeof(*item));

    if (item == NULL) {
        gathering->status = status_no_memory();
        return;
    }
    *item = *change;
    item->hdr = (tapml_hdr)TAPML_HDR(tapml_policy_change);
    gathering->items[gathering->count++] = item;
}

static void see_file(void *user, const char *path, int was_there, int is_there)
{
    struct change_gathering *gathering = user;

    if (gathering->status == TAPML_OK) {
        const char *kept = arena_text(gathering->arena, path);

        gathering->status = kept != NULL ? TAPML_OK : status_no_memory();
        add(gathering, &(tapml_policy_change){.what = TAPML_CHANGED_FILE,
                                              .path = kept,
                                              .before = was_there ? "" : NULL,
                                              .now = is_there ? "" : NULL});
    }
}

static tapml_status see_files(struct change_gathering *gathering, const struct watched_files *now)
{
    struct watched_files before = {.count = 0};

    TAPML_TRY(watched_files_read(metadata_get(gathering->store, FRESH_FILES), &before));
    watched_files_visit(&before, now, see_file, gathering);
    watched_files_release(&before);
    return gathering->status;
}

// A driver that is another one makes the identity another one, too: that is one change.
static int is_said(const struct change_gathering *gathering, size_t since, size_t part)
{
    return PARTS[part].what == TAPML_CHANGED_DEVICE && gathering->count > since;
}

// Whether a part of a target is another one than it was, or than nothing: of a target that was not
// there then, the device is.
static int has_changed(size_t part, const char *before, const char *now)
{
    return before != NULL ? strcmp(before, now) != 0 : PARTS[part].what == TAPML_CHANGED_DEVICE;
}

static tapml_status see_target(struct change_gathering *gathering, const struct target_row *target)
{
    const size_t since = gathering->count;

    for (size_t part = 0; part < PARTS_COUNT && gathering->status == TAPML_OK; part++) {
        char name[NAME_TEXT];

        name_part(target->name, part, name);
        const char *before = metadata_get(gathering->store, name);
        const char *now = part_of(target, part);

        if (has_changed(part, before, now) && !is_said(gathering, since, part)) {
            const char *kept = before != NULL ? arena_text(gathering->arena, before) : NULL;

            gathering->status = kept != NULL || before == NULL ? TAPML_OK : status_no_memory();
            add(gathering,
                &(tapml_policy_change){
                    .what = PARTS[part].what, .target = target->name, .before = kept, .now = now});
        }
    }
    return gathering->status;
}

static tapml_status gather(struct change_gathering *gathering, const struct watched_files *files)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(gathering->store, gathering->arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(see_target(gathering, &targets[i]));
    }
    return see_files(gathering, files);
}

// -- Asking ------------------------------------------------------------------------------------

static tapml_status say(const struct policy *policy,
                        const tapml_policy_answer *answer,
                        struct arena *arena,
                        struct trigger_facts *io_facts)
{
    struct text text;

    text_init(&text);
    policy_print_name(policy, &text);
    if (answer->reason[0] != '\0') {
        text_sentence(&text, ": %s", answer->reason);
    }
    io_facts->policy_fires = answer->runs;
    io_facts->policy_said = text_status(&text) == TAPML_OK ? arena_text(arena, text.data) : NULL;
    text_release(&text);
    return io_facts->policy_said != NULL ? TAPML_OK : status_no_memory();
}

tapml_status policy_look_ask(struct policy *policy,
                             struct store *store,
                             const struct watched_files *files,
                             struct arena *arena,
                             struct trigger_facts *io_facts)
{
    struct change_gathering gathering = {.store = store, .arena = arena};
    const int is_first = metadata_get(store, FRESH_FILES) == NULL;
    tapml_policy_answer answer;

    if (!is_first) {
        TAPML_TRY(gather(&gathering, files));
    }
    const tapml_policy_look look = {
        .hdr = TAPML_HDR(tapml_policy_look),
        .changes = (const tapml_policy_change *const *)gathering.items,
        .n_changes = (uint32_t)gathering.count,
        .is_first = (uint32_t)is_first,
        .cases = (uint64_t)io_facts->all,
        .stale = (uint64_t)io_facts->stale,
        .regret_s = io_facts->regret_s,
        .cost_s = io_facts->cost_s,
        .drift = io_facts->drift,
        .performance = io_facts->performance,
    };

    TAPML_TRY(policy_trigger(policy, &look, &answer));
    return say(policy, &answer, arena, io_facts);
}

// -- Keeping -----------------------------------------------------------------------------------

static tapml_status keep_files(struct store *store, const struct watched_files *files)
{
    struct text text;

    text_init(&text);
    watched_files_print(files, &text);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = metadata_set(store, FRESH_FILES, text.data);
    }
    text_release(&text);
    return status;
}

static tapml_status keep_targets(struct store *store, struct arena *arena)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(store, arena, &targets, &count));
    for (size_t i = 0; i < count * PARTS_COUNT; i++) {
        const struct target_row *target = &targets[i / PARTS_COUNT];
        char name[NAME_TEXT];

        name_part(target->name, i % PARTS_COUNT, name);
        TAPML_TRY(metadata_set(store, name, part_of(target, i % PARTS_COUNT)));
    }
    return TAPML_OK;
}

tapml_status policy_look_keep(struct store *store, const struct watched_files *files)
{
    struct arena *arena = arena_create();
    tapml_status status = arena != NULL ? keep_targets(store, arena) : status_no_memory();

    arena_destroy(arena);
    return status == TAPML_OK ? keep_files(store, files) : status;
}
