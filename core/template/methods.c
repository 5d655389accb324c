// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/methods.h"

#include "template/characters.h"
#include "template/filters.h"
#include "template/strings.h"

#include <string.h>

// One call: `values` are the parameters behind the object.
struct method_call {
    struct budget *budget;
    const char *name;
    const struct datum *object;
    const struct datum *values;
};

typedef tapml_status (*method_fn)(const struct method_call *call, struct datum *out);

// -- Of texts ----------------------------------------------------------------------------------

static tapml_status method_strip(const struct method_call *call, struct datum *out)
{
    const enum strings_side side = call->name[0] == 'l'   ? STRINGS_LEFT
                                   : call->name[0] == 'r' ? STRINGS_RIGHT
                                                          : STRINGS_BOTH;
    const int has_set =
        call->values[0].kind != DATUM_UNDEFINED && call->values[0].kind != DATUM_NONE;
    struct datum set;
    TAPML_TRY(arguments_text(call->name, &call->values[0], "", &set));
    return strings_strip(call->budget, call->object, has_set ? &set : NULL, side, out);
}

static tapml_status method_split(const struct method_call *call, struct datum *out)
{
    const int has_separator =
        call->values[0].kind != DATUM_UNDEFINED && call->values[0].kind != DATUM_NONE;
    struct datum separator;
    int64_t limit = -1;
    TAPML_TRY(arguments_text(call->name, &call->values[0], "", &separator));
    TAPML_TRY(arguments_integer(call->name, &call->values[1], -1, &limit));
    return strings_split(call->budget, call->object, has_separator ? &separator : NULL, limit,
                         call->name[0] == 'r', out);
}

static tapml_status method_splitlines(const struct method_call *call, struct datum *out)
{
    return strings_lines(call->budget, call->object, out);
}

// Whether `piece` stands at the begin, or at the end, of the object.
static int stands_at(const struct datum *object, const struct datum *piece, int at_end)
{
    const size_t length = piece->text.length;
    const size_t rest = object->text.length - length;
    return length <= object->text.length &&
           memcmp(object->text.bytes + (at_end ? rest : 0), piece->text.bytes, length) == 0;
}

// startswith and endswith take a text, or a tuple of which one has to match.
static tapml_status method_stands_at(const struct method_call *call, struct datum *out)
{
    const struct datum *piece = &call->values[0];
    const int is_tuple = piece->kind == DATUM_TUPLE;
    const size_t count = is_tuple ? piece->list->count : 1;
    int found = 0;
    for (size_t i = 0; i < count && !found; ++i) {
        struct datum text;
        TAPML_TRY(
            arguments_text(call->name, is_tuple ? &piece->list->items[i] : piece, NULL, &text));
        TAPML_TRY(budget_spend_on_bytes(call->budget, text.text.length));
        found = stands_at(call->object, &text, call->name[0] == 'e');
    }
    *out = datum_bool(found);
    return TAPML_OK;
}

static tapml_status method_remove(const struct method_call *call, struct datum *out)
{
    const int at_end = strcmp(call->name, "removesuffix") == 0;
    struct datum piece;
    *out = *call->object;
    TAPML_TRY(arguments_text(call->name, &call->values[0], NULL, &piece));
    TAPML_TRY(budget_spend_on_bytes(call->budget, piece.text.length));
    if (stands_at(call->object, &piece, at_end)) {
        out->text.length -= piece.text.length;
        out->text.bytes += at_end ? 0 : piece.text.length;
    }
    return TAPML_OK;
}

static tapml_status method_case(const struct method_call *call, struct datum *out)
{
    const enum strings_case letters = call->name[0] == 'u'   ? STRINGS_UPPER
                                      : call->name[0] == 'l' ? STRINGS_LOWER
                                      : call->name[0] == 'c' ? STRINGS_CAPITAL
                                                             : STRINGS_TITLE;
    return strings_set_case(call->budget, call->object, letters, out);
}

