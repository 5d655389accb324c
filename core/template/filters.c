// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "template/filters.h"

#include "base/text.h"
#include "template/conditions.h"
#include "template/operators.h"
#include "template/spelling.h"
#include "template/strings.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT_MAX = 64, NUMBER_BYTES = 64 };

// One use of a filter: `values` are its parameters, the input first.
struct filter_call {
    struct budget *budget;
    const char *name;
    struct datum *values;
    const struct arguments *arguments; // All, of a filter whose parameters are free.
};

typedef tapml_status (*filter_fn)(const struct filter_call *call, struct datum *out);

// -- Texts -------------------------------------------------------------------------------------

// The input as a text, as most filters take it.
static tapml_status input_text(const struct filter_call *call, struct datum *out)
{
    return spelling_of(call->budget, &call->values[0], out);
}

static tapml_status filter_string(const struct filter_call *call, struct datum *out)
{
    return input_text(call, out);
}

static tapml_status filter_trim(const struct filter_call *call, struct datum *out)
{
    struct datum text;
    const struct datum *set = call->values[1].kind == DATUM_TEXT ? &call->values[1] : NULL;
    TAPML_TRY(input_text(call, &text));
    return strings_strip(call->budget, &text, set, STRINGS_BOTH, out);
}

static tapml_status
set_case(const struct filter_call *call, enum strings_case letters, struct datum *out)
{
    struct datum text;
    TAPML_TRY(input_text(call, &text));
    return strings_set_case(call->budget, &text, letters, out);
}

static tapml_status filter_upper(const struct filter_call *call, struct datum *out)
{
    return set_case(call, STRINGS_UPPER, out);
}

static tapml_status filter_lower(const struct filter_call *call, struct datum *out)
{
    return set_case(call, STRINGS_LOWER, out);
}

static tapml_status filter_capitalize(const struct filter_call *call, struct datum *out)
{
    return set_case(call, STRINGS_CAPITAL, out);
}

static tapml_status filter_title(const struct filter_call *call, struct datum *out)
{
    return set_case(call, STRINGS_WORDS, out);
}

static tapml_status filter_replace(const struct filter_call *call, struct datum *out)
{
    struct datum text;
    struct datum old;
    struct datum fresh;
    int64_t limit = -1;
    TAPML_TRY(input_text(call, &text));
    TAPML_TRY(spelling_of(call->budget, &call->values[1], &old));
    TAPML_TRY(spelling_of(call->budget, &call->values[2], &fresh));
    TAPML_TRY(arguments_integer(call->name, &call->values[3], -1, &limit));
    return strings_replace(call->budget, &text, &old, &fresh, limit, out);
}

static tapml_status filter_indent(const struct filter_call *call, struct datum *out)
{
    int64_t width = 4;
    struct datum text;
    struct datum lines;
    struct datum *items = NULL;
    const struct datum newline = datum_word("\n");
    TAPML_TRY(arguments_integer(call->name, &call->values[1], 4, &width));
    if (width < 0 || width > INDENT_MAX) {
        return status_fail(TAPML_INVALID, "'indent' expects a width of 0 to %d", INDENT_MAX);
    }
    TAPML_TRY(input_text(call, &text));
    TAPML_TRY(operators_apply(call->budget, "+", &text, &newline, &text));
    TAPML_TRY(strings_lines(call->budget, &text, &lines));
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, lines.list->count, &items, out));
    for (size_t i = 0; i < lines.list->count; ++i) {
        const struct datum *line = &lines.list->items[i];
        const int has_blanks = i == 0 ? datum_is_true(&call->values[2])
                                      : line->text.length > 0 || datum_is_true(&call->values[3]);
        struct datum blanks = datum_text("                                                        "
                                         "        ", // INDENT_MAX of them
                                         has_blanks ? (size_t)width : 0);
        TAPML_TRY(operators_apply(call->budget, "+", &blanks, line, &items[i]));
    }
    return strings_join(call->budget, out->list, &newline, out);
}

