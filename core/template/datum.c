// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/datum.h"

#include "template/characters.h"

#include <string.h>

// -- Made from C -------------------------------------------------------------------------------

struct datum datum_text(const char *bytes, size_t length)
{
    return (struct datum){.kind = DATUM_TEXT, .text = {.bytes = bytes, .length = length}};
}

struct datum datum_word(const char *word)
{
    return datum_text(word, strlen(word));
}

struct datum datum_bool(int truth)
{
    return (struct datum){.kind = DATUM_BOOL, .integer = truth != 0};
}

struct datum datum_integer(int64_t integer)
{
    return (struct datum){.kind = DATUM_INTEGER, .integer = integer};
}

struct datum datum_none(void)
{
    return (struct datum){.kind = DATUM_NONE};
}

struct datum datum_undefined(const char *name)
{
    return (struct datum){.kind = DATUM_UNDEFINED, .text = {.bytes = name, .length = strlen(name)}};
}

tapml_status
datum_copy_text(struct budget *budget, const char *bytes, size_t length, struct datum *out_datum)
{
    void *copy = NULL;
    TAPML_TRY(budget_spend_on_bytes(budget, length));
    TAPML_TRY(budget_array(budget, length + 1, 1, &copy));
    memcpy(copy, bytes, length);
    *out_datum = datum_text(copy, length);
    return TAPML_OK;
}

tapml_status datum_make_list(struct budget *budget,
                             enum datum_kind kind,
                             size_t count,
                             struct datum **out_items,
                             struct datum *out_datum)
{
    void *list = NULL;
    void *items = NULL;
    TAPML_TRY(budget_spend(budget, 1 + count / 4));
    TAPML_TRY(budget_array(budget, 1, sizeof(struct datum_list), &list));
    TAPML_TRY(budget_array(budget, count, sizeof(struct datum), &items));
    *(struct datum_list *)list = (struct datum_list){items, count};
    *out_items = items;
    *out_datum = (struct datum){.kind = kind, .list = list};
    return TAPML_OK;
}

tapml_status datum_make_map(struct budget *budget, enum datum_kind kind, struct datum *out_datum)
{
    void *map = NULL;
    TAPML_TRY(budget_array(budget, 1, sizeof(struct datum_map), &map));
    *out_datum = (struct datum){.kind = kind, .map = map};
    return TAPML_OK;
}

static tapml_status find_member(struct budget *budget,
                                const struct datum_map *map,
                                const struct datum *key,
                                struct datum_member **out_member)
{
    *out_member = NULL;
    for (size_t i = 0; i < map->count && !*out_member; ++i) {
        int is_equal = 0;
        TAPML_TRY(datum_equal(budget, &map->members[i].key, key, &is_equal));
        *out_member = is_equal ? &map->members[i] : NULL;
    }
    return TAPML_OK;
}

static tapml_status append_member(struct budget *budget,
                                  struct datum_map *map,
                                  const struct datum *key,
                                  const struct datum *value)
{
    TAPML_TRY(budget_grow(budget, (void **)&map->members, map->count, sizeof(struct datum_member)));
    map->members[map->count++] = (struct datum_member){*key, *value};
    return TAPML_OK;
}

tapml_status datum_set(struct budget *budget,
                       const struct datum *map,
                       const struct datum *key,
                       const struct datum *value)
{
    struct datum_member *member = NULL;
    if (key->kind == DATUM_MAP || key->kind == DATUM_LIST) {
        return status_fail(TAPML_INVALID, "%s cannot be the key of a member", datum_kind_name(key));
    }
    TAPML_TRY(find_member(budget, map->map, key, &member));
    if (member) {
        member->value = *value;
        return TAPML_OK;
    }
    return append_member(budget, map->map, key, value);
}

static tapml_status list_from_json(struct budget *budget, const json_t *json, struct datum *out)
{
    struct datum *items = NULL;
    TAPML_TRY(datum_make_list(budget, DATUM_LIST, json_array_size(json), &items, out));
    for (size_t i = 0; i < json_array_size(json); ++i) {
        TAPML_TRY(datum_from_json(budget, json_array_get(json, i), &items[i]));
    }
    return TAPML_OK;
}

