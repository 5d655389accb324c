// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/bundle_tags.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/text.h"
#include "base/utf8.h"
#include "device/backend.h"
#include "run/pack.h"
#include "run/recorded_on.h"
#include "schema/catalogue.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

// Where the values of a key come from.
enum origin { ORIGIN_MADE, ORIGIN_METADATA, ORIGIN_CASES, ORIGIN_PLACE };

static const struct key {
    const char *name;
    enum origin origin;
    const char *metadata;   // Of ORIGIN_METADATA.
    enum bundle_word words; // Of ORIGIN_CASES.
    size_t offset;          // Of ORIGIN_PLACE: in struct recorded_on.
} keys[] = {
    {.name = "id", .origin = ORIGIN_MADE},
    {.name = "kind", .origin = ORIGIN_MADE}, // "case", "driver", "pack"
    {.name = "op", .origin = ORIGIN_CASES, .words = BUNDLE_WORD_OP},
    {.name = "instance", .origin = ORIGIN_CASES, .words = BUNDLE_WORD_INSTANCE},
    {.name = "phase", .origin = ORIGIN_CASES, .words = BUNDLE_WORD_PHASE},
    {.name = "shapes", .origin = ORIGIN_CASES, .words = BUNDLE_WORD_SHAPES},
    {.name = "dtype", .origin = ORIGIN_CASES, .words = BUNDLE_WORD_DTYPE},
    {.name = "check", .origin = ORIGIN_METADATA, .metadata = BUNDLE_METADATA_CHECK},
    {.name = "activations", .origin = ORIGIN_METADATA, .metadata = BUNDLE_METADATA_ACTIVATIONS},
    {.name = "redacted", .origin = ORIGIN_METADATA, .metadata = PACK_METADATA_REDACTED},
    {.name = "where", .origin = ORIGIN_METADATA, .metadata = PACK_METADATA_WHERE},
    {.name = "model", .origin = ORIGIN_METADATA, .metadata = "model.name"},
    {.name = "hash", .origin = ORIGIN_METADATA, .metadata = "model.hash"},
    {.name = "architecture", .origin = ORIGIN_METADATA, .metadata = "model.architecture"},
    {.name = "source", .origin = ORIGIN_METADATA, .metadata = "source"},
#define PLACE(name_, member_)                                                                      \
    {                                                                                              \
        .name = (name_), .origin = ORIGIN_PLACE, .offset = offsetof(struct recorded_on, member_)   \
    }
    PLACE("target", target),
    PLACE("verdict", verdicts),
    PLACE("component", component),
    PLACE("device", device),
    PLACE("device_name", device_name),
    PLACE("driver", driver),
    PLACE("plugin", plugin),
    PLACE("plugin_version", plugin_version),
    PLACE("build", build),
    PLACE("injected_faults", injected_faults),
#undef PLACE
};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

const char *bundle_tags_key(size_t index)
{
    return index < KEYS ? keys[index].name : NULL;
}

int bundle_tags_is_of_place(const char *key)
{
    const struct key *found = find_key(key);

    return found != NULL && found->origin == ORIGIN_PLACE;
}

// -- Reading -----------------------------------------------------------------------------------

struct reading {
    struct store *store;
    struct arena *arena;
    struct bundle_tags *tags;
    const struct key *key;
    size_t place;
};

// A text of a file commands no terminal.
static tapml_status add(struct reading *reading, const char *value, size_t length)
{
    struct bundle_tags *tags = reading->tags;
    char *copy = arena_new(reading->arena, length + 1);
    void *items = tags->items;

    if (length == 0) {
        return TAPML_OK;
    }
    if (copy == NULL || !alloc_grow(&items, &tags->capacity, tags->count, sizeof(*tags->items))) {
        return status_no_memory();
    }
    memcpy(copy, value, length);
    utf8_make_plain(copy);
    tags->items = items;
    tags->items[tags->count++] = (struct bundle_tag){reading->key->name, copy, reading->place};
    return TAPML_OK;
}

