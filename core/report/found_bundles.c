// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/found_bundles.h"

#include "report/report_cells.h"
#include "report/report_list.h"
#include "report/report_maker.h"
#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>

enum { ID_SHOWN = 12 };

// -- The document ------------------------------------------------------------------------------

static int is_said_apart(const char *key)
{
    return strcmp(key, "id") == 0 || strcmp(key, "kind") == 0;
}

// The tags of the file, or of a place: members with arrays, in the order of the keys.
static struct report_maker make_tags(const struct bundle_tags *tags, size_t place)
{
    struct report_maker made = report_maker_begin();

    for (size_t i = 0; i < tags->count; i++) {
        const struct bundle_tag *tag = &tags->items[i];
        json_t *values = json_object_get(made.object, tag->key);

        if (tag->place != place || is_said_apart(tag->key)) {
            continue;
        }
        if (values == NULL) {
            values = json_array();
            report_maker_put(&made, tag->key, values);
        }
        made.failed |= json_array_append_new(values, report_maker_string(tag->value)) != 0;
    }
    return made;
}

static void put_found(struct report_maker *made, json_t *items, const struct bundle_found *found)
{
    struct report_maker part = report_maker_begin();
    const struct report_maker tags = make_tags(&found->tags, 0);
    json_t *recorded = json_array();

    report_maker_text(&part, "file", found->path);
    report_maker_text(&part, "id", found->tags.id);
    report_maker_text(&part, "kind", bundle_tags_first(&found->tags, "kind"));
    report_maker_count(&part, "cases", found->tags.cases);
    report_maker_part(&part, "tags", &tags);
    report_maker_put(&part, "recorded", recorded);
    for (size_t place = 1; place <= found->tags.places; place++) {
        const struct report_maker of_place = make_tags(&found->tags, place);

        report_maker_append(&part, recorded, &of_place);
    }
    report_maker_append(made, items, &part);
}

tapml_status found_bundles_make(const struct bundle_search *search, json_t **out_items)
{
    struct report_maker made = {.object = json_array()};

    made.failed = made.object == NULL;
    for (size_t i = 0; i < search->count; i++) {
        put_found(&made, made.object, &search->items[i]);
    }
    const tapml_status status = report_maker_finish(&made);

    if (status != TAPML_OK) {
        json_decref(made.object);
        return status;
    }
    *out_items = made.object;
    return TAPML_OK;
}

// -- The table ---------------------------------------------------------------------------------

static const char *print_id(const json_t *item, const char *key, char *out)
{
    (void)snprintf(out, REPORT_MARKUP_SHORT, "%.*s", ID_SHOWN, report_markup_string(item, key));
    return out;
}

// The first value, and how many more there are.
static const char *print_first(const char *first, size_t count, char *out)
{
    enum { FIRST_SHOWN = REPORT_MARKUP_SHORT - 14, MORE_MAX = 999999 };
    const unsigned more = count - 1 < MORE_MAX ? (unsigned)(count - 1) : MORE_MAX;

    if (count > 1) {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "%.*s +%u", FIRST_SHOWN, first, more);
    } else {
        (void)snprintf(out, REPORT_MARKUP_SHORT, "%.*s", REPORT_MARKUP_SHORT - 1, first);
    }
    return out;
}

static const char *first_of(const json_t *tags, const char *key)
{
    const char *first = json_string_value(json_array_get(json_object_get(tags, key), 0));

    return first != NULL ? first : "";
}

// Of a driver, the check.
static const char *print_op(const json_t *item, const char *key, char *out)
{
    const json_t *tags = json_object_get(item, "tags");
    const json_t *ops = json_object_get(tags, key);

    if (json_array_size(ops) == 0) {
        return print_first(first_of(tags, "check"), 1, out);
    }
    return print_first(catalogue_shorten(first_of(tags, key)), json_array_size(ops), out);
}

static const char *print_model(const json_t *item, const char *key, char *out)
{
    return print_first(first_of(json_object_get(item, "tags"), key), 1, out);
}

static const char *print_verdict(const json_t *item, const char *key, char *out)
{
    const json_t *recorded = json_object_get(item, "recorded");
    size_t count = 0;
    const char *first = "";

    for (size_t i = 0; i < json_array_size(recorded); i++) {
        const json_t *place = json_array_get(recorded, i);

        first = *first != '\0' ? first : first_of(place, key);
        count += json_array_size(json_object_get(place, key));
    }
    return print_first(first, count, out);
}

static const char *print_recorded(const json_t *item, const char *key, char *out)
{
    const json_t *recorded = json_object_get(item, key);
    const json_t *place = json_array_get(recorded, 0);
    char name[REPORT_MARKUP_SHORT] = "";

    if (place != NULL) {
        (void)snprintf(name, sizeof(name), "%.22s:%.22s", first_of(place, "component"),
                       first_of(place, "device"));
    }
    return print_first(name, json_array_size(recorded), out);
}

static const struct report_word words[] = {
    {"id", -ID_SHOWN, "id", print_id},
    {"kind", -6, "kind", report_cells_word_text},
    {"cases", 5, "cases", report_cells_word_count},
    {"op", -10, "op", print_op},
    {"verdict", -7, "verdict", print_verdict},
    {"recorded on", -11, "recorded", print_recorded},
    {"model", -5, "model", print_model},
    {"file", -4, "file", report_cells_word_text},
};

static const struct report_list list = {.words = words,
                                        .word_count = sizeof(words) / sizeof(*words)};

void found_bundles_print(const json_t *items)
{
    report_list_print_lines(&list, items, 0);
}