static tapml_status method_replace(const struct method_call *call, struct datum *out)
{
    struct datum old;
    struct datum fresh;
    int64_t limit = -1;
    TAPML_TRY(arguments_text(call->name, &call->values[0], NULL, &old));
    TAPML_TRY(arguments_text(call->name, &call->values[1], NULL, &fresh));
    TAPML_TRY(arguments_integer(call->name, &call->values[2], -1, &limit));
    return strings_replace(call->budget, call->object, &old, &fresh, limit, out);
}

static tapml_status method_join(const struct method_call *call, struct datum *out)
{
    const struct datum_list *items = NULL;
    TAPML_TRY(datum_items(call->budget, &call->values[0], &items));
    for (size_t i = 0; i < items->count; ++i) {
        struct datum text;
        TAPML_TRY(arguments_text(call->name, &items->items[i], NULL, &text));
    }
    return strings_join(call->budget, items, call->object, out);
}

static tapml_status method_find(const struct method_call *call, struct datum *out)
{
    const char *bytes = call->object->text.bytes;
    const size_t length = call->object->text.length;
    struct datum piece;
    TAPML_TRY(arguments_text(call->name, &call->values[0], NULL, &piece));
    TAPML_TRY(budget_spend_on_characters(call->budget, length));
    const size_t at = characters_find(bytes, length, piece.text.bytes, piece.text.length);
    const int is_there = at < length || piece.text.length == 0;
    *out = datum_integer(is_there ? (int64_t)characters_count(bytes, at) : -1);
    return TAPML_OK;
}

static tapml_status method_count(const struct method_call *call, struct datum *out)
{
    struct datum pieces;
    struct datum piece;
    TAPML_TRY(arguments_text(call->name, &call->values[0], NULL, &piece));
    TAPML_TRY(strings_split(call->budget, call->object, &piece, -1, 0, &pieces));
    *out = datum_integer((int64_t)pieces.list->count - 1);
    return TAPML_OK;
}

// Whether a text is not empty and of digits, or of blanks, alone.
static tapml_status method_is(const struct method_call *call, struct datum *out)
{
    const char *bytes = call->object->text.bytes;
    const size_t length = call->object->text.length;
    TAPML_TRY(budget_spend_on_characters(call->budget, length));
    size_t count = 0;
    if (call->name[2] == 's') {
        count = characters_space_before(bytes, length);
    } else {
        while (count < length && bytes[count] >= '0' && bytes[count] <= '9') {
            ++count;
        }
    }
    *out = datum_bool(length > 0 && count == length);
    return TAPML_OK;
}

// -- Of maps -----------------------------------------------------------------------------------

static tapml_status method_items(const struct method_call *call, struct datum *out)
{
    struct datum object = *call->object;
    const struct arguments arguments = {.items = &object, .count = 1};
    return filters_apply(call->budget, "items", &arguments, out);
}

static tapml_status method_keys(const struct method_call *call, struct datum *out)
{
    const struct datum_list *items = NULL;
    TAPML_TRY(datum_items(call->budget, call->object, &items));
    *out = (struct datum){.kind = DATUM_LIST, .list = items};
    return TAPML_OK;
}

static tapml_status method_values(const struct method_call *call, struct datum *out)
{
    const struct datum_map *map = call->object->map;
    struct datum *items = NULL;
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, map->count, &items, out));
    for (size_t i = 0; i < map->count; ++i) {
        items[i] = map->members[i].value;
    }
    return TAPML_OK;
}

static tapml_status method_get(const struct method_call *call, struct datum *out)
{
    TAPML_TRY(datum_get(call->budget, call->object, &call->values[0], out));
    if (out->kind == DATUM_UNDEFINED) {
        *out = call->values[1].kind != DATUM_UNDEFINED ? call->values[1] : datum_none();
    }
    return TAPML_OK;
}