static tapml_status add_text(struct reading *reading, const char *value)
{
    return value != NULL ? add(reading, value, strlen(value)) : TAPML_OK;
}

static tapml_status add_word(void *user, const char *word, uint64_t cases)
{
    (void)cases;
    return add_text(user, word);
}

// Names of verdicts stand beside each other; any other text is one value.
static tapml_status add_of_place(struct reading *reading, const char *value)
{
    if (reading->key->offset != offsetof(struct recorded_on, verdicts)) {
        return add_text(reading, value);
    }
    for (const char *at = value; *at != '\0';) {
        const size_t length = strcspn(at, " ");

        TAPML_TRY(add(reading, at, length));
        at += length;
        at += strspn(at, " ");
    }
    return TAPML_OK;
}

static tapml_status add_place(struct reading *reading, const struct recorded_on *item)
{
    reading->place = ++reading->tags->places;
    for (size_t i = 0; i < KEYS; i++) {
        const char *value = NULL;

        reading->key = &keys[i];
        if (keys[i].origin == ORIGIN_PLACE) {
            memcpy(&value, (const char *)item + keys[i].offset, sizeof(value));
            TAPML_TRY(add_of_place(reading, value != NULL ? value : ""));
        }
    }
    return TAPML_OK;
}

static tapml_status add_places(struct reading *reading)
{
    struct recorded_on item;
    int has = 1;

    for (size_t i = 0; has; i++) {
        TAPML_TRY(recorded_on_read(reading->store, i, reading->arena, &item, &has));
        TAPML_TRY(has ? add_place(reading, &item) : TAPML_OK);
    }
    return TAPML_OK;
}

static const char *kind_of(struct store *store)
{
    if (!bundle_is(store)) {
        return "pack";
    }
    return metadata_get(store, BUNDLE_METADATA_CHECK) != NULL ? "driver" : "case";
}

static tapml_status add_of_file(struct reading *reading)
{
    switch (reading->key->origin) {
    case ORIGIN_MADE:
        return add_text(reading,
                        reading->key == keys ? reading->tags->id : kind_of(reading->store));
    case ORIGIN_METADATA:
        return add_text(reading, metadata_get(reading->store, reading->key->metadata));
    case ORIGIN_CASES:
        return bundle_visit(reading->store, reading->key->words, add_word, reading);
    case ORIGIN_PLACE:
        break;
    }
    return TAPML_OK;
}

static tapml_status count_cases(void *user, const char *op, uint64_t cases)
{
    (void)op;
    *(uint64_t *)user += cases;
    return TAPML_OK;
}

static tapml_status read_all(struct reading *reading)
{
    struct bundle_tags *tags = reading->tags;

    TAPML_TRY(bundle_id(reading->store, tags->id));
    TAPML_TRY(bundle_visit(reading->store, BUNDLE_WORD_OP, count_cases, &tags->cases));
    for (size_t i = 0; i < KEYS; i++) {
        reading->key = &keys[i];
        TAPML_TRY(add_of_file(reading));
    }
    return add_places(reading);
}

int bundle_tags_has(struct store *store)
{
    return bundle_is(store) || metadata_get(store, PACK_METADATA_WHERE) != NULL;
}

tapml_status
bundle_tags_read(struct store *store, struct arena *arena, struct bundle_tags *out_tags)
{
    struct bundle_tags tags = {.items = NULL};
    const tapml_status status =
        read_all(&(struct reading){.store = store, .arena = arena, .tags = &tags});

    if (status != TAPML_OK) {
        bundle_tags_release(&tags);
        return status;
    }
    *out_tags = tags;
    return TAPML_OK;
}

tapml_status bundle_tags_of_backend(const struct backend_info *info,
                                    struct arena *arena,
                                    struct bundle_tags *out_tags)
{
    const struct recorded_on item = recorded_on_here("", info, "", "");
    struct bundle_tags tags = {.items = NULL};
    const tapml_status status = add_place(&(struct reading){.arena = arena, .tags = &tags}, &item);