static tapml_status filter_join(const struct filter_call *call, struct datum *out)
{
    struct datum between;
    const struct datum_list *items = NULL;
    if (call->values[2].kind != DATUM_UNDEFINED) {
        return status_fail(TAPML_INVALID, "the argument 'attribute' of 'join' is unsupported");
    }
    TAPML_TRY(datum_items(call->budget, &call->values[0], &items));
    TAPML_TRY(spelling_of(call->budget, &call->values[1], &between));
    return strings_join(call->budget, items, &between, out);
}

// -- JSON --------------------------------------------------------------------------------------

static tapml_status
read_separators(struct budget *budget, const struct datum *pair, struct spelling_json *options)
{
    if (pair->kind == DATUM_UNDEFINED || pair->kind == DATUM_NONE) {
        return TAPML_OK;
    }
    if (!datum_is_list(pair) || pair->list->count != 2 || pair->list->items[0].kind != DATUM_TEXT ||
        pair->list->items[1].kind != DATUM_TEXT) {
        return status_fail(TAPML_INVALID, "'tojson' expects two texts as separators");
    }
    struct datum copies[2]; // A part of a text has no zero byte at its end.
    for (int i = 0; i < 2; ++i) {
        const struct datum *text = &pair->list->items[i];
        TAPML_TRY(datum_copy_text(budget, text->text.bytes, text->text.length, &copies[i]));
    }
    options->item_separator = copies[0].text.bytes;
    options->key_separator = copies[1].text.bytes;
    return TAPML_OK;
}

static tapml_status filter_tojson(const struct filter_call *call, struct datum *out)
{
    int64_t indent = -1;
    struct spelling_json options = {.is_ascii = datum_is_true(&call->values[1]),
                                    .sorts_keys = datum_is_true(&call->values[4])};
    TAPML_TRY(arguments_integer(call->name, &call->values[2], -1, &indent));
    if (indent > INDENT_MAX) {
        return status_fail(TAPML_INVALID, "'tojson' expects an indent of at most %d", INDENT_MAX);
    }
    options.indent = indent < 0 ? -1 : (int)indent;
    TAPML_TRY(read_separators(call->budget, &call->values[3], &options));
    return spelling_of_json(call->budget, &call->values[0], &options, out);
}

// -- Lists and maps ----------------------------------------------------------------------------

static tapml_status filter_length(const struct filter_call *call, struct datum *out)
{
    size_t length = 0;
    TAPML_TRY(datum_length(call->budget, &call->values[0], &length));
    *out = datum_integer((int64_t)length);
    return TAPML_OK;
}

static tapml_status pick(const struct filter_call *call, int takes_last, struct datum *out)
{
    const struct datum_list *items = NULL;
    TAPML_TRY(datum_items(call->budget, &call->values[0], &items));
    *out = items->count > 0 ? items->items[takes_last ? items->count - 1 : 0]
                            : datum_undefined("an item of nothing");
    return TAPML_OK;
}

static tapml_status filter_first(const struct filter_call *call, struct datum *out)
{
    return pick(call, 0, out);
}

static tapml_status filter_last(const struct filter_call *call, struct datum *out)
{
    return pick(call, 1, out);
}

static tapml_status filter_list(const struct filter_call *call, struct datum *out)
{
    const struct datum_list *items = NULL;
    TAPML_TRY(datum_items(call->budget, &call->values[0], &items));
    *out = (struct datum){.kind = DATUM_LIST, .list = items};
    return TAPML_OK;
}

static tapml_status filter_reverse(const struct filter_call *call, struct datum *out)
{
    const struct datum *input = &call->values[0];
    const struct datum bounds[3] = {datum_none(), datum_none(), datum_integer(-1)};
    struct datum list = *input;
    if (input->kind != DATUM_TEXT) {
        TAPML_TRY(filter_list(call, &list));
    }
    return operators_slice(call->budget, &list, bounds, out);
}