// -- By name -----------------------------------------------------------------------------------

struct method {
    const char *name;
    method_fn call; // NULL: Python has it, templates here do not.
    const char *parameters[4];
};

static const struct method of_texts[] = {
    {"strip", method_strip, {"chars"}},
    {"lstrip", method_strip, {"chars"}},
    {"rstrip", method_strip, {"chars"}},
    {"split", method_split, {"sep", "maxsplit"}},
    {"rsplit", method_split, {"sep", "maxsplit"}},
    {"splitlines", method_splitlines, {NULL}},
    {"startswith", method_stands_at, {"prefix"}},
    {"endswith", method_stands_at, {"suffix"}},
    {"removeprefix", method_remove, {"prefix"}},
    {"removesuffix", method_remove, {"suffix"}},
    {"upper", method_case, {NULL}},
    {"lower", method_case, {NULL}},
    {"capitalize", method_case, {NULL}},
    {"title", method_case, {NULL}},
    {"replace", method_replace, {"old", "new", "count"}},
    {"join", method_join, {"iterable"}},
    {"find", method_find, {"sub"}},
    {"count", method_count, {"sub"}},
    {"isdigit", method_is, {NULL}},
    {"isspace", method_is, {NULL}},
    {"format", NULL, {NULL}},
    {"index", NULL, {NULL}},
    {"rfind", NULL, {NULL}},
    {"partition", NULL, {NULL}},
    {"zfill", NULL, {NULL}},
    {NULL, NULL, {NULL}},
};

static const struct method of_maps[] = {
    {"items", method_items, {NULL}},
    {"keys", method_keys, {NULL}},
    {"values", method_values, {NULL}},
    {"get", method_get, {"key", "default"}},
    {"copy", NULL, {NULL}},
    {"pop", NULL, {NULL}},
    {"update", NULL, {NULL}},
    {"setdefault", NULL, {NULL}},
    {"clear", NULL, {NULL}},
    {"popitem", NULL, {NULL}},
    {"fromkeys", NULL, {NULL}},
    {NULL, NULL, {NULL}},
};

static const struct method of_lists[] = {
    {"append", NULL, {NULL}}, {"extend", NULL, {NULL}}, {"insert", NULL, {NULL}},
    {"pop", NULL, {NULL}},    {"remove", NULL, {NULL}}, {"index", NULL, {NULL}},
    {"count", NULL, {NULL}},  {"sort", NULL, {NULL}},   {"reverse", NULL, {NULL}},
    {"copy", NULL, {NULL}},   {"clear", NULL, {NULL}},  {NULL, NULL, {NULL}},
};

static const struct method *find(const struct datum *object, const char *name)
{
    const struct method *methods = object->kind == DATUM_TEXT  ? of_texts
                                   : object->kind == DATUM_MAP ? of_maps
                                   : datum_is_list(object)     ? of_lists
                                                               : NULL;
    for (; methods && methods->name; ++methods) {
        if (strcmp(methods->name, name) == 0) {
            return methods;
        }
    }
    return NULL;
}

int methods_know(const struct datum *object, const char *name)
{
    return find(object, name) != NULL;
}

tapml_status methods_call(struct budget *budget,
                          const struct datum *object,
                          const char *name,
                          const struct arguments *arguments,
                          struct datum *out_value)
{
    struct datum values[ARGUMENTS_MAX];
    const struct method *method = find(object, name);
    const struct method_call call = {budget, name, object, values};
    TAPML_TRY(budget_spend(budget, 1));
    if (!method || !method->call) {
        return status_fail(TAPML_INVALID, "the method '%.100s' of %s is unsupported", name,
                           datum_kind_name(object));
    }
    TAPML_TRY(arguments_bind(arguments, name, method->parameters, values));
    struct datum value;
    TAPML_TRY(method->call(&call, &value));
    *out_value = value;
    return TAPML_OK;
}
