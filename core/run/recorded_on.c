// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/recorded_on.h"

#include "base/arena.h"
#include "base/sentence.h"
#include "device/backend.h"
#include "store/metadata.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 64 };

#define NOT_OF_BACKEND SIZE_MAX

static const struct {
    const char *name;
    size_t at, of_backend; // In recorded_on and in backend_info, which may lack it.
} members[] = {
    {"component", offsetof(struct recorded_on, component),
     offsetof(struct backend_info, component)},
    {"device", offsetof(struct recorded_on, device), offsetof(struct backend_info, device)},
    {"device_name", offsetof(struct recorded_on, device_name),
     offsetof(struct backend_info, device_name)},
    {"driver", offsetof(struct recorded_on, driver), offsetof(struct backend_info, driver)},
    {"plugin", offsetof(struct recorded_on, plugin), offsetof(struct backend_info, plugin)},
    {"plugin_version", offsetof(struct recorded_on, plugin_version),
     offsetof(struct backend_info, plugin_version)},
    {"build", offsetof(struct recorded_on, build), offsetof(struct backend_info, build_id)},
    {"injected_faults", offsetof(struct recorded_on, injected_faults), NOT_OF_BACKEND},
    {"verdicts", offsetof(struct recorded_on, verdicts), NOT_OF_BACKEND}, // Last: not compared.
};
enum { MEMBERS = sizeof(members) / sizeof(*members), COMPARED = MEMBERS - 1 };

static const char *text_at(const void *object, size_t offset)
{
    const char *text = NULL;

    memcpy(&text, (const char *)object + offset, sizeof(text));
    return text != NULL ? text : "";
}

static void name_key(size_t index, const char *name, char out_key[NAME_TEXT])
{
    (void)snprintf(out_key, NAME_TEXT, "recorded.%zu.%s", index, name);
}

static void set_text(void *object, size_t offset, const char *text)
{
    memcpy((char *)object + offset, &text, sizeof(text));
}

struct recorded_on recorded_on_here(const char *target,
                                    const struct backend_info *here,
                                    const char *injected_faults,
                                    const char *verdicts)
{
    struct recorded_on item = {
        .target = target, .injected_faults = injected_faults, .verdicts = verdicts};

    for (size_t i = 0; i < MEMBERS; i++) {
        if (members[i].of_backend != NOT_OF_BACKEND) {
            set_text(&item, members[i].at, text_at(here, members[i].of_backend));
        }
    }
    return item;
}

tapml_status recorded_on_write(struct store *store, size_t index, const struct recorded_on *item)
{
    char key[NAME_TEXT];

    name_key(index, "target", key);
    TAPML_TRY(metadata_set(store, key, item->target));
    for (size_t i = 0; i < MEMBERS; i++) {
        name_key(index, members[i].name, key);
        TAPML_TRY(metadata_set(store, key, text_at(item, members[i].at)));
    }
    return TAPML_OK;
}

// A value in `arena`, NULL where there is no memory; "" where the store does not have it.
static const char *
keep_value(struct store *store, size_t index, const char *name, struct arena *arena)
{
    char key[NAME_TEXT];

    name_key(index, name, key);
    const char *value = metadata_get(store, key);

    return arena_text(arena, value != NULL ? value : "");
}

tapml_status recorded_on_read(struct store *store,
                              size_t index,
                              struct arena *arena,
                              struct recorded_on *out_item,
                              int *out_has)
{
    char key[NAME_TEXT];

    name_key(index, "target", key);
    *out_has = index < RECORDED_ON_MAX && metadata_get(store, key) != NULL;
    if (!*out_has) {
        return TAPML_OK;
    }
    struct recorded_on item = {.target = keep_value(store, index, "target", arena)};
    int is_whole = item.target != NULL;

    for (size_t i = 0; i < MEMBERS; i++) {
        const char *value = keep_value(store, index, members[i].name, arena);

        set_text(&item, members[i].at, value);
        is_whole &= value != NULL;
    }
    *out_item = item;
    return is_whole ? TAPML_OK : status_no_memory();
}

// A value that somebody else wrote, or this host.
static void print_value(struct text *out, const char *value)
{
    char room[SENTENCE_QUOTED_BYTES];

    text_append(out, *value != '\0' ? sentence_shorten(value, room, sizeof(room)) : "none");
}

static void
print_target(struct store *store, const struct recorded_on *here, size_t index, struct text *out)
{
    const char *between = ": here are other ";
    char key[NAME_TEXT];

    for (size_t i = 0; i < COMPARED; i++) {
        const char *is = text_at(here, members[i].at);

        name_key(index, members[i].name, key);
        const char *was = metadata_get(store, key);

        if (was != NULL && strcmp(was, is) != 0) {
            text_format(out, "%s%s: ", between, members[i].name);
            print_value(out, was);
            text_append(out, " -> ");
            print_value(out, is);
            between = "; ";
        }
    }
    text_append(out, *between == ':' ? ": as here\n" : "\n");
}

void recorded_on_print(struct store *store, const struct recorded_on *here, struct text *out)
{
    for (size_t index = 0; index < RECORDED_ON_MAX; index++) {
        char key[NAME_TEXT];

        name_key(index, "target", key);
        const char *target = metadata_get(store, key);

        if (target == NULL) {
            return;
        }
        text_append(out, "recorded on '");
        print_value(out, target);
        text_append(out, "'");
        print_target(store, here, index, out);
    }
}