static tapml_status filter_items(const struct filter_call *call, struct datum *out)
{
    const struct datum *map = &call->values[0];
    const size_t count = map->kind == DATUM_MAP ? map->map->count : 0;
    struct datum *pairs = NULL;
    if (map->kind != DATUM_MAP && map->kind != DATUM_UNDEFINED) {
        return status_fail(TAPML_INVALID, "'%s' expects a map, found %s", call->name,
                           datum_kind_name(map));
    }
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, count, &pairs, out));
    for (size_t i = 0; i < count; ++i) {
        struct datum *pair = NULL;
        TAPML_TRY(datum_make_list(call->budget, DATUM_TUPLE, 2, &pair, &pairs[i]));
        pair[0] = map->map->members[i].key;
        pair[1] = map->map->members[i].value;
    }
    return TAPML_OK;
}

// What a datum is ordered by: a text in small letters, unless cases count.
static tapml_status
sort_key(const struct filter_call *call, int has_case, const struct datum *item, struct datum *key)
{
    if (item->kind != DATUM_TEXT || has_case) {
        *key = *item;
        return TAPML_OK;
    }
    return strings_set_case(call->budget, item, STRINGS_LOWER, key);
}

// Inserts each item behind those that are not greater; quadratic, and paid for by the comparisons.
static tapml_status
sort(const struct filter_call *call, struct datum *keys, struct datum *items, size_t count)
{
    const int is_reversed = datum_is_true(&call->values[1]);
    for (size_t i = 1; i < count; ++i) {
        for (size_t at = i; at > 0; --at) {
            int order = 0;
            TAPML_TRY(datum_compare(call->budget, &keys[at - 1], &keys[at], &order));
            if (is_reversed ? order >= 0 : order <= 0) {
                break;
            }
            const struct datum key = keys[at];
            const struct datum item = items[at];
            keys[at] = keys[at - 1];
            items[at] = items[at - 1];
            keys[at - 1] = key;
            items[at - 1] = item;
        }
    }
    return TAPML_OK;
}

// Sorts a copy of `list`, by the items themselves or by their first items.
static tapml_status sort_list(const struct filter_call *call,
                              const struct datum_list *list,
                              int is_by_first,
                              int has_case,
                              struct datum *out)
{
    struct datum *items = NULL;
    struct datum *keys = NULL;
    struct datum list_of_keys;
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, list->count, &items, out));
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, list->count, &keys, &list_of_keys));
    for (size_t i = 0; i < list->count; ++i) {
        items[i] = list->items[i];
        const struct datum *by = is_by_first ? &items[i].list->items[0] : &items[i];
        TAPML_TRY(sort_key(call, has_case, by, &keys[i]));
    }
    return sort(call, keys, items, list->count);
}

static tapml_status filter_sort(const struct filter_call *call, struct datum *out)
{
    const struct datum_list *list = NULL;
    TAPML_TRY(datum_items(call->budget, &call->values[0], &list));
    return sort_list(call, list, 0, datum_is_true(&call->values[2]), out);
}

static tapml_status filter_dictsort(const struct filter_call *call, struct datum *out)
{
    struct datum pairs;
    struct datum values[] = {call->values[0], call->values[3]}; // Where sort looks for `reverse`.
    const struct filter_call sorting = {call->budget, call->name, values, NULL};
    if (call->values[2].kind != DATUM_UNDEFINED && !datum_is_word(&call->values[2], "key")) {
        return status_fail(TAPML_INVALID, "'dictsort' by another than 'key' is unsupported");
    }
    if (call->values[0].kind == DATUM_UNDEFINED) {
        return status_fail(TAPML_INVALID, "'dictsort' expects a map, found an undefined value");
    }
    TAPML_TRY(filter_items(call, &pairs));
    return sort_list(&sorting, pairs.list, 1, datum_is_true(&call->values[1]), out);
}