    if (status != TAPML_OK) {
        bundle_tags_release(&tags);
        return status;
    }
    *out_tags = tags;
    return TAPML_OK;
}

void bundle_tags_release(struct bundle_tags *tags)
{
    alloc_free(tags->items);
    *tags = (struct bundle_tags){.items = NULL};
}

const char *bundle_tags_first(const struct bundle_tags *tags, const char *key)
{
    for (size_t i = 0; i < tags->count; i++) {
        if (strcmp(tags->items[i].key, key) == 0) {
            return tags->items[i].value;
        }
    }
    return "";
}

// -- Conditions --------------------------------------------------------------------------------

static size_t name_length(const char *word)
{
    return strspn(word, "abcdefghijklmnopqrstuvwxyz_");
}

int bundle_tags_is_condition(const char *word)
{
    const size_t length = name_length(word);
    const char *sign = &word[length + (word[length] == '>')];

    return length > 0 && *sign == '=' && sign[1] != '\0';
}

static const char *nearest_key(const char *name)
{
    const char *names[KEYS + 1] = {NULL};

    for (size_t i = 0; i < KEYS; i++) {
        names[i] = keys[i].name;
    }
    return text_nearest(name, names);
}

tapml_status bundle_tags_read_condition(const char *word, struct bundle_condition *out_condition)
{
    char name[32];

    ASSERT(bundle_tags_is_condition(word));
    (void)snprintf(name, sizeof(name), "%.*s", (int)(name_length(word) % 1000), word); // Cut.
    const struct key *key = find_key(name);
    const char *nearest = key == NULL ? nearest_key(name) : NULL;

    if (key == NULL) {
        return nearest != NULL
                   ? status_fail(TAPML_INVALID, "bundles have no tag '%s', did you mean '%s'?",
                                 name, nearest)
                   : status_fail(TAPML_INVALID,
                                 "bundles have no tag '%s'; 'tapml-host find --tags' lists them",
                                 name);
    }
    const char *sign = word + name_length(word);
    const int is_least = *sign == '>';

    *out_condition = (struct bundle_condition){key->name, sign + 1 + is_least, is_least};
    return TAPML_OK;
}

static int has_value(const struct bundle_condition *condition, const char *value)
{
    const char *glob = condition->value;

    if (condition->is_least) {
        return text_compare_versions(value, condition->value) >= 0;
    }
    if (strcmp(condition->key, "id") == 0 && strncmp(value, glob, strlen(glob)) == 0) {
        return 1;
    }
    if (strcmp(condition->key, "op") == 0 && text_glob(glob, catalogue_shorten(value))) {
        return 1;
    }
    return text_glob(glob, value);
}

static int
has_tag(const struct bundle_tags *tags, const struct bundle_condition *condition, size_t place)
{
    for (size_t i = 0; i < tags->count; i++) {
        if (tags->items[i].place == place && strcmp(tags->items[i].key, condition->key) == 0 &&
            has_value(condition, tags->items[i].value)) {
            return 1;
        }
    }
    return 0;
}

// Whether all conditions of the file (place 0), or all of places at this one, are met.
static int meet_at(const struct bundle_tags *tags,
                   const struct bundle_condition *conditions,
                   size_t count,
                   size_t place)
{
    for (size_t i = 0; i < count; i++) {
        if (bundle_tags_is_of_place(conditions[i].key) == (place > 0) &&
            !has_tag(tags, &conditions[i], place)) {
            return 0;
        }
    }
    return 1;
}

int bundle_tags_meet(const struct bundle_tags *tags,
                     const struct bundle_condition *conditions,
                     size_t count)
{
    int asks_places = 0;

    for (size_t i = 0; i < count; i++) {
        asks_places |= bundle_tags_is_of_place(conditions[i].key);
    }
    if (!meet_at(tags, conditions, count, 0)) {
        return 0;
    }
    for (size_t place = 1; asks_places && place <= tags->places; place++) {
        if (meet_at(tags, conditions, count, place)) {
            return 1;
        }
    }
    return !asks_places;
}