static tapml_status map_from_json(struct budget *budget, const json_t *json, struct datum *out)
{
    json_t *object = (json_t *)(uintptr_t)json; // jansson walks through none that is const.
    const char *name = NULL;
    json_t *member = NULL;
    TAPML_TRY(datum_make_map(budget, DATUM_MAP, out));
    json_object_foreach(object, name, member)
    {
        struct datum key;
        struct datum value;
        TAPML_TRY(datum_copy_text(budget, name, strlen(name), &key));
        TAPML_TRY(datum_from_json(budget, member, &value));
        TAPML_TRY(append_member(budget, out->map, &key, &value)); // Names of JSON are unique.
    }
    return TAPML_OK;
}

tapml_status datum_from_json(struct budget *budget, const json_t *json, struct datum *out_datum)
{
    if (json_is_array(json) || json_is_object(json)) {
        TAPML_TRY(budget_enter(budget));
        const tapml_status status = json_is_array(json) ? list_from_json(budget, json, out_datum)
                                                        : map_from_json(budget, json, out_datum);
        budget_leave(budget);
        return status;
    }
    if (json_is_string(json)) {
        return datum_copy_text(budget, json_string_value(json), json_string_length(json),
                               out_datum);
    }
    *out_datum = json_is_integer(json) ? datum_integer(json_integer_value(json))
                 : json_is_real(json)
                     ? (struct datum){.kind = DATUM_REAL, .real = json_real_value(json)}
                 : json_is_boolean(json) ? datum_bool(json_is_true(json))
                                         : datum_none();
    return TAPML_OK;
}

// -- Asked ---------------------------------------------------------------------------------------

const char *datum_kind_name(const struct datum *datum)
{
    static const char *const names[] = {
        [DATUM_UNDEFINED] = "an undefined value",
        [DATUM_NONE] = "none",
        [DATUM_BOOL] = "a truth value",
        [DATUM_INTEGER] = "an integer",
        [DATUM_REAL] = "a real number",
        [DATUM_TEXT] = "a text",
        [DATUM_LIST] = "a list",
        [DATUM_TUPLE] = "a tuple",
        [DATUM_MAP] = "a map",
        [DATUM_NAMESPACE] = "a namespace",
        [DATUM_LOOP] = "the variable 'loop'",
        [DATUM_FUNCTION] = "a function",
    };
    return names[datum->kind];
}

int datum_is_list(const struct datum *datum)
{
    return datum->kind == DATUM_LIST || datum->kind == DATUM_TUPLE;
}

int datum_is_number(const struct datum *datum)
{
    return datum->kind == DATUM_BOOL || datum->kind == DATUM_INTEGER || datum->kind == DATUM_REAL;
}

int datum_is_word(const struct datum *datum, const char *word)
{
    return datum->kind == DATUM_TEXT && datum->text.length == strlen(word) &&
           memcmp(datum->text.bytes, word, datum->text.length) == 0;
}

int datum_is_true(const struct datum *datum)
{
    switch (datum->kind) {
    case DATUM_UNDEFINED:
    case DATUM_NONE:
        return 0;
    case DATUM_BOOL:
    case DATUM_INTEGER:
        return datum->integer != 0;
    case DATUM_REAL:
        return datum->real != 0;
    case DATUM_TEXT:
        return datum->text.length > 0;
    case DATUM_LIST:
    case DATUM_TUPLE:
        return datum->list->count > 0;
    case DATUM_MAP:
        return datum->map->count > 0;
    case DATUM_NAMESPACE:
    case DATUM_LOOP:
    case DATUM_FUNCTION:
        return 1;
    }
    return 0;
}

double datum_real(const struct datum *datum)
{
    return datum->kind == DATUM_REAL ? datum->real : (double)datum->integer;
}

static int order_numbers(const struct datum *left, const struct datum *right)
{
    if (left->kind == DATUM_REAL || right->kind == DATUM_REAL) {
        const double a = datum_real(left);
        const double b = datum_real(right);
        return a < b ? -1 : a > b;
    }
    return left->integer < right->integer ? -1 : left->integer > right->integer;
}