// -- Values ------------------------------------------------------------------------------------

static tapml_status filter_default(const struct filter_call *call, struct datum *out)
{
    const struct datum *value = &call->values[0];
    const int is_absent = value->kind == DATUM_UNDEFINED ||
                          (datum_is_true(&call->values[2]) && !datum_is_true(value));
    const int has_default = call->values[1].kind != DATUM_UNDEFINED;
    *out = !is_absent ? *value : has_default ? call->values[1] : datum_text("", 0);
    return TAPML_OK;
}

static tapml_status filter_safe(const struct filter_call *call, struct datum *out)
{
    TAPML_TRY(input_text(call, out)); // Nothing is escaped, so that nothing has to be kept from it.
    out->text.is_safe = 1;
    return TAPML_OK;
}

// The number that a text is, without the white space at its ends.
static tapml_status parse_number(const struct filter_call *call, int is_integer, struct datum *out)
{
    struct datum text;
    char word[NUMBER_BYTES];
    int64_t integer = 0;
    double real = 0;
    TAPML_TRY(strings_strip(call->budget, &call->values[0], NULL, STRINGS_BOTH, &text));
    *out = call->values[1].kind != DATUM_UNDEFINED ? call->values[1]
           : is_integer                            ? datum_integer(0)
                                                   : (struct datum){.kind = DATUM_REAL};
    if (text.text.length >= sizeof(word)) {
        return TAPML_OK;
    }
    memcpy(word, text.text.bytes, text.text.length);
    word[text.text.length] = '\0';
    if (is_integer && text_parse_i64(word, &integer) == TAPML_OK) {
        *out = datum_integer(integer);
    } else if (text_parse_f64(word, &real) == TAPML_OK && (!is_integer || real * real < 1e30)) {
        *out = is_integer ? datum_integer((int64_t)real)
                          : (struct datum){.kind = DATUM_REAL, .real = real};
    }
    return TAPML_OK;
}

static tapml_status to_number(const struct filter_call *call, int is_integer, struct datum *out)
{
    const struct datum *value = &call->values[0];
    if (value->kind == DATUM_TEXT) {
        return parse_number(call, is_integer, out);
    }
    if (!datum_is_number(value)) {
        return status_fail(TAPML_INVALID, "'%s' expects a number or a text, found %s", call->name,
                           datum_kind_name(value));
    }
    if (!is_integer) {
        *out = (struct datum){.kind = DATUM_REAL, .real = datum_real(value)};
        return TAPML_OK;
    }
    if (value->kind == DATUM_REAL && !(value->real * value->real < 1e30)) {
        return status_fail(TAPML_INVALID, "'int' expects a number of at most 15 digits");
    }
    *out = datum_integer(value->kind == DATUM_REAL ? (int64_t)value->real : value->integer);
    return TAPML_OK;
}

static tapml_status filter_int(const struct filter_call *call, struct datum *out)
{
    return to_number(call, 1, out);
}

static tapml_status filter_float(const struct filter_call *call, struct datum *out)
{
    return to_number(call, 0, out);
}

static tapml_status filter_abs(const struct filter_call *call, struct datum *out)
{
    const struct datum *value = &call->values[0];
    if (!datum_is_number(value)) {
        return status_fail(TAPML_INVALID, "'abs' expects a number, found %s",
                           datum_kind_name(value));
    }
    return operators_sign(datum_real(value) < 0 ? "-" : "+", value, out);
}

// -- Filters over lists --------------------------------------------------------------------------

// The value that a path such as "function.name" leads to.
static tapml_status follow(const struct filter_call *call,
                           const struct datum *from,
                           const struct datum *path,
                           struct datum *out)
{
    struct datum names;
    const struct datum dot = datum_word(".");
    if (path->kind != DATUM_TEXT) {
        return operators_item(call->budget, from, path, out);
    }
    TAPML_TRY(strings_split(call->budget, path, &dot, -1, 0, &names));
    *out = *from;
    for (size_t i = 0; i < names.list->count; ++i) {
        const struct datum object = *out;
        TAPML_TRY(operators_item(call->budget, &object, &names.list->items[i], out));
    }
    return TAPML_OK;
}

// Whether an item passes: a test by its name with arguments behind it, or its truth.
static tapml_status
passes(const struct filter_call *call, const struct datum *value, size_t test_at, int *out_passes)
{
    const struct arguments *all = call->arguments;
    struct datum items[ARGUMENTS_MAX];
    char name[32] = "";
    if (all->count <= test_at) {
        *out_passes = datum_is_true(value);
        return TAPML_OK;
    }
    const struct datum *test = &all->items[test_at];
    if (test->kind == DATUM_TEXT && test->text.length < sizeof(name)) {
        memcpy(name, test->text.bytes, test->text.length);
    }
    const size_t count = all->count - test_at;
    if (!conditions_know(name) || count > ARGUMENTS_MAX) {
        return status_fail(TAPML_INVALID, "the test '%s' of '%s' is unsupported", name, call->name);
    }
    memcpy(items, &all->items[test_at], count * sizeof(*items));
    items[0] = *value;
    const struct arguments arguments = {.items = items, .count = count};
    return conditions_apply(call->budget, name, &arguments, out_passes);
}

// select, reject, selectattr and rejectattr, by their names.
static tapml_status filter_select(const struct filter_call *call, struct datum *out)
{
    const struct arguments *all = call->arguments;
    const int has_path = strstr(call->name, "attr") != NULL;
    const int rejects = call->name[0] == 'r';
    const struct datum_list *list = NULL;
    struct datum *items = NULL;
    size_t count = 0;
    if (all->keyword_count > 0 || (has_path && all->count < 2)) {
        return status_fail(TAPML_INVALID, "the arguments of '%s' are unsupported", call->name);
    }
    TAPML_TRY(datum_items(call->budget, &all->items[0], &list));
    for (size_t i = 0; i < list->count; ++i) {
        struct datum value = list->items[i];
        int is_kept = 0;
        if (has_path) {
            TAPML_TRY(follow(call, &list->items[i], &all->items[1], &value));
        }
        TAPML_TRY(passes(call, &value, has_path ? 2 : 1, &is_kept));
        if (is_kept != rejects) {
            TAPML_TRY(budget_grow(call->budget, (void **)&items, count, sizeof(*items)));
            items[count++] = list->items[i];
        }
    }
    struct datum *copy = NULL;
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, count, &copy, out));
    for (size_t i = 0; i < count; ++i) {
        copy[i] = items[i];
    }
    return TAPML_OK;
}

// One item through the filter that `map` names, with the arguments behind the name.
static tapml_status
map_by_name(const struct filter_call *call, const struct datum *item, struct datum *out)
{
    const struct arguments *all = call->arguments;
    struct datum items[ARGUMENTS_MAX];
    char name[32] = "";
    const struct datum *filter = &all->items[1];
    if (filter->kind == DATUM_TEXT && filter->text.length < sizeof(name)) {
        memcpy(name, filter->text.bytes, filter->text.length);
    }
    if (!filters_know(name) || strcmp(name, "map") == 0 || all->count > ARGUMENTS_MAX) {
        return status_fail(TAPML_INVALID, "the filter '%s' of 'map' is unsupported", name);
    }
    memcpy(items, &all->items[1], (all->count - 1) * sizeof(*items));
    items[0] = *item;
    const struct arguments arguments = {items, all->count - 1, all->keywords, all->keyword_count};
    return filters_apply(call->budget, name, &arguments, out);
}

static tapml_status
map_by_attribute(const struct filter_call *call, const struct datum *item, struct datum *out)
{
    static const char *const names[] = {"value", "attribute", "default", NULL};
    struct datum values[3];
    TAPML_TRY(arguments_bind(call->arguments, call->name, names, values));
    TAPML_TRY(follow(call, item, &values[1], out));
    if (out->kind == DATUM_UNDEFINED && values[2].kind != DATUM_UNDEFINED) {
        *out = values[2];
    }
    return TAPML_OK;
}