// By bytes, which is the order of the characters' codes.
static int order_texts(const struct datum *left, const struct datum *right)
{
    const size_t a = left->text.length;
    const size_t b = right->text.length;
    const int order = memcmp(left->text.bytes, right->text.bytes, a < b ? a : b);
    return order != 0 ? (order < 0 ? -1 : 1) : a < b ? -1 : a > b;
}

static tapml_status equal_lists(struct budget *budget,
                                const struct datum_list *left,
                                const struct datum_list *right,
                                int *out_equal)
{
    *out_equal = left->count == right->count;
    for (size_t i = 0; i < left->count && *out_equal; ++i) {
        TAPML_TRY(datum_equal(budget, &left->items[i], &right->items[i], out_equal));
    }
    return TAPML_OK;
}

static tapml_status equal_maps(struct budget *budget,
                               const struct datum_map *left,
                               const struct datum_map *right,
                               int *out_equal)
{
    *out_equal = left->count == right->count;
    for (size_t i = 0; i < left->count && *out_equal; ++i) {
        struct datum_member *other = NULL;
        TAPML_TRY(find_member(budget, right, &left->members[i].key, &other));
        *out_equal = 0;
        if (other) {
            TAPML_TRY(datum_equal(budget, &left->members[i].value, &other->value, out_equal));
        }
    }
    return TAPML_OK;
}

static tapml_status equal_containers(struct budget *budget,
                                     const struct datum *left,
                                     const struct datum *right,
                                     int *out_equal)
{
    TAPML_TRY(budget_enter(budget));
    const tapml_status status = left->kind == DATUM_MAP
                                    ? equal_maps(budget, left->map, right->map, out_equal)
                                    : equal_lists(budget, left->list, right->list, out_equal);
    budget_leave(budget);
    return status;
}

tapml_status datum_equal(struct budget *budget,
                         const struct datum *left,
                         const struct datum *right,
                         int *out_equal)
{
    TAPML_TRY(budget_spend(budget, 1));
    if (datum_is_number(left) && datum_is_number(right)) {
        *out_equal = order_numbers(left, right) == 0;
        return TAPML_OK;
    }
    if (left->kind != right->kind) {
        *out_equal = 0;
        return TAPML_OK;
    }
    if (left->kind == DATUM_TEXT) {
        *out_equal = 0;
        if (left->text.length == right->text.length) {
            TAPML_TRY(budget_spend_on_bytes(budget, left->text.length));
            *out_equal = order_texts(left, right) == 0;
        }
        return TAPML_OK;
    }
    if (datum_is_list(left) || left->kind == DATUM_MAP) {
        return equal_containers(budget, left, right, out_equal);
    }
    *out_equal =
        left->kind == DATUM_NONE || left->kind == DATUM_UNDEFINED || left->other == right->other;
    return TAPML_OK;
}

static tapml_status compare_lists(struct budget *budget,
                                  const struct datum_list *left,
                                  const struct datum_list *right,
                                  int *out_order)
{
    for (size_t i = 0; i < left->count && i < right->count; ++i) {
        int is_equal = 0;
        TAPML_TRY(datum_equal(budget, &left->items[i], &right->items[i], &is_equal));
        if (!is_equal) {
            TAPML_TRY(budget_enter(budget));
            const tapml_status status =
                datum_compare(budget, &left->items[i], &right->items[i], out_order);
            budget_leave(budget);
            return status;
        }
    }
    *out_order = left->count < right->count ? -1 : left->count > right->count;
    return TAPML_OK;
}

tapml_status datum_compare(struct budget *budget,
                           const struct datum *left,
                           const struct datum *right,
                           int *out_order)
{
    TAPML_TRY(budget_spend(budget, 1));
    if (datum_is_number(left) && datum_is_number(right)) {
        *out_order = order_numbers(left, right);
        return TAPML_OK;
    }
    if (left->kind == DATUM_TEXT && right->kind == DATUM_TEXT) {
        *out_order = order_texts(left, right);
        return budget_spend_on_bytes(budget, left->text.length);
    }
    if (datum_is_list(left) && left->kind == right->kind) {
        return compare_lists(budget, left->list, right->list, out_order);
    }
    return status_fail(TAPML_INVALID, "%s and %s have no order", datum_kind_name(left),
                       datum_kind_name(right));
}

tapml_status datum_contains(struct budget *budget,
                            const struct datum *container,
                            const struct datum *item,
                            int *out_contains)
{
    struct datum_member *member = NULL;
    *out_contains = 0;
    if (container->kind == DATUM_UNDEFINED) {
        return TAPML_OK;
    }
    if (container->kind == DATUM_TEXT && item->kind == DATUM_TEXT) {
        TAPML_TRY(budget_spend_on_characters(budget, container->text.length));
        *out_contains =
            item->text.length == 0 ||
            characters_find(container->text.bytes, container->text.length, item->text.bytes,
                            item->text.length) < container->text.length;
        return TAPML_OK;
    }
    if (datum_is_list(container)) {
        for (size_t i = 0; i < container->list->count && !*out_contains; ++i) {
            TAPML_TRY(datum_equal(budget, &container->list->items[i], item, out_contains));
        }
        return TAPML_OK;
    }
    if (container->kind == DATUM_MAP) {
        TAPML_TRY(find_member(budget, container->map, item, &member));
        *out_contains = member != NULL;
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "'in' cannot search %s for %s", datum_kind_name(container),
                       datum_kind_name(item));
}

tapml_status datum_get(struct budget *budget,
                       const struct datum *map,
                       const struct datum *key,
                       struct datum *out_value)
{
    struct datum_member *member = NULL;
    TAPML_TRY(find_member(budget, map->map, key, &member));
    if (member) {
        *out_value = member->value;
        return TAPML_OK;
    }
    *out_value = datum_undefined("a member");
    if (key->kind == DATUM_TEXT) {
        out_value->text.bytes = key->text.bytes;
        out_value->text.length = key->text.length;
    }
    return TAPML_OK;
}

tapml_status datum_length(struct budget *budget, const struct datum *datum, size_t *out_length)
{
    if (datum->kind == DATUM_UNDEFINED) {
        *out_length = 0;
        return TAPML_OK;
    }
    if (datum->kind == DATUM_TEXT) {
        TAPML_TRY(budget_spend_on_characters(budget, datum->text.length));
        *out_length = characters_count(datum->text.bytes, datum->text.length);
        return TAPML_OK;
    }
    if (datum_is_list(datum) || datum->kind == DATUM_MAP) {
        *out_length = datum->kind == DATUM_MAP ? datum->map->count : datum->list->count;
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID, "%s has no length", datum_kind_name(datum));
}

static tapml_status
items_of_text(struct budget *budget, const struct datum *text, struct datum *items)
{
    size_t at = 0;
    for (size_t i = 0; at < text->text.length; ++i) {
        const char *begin = text->text.bytes + at;
        const size_t count = characters_offset(begin, text->text.length - at, 1);
        items[i] = datum_text(begin, count);
        at += count;
    }
    return budget_spend_on_characters(budget, text->text.length);
}

tapml_status
datum_items(struct budget *budget, const struct datum *datum, const struct datum_list **out_items)
{
    struct datum list;
    struct datum *items = NULL;
    size_t count = 0;
    if (datum_is_list(datum)) {
        *out_items = datum->list;
        return TAPML_OK;
    }
    if (datum->kind != DATUM_TEXT && datum->kind != DATUM_MAP && datum->kind != DATUM_UNDEFINED) {
        return status_fail(TAPML_INVALID, "%s has no items", datum_kind_name(datum));
    }
    TAPML_TRY(datum_length(budget, datum, &count));
    TAPML_TRY(datum_make_list(budget, DATUM_LIST, count, &items, &list));
    for (size_t i = 0; i < count && datum->kind == DATUM_MAP; ++i) {
        items[i] = datum->map->members[i].key;
    }
    if (datum->kind == DATUM_TEXT) {
        TAPML_TRY(items_of_text(budget, datum, items));
    }
    *out_items = list.list;
    return TAPML_OK;
}