static tapml_status filter_map(const struct filter_call *call, struct datum *out)
{
    const struct arguments *all = call->arguments;
    const struct datum_list *list = NULL;
    struct datum *items = NULL;
    if (all->count < 2 && all->keyword_count == 0) {
        return status_fail(TAPML_INVALID, "'map' expects a filter or an attribute");
    }
    TAPML_TRY(datum_items(call->budget, &all->items[0], &list));
    TAPML_TRY(datum_make_list(call->budget, DATUM_LIST, list->count, &items, out));
    for (size_t i = 0; i < list->count; ++i) {
        TAPML_TRY(all->count >= 2 ? map_by_name(call, &list->items[i], &items[i])
                                  : map_by_attribute(call, &list->items[i], &items[i]));
    }
    return TAPML_OK;
}

// -- By name -----------------------------------------------------------------------------------

static const struct filter {
    const char *name;
    filter_fn apply;
    const char *parameters[ARGUMENTS_MAX]; // None: all arguments as they are.
} filters[] = {
    {"trim", filter_trim, {"value", "chars"}},
    {"tojson", filter_tojson, {"value", "ensure_ascii", "indent", "separators", "sort_keys"}},
    {"length", filter_length, {"value"}},
    {"count", filter_length, {"value"}},
    {"default", filter_default, {"value", "default_value", "boolean"}},
    {"d", filter_default, {"value", "default_value", "boolean"}},
    {"upper", filter_upper, {"value"}},
    {"lower", filter_lower, {"value"}},
    {"capitalize", filter_capitalize, {"value"}},
    {"title", filter_title, {"value"}},
    {"string", filter_string, {"value"}},
    {"safe", filter_safe, {"value"}},
    {"replace", filter_replace, {"value", "old", "new", "count"}},
    {"indent", filter_indent, {"value", "width", "first", "blank"}},
    {"join", filter_join, {"value", "d", "attribute"}},
    {"first", filter_first, {"value"}},
    {"last", filter_last, {"value"}},
    {"list", filter_list, {"value"}},
    {"reverse", filter_reverse, {"value"}},
    {"items", filter_items, {"value"}},
    {"sort", filter_sort, {"value", "reverse", "case_sensitive"}},
    {"dictsort", filter_dictsort, {"value", "case_sensitive", "by", "reverse"}},
    {"int", filter_int, {"value", "default"}},
    {"float", filter_float, {"value", "default"}},
    {"abs", filter_abs, {"value"}},
    {"map", filter_map, {NULL}},
    {"select", filter_select, {NULL}},
    {"reject", filter_select, {NULL}},
    {"selectattr", filter_select, {NULL}},
    {"rejectattr", filter_select, {NULL}},
};

static const struct filter *find(const char *name)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); ++i) {
        if (strcmp(filters[i].name, name) == 0) {
            return &filters[i];
        }
    }
    return NULL;
}

int filters_know(const char *name)
{
    return find(name) != NULL;
}

tapml_status filters_apply(struct budget *budget,
                           const char *name,
                           const struct arguments *arguments,
                           struct datum *out_value)
{
    struct datum values[ARGUMENTS_MAX];
    const struct filter *filter = find(name);
    const struct filter_call call = {budget, name, values, arguments};
    TAPML_TRY(budget_spend(budget, 1));
    if (!filter) {
        return status_fail(TAPML_INVALID, "the filter '%.100s' is unsupported", name);
    }
    if (filter->parameters[0]) {
        TAPML_TRY(arguments_bind(arguments, name, filter->parameters, values));
    }
    struct datum value;
    TAPML_TRY(filter->apply(&call, &value));
    *out_value = value;
    return TAPML_OK;
}
