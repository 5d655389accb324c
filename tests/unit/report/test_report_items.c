// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The tables of the lists against docs/report.schema.json.
#include "base/json_file.h"
#include "harness/scratch.h"
#include "report/report_declared.h"
#include "report/report_invariance.h"
#include "report/report_items.h"

#include <criterion/criterion.h>
#include <string.h>

enum { STEPS_MAX = 8 };

// What the schema says of an item of each list, by the keys that lead there.
static const struct {
    const struct report_list *list;
    const char *path[STEPS_MAX];
} items[] = {
    {&report_items_cases, {"$defs", "case"}},
    {&report_items_ops, {"$defs", "op"}},
    {&report_items_instances, {"$defs", "target", "properties", "instances", "items"}},
    {&report_items_uncovered, {"$defs", "target", "properties", "not_compared", "items"}},
    {&report_declared_list, {"$defs", "target", "properties", "declared", "items"}},
    {&report_invariance_list, {"$defs", "target", "properties", "invariance", "items"}},
};

static int refers_to(const json_t *property, const char *definition)
{
    const char *to = json_string_value(json_object_get(property, "$ref"));

    return to != NULL && strcmp(to, definition) == 0;
}

static int is_of_kind(const json_t *property, enum report_member_kind kind)
{
    const char *type = json_string_value(json_object_get(property, "type"));

    switch (kind) {
    case REPORT_TEXT:
        return (type != NULL && strcmp(type, "string") == 0) ||
               refers_to(property, "#/$defs/state") ||
               json_is_array(json_object_get(property, "enum"));
    case REPORT_COUNT:
        return (type != NULL && strcmp(type, "integer") == 0) ||
               refers_to(property, "#/$defs/count");
    case REPORT_MARGIN:
        return refers_to(property, "#/$defs/margin");
    case REPORT_MADE:
        break;
    }
    return json_object_size(property) > 0;
}

static int has_text(const json_t *array, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (strcmp(json_string_value(json_array_get(array, i)), text) == 0) {
            return 1;
        }
    }
    return 0;
}

static void compare(const struct report_list *list, const json_t *described)
{
    json_t *properties = json_object_get(described, "properties");
    const json_t *required = json_object_get(described, "required");
    void *at = json_object_iter(properties);
    size_t count = 0;

    for (size_t i = 0; i < list->member_count; i++) {
        const struct report_member *member = &list->members[i];

        cr_assert_not_null(at, "the schema ends before '%s'", member->key);
        cr_expect_str_eq(json_object_iter_key(at), member->key);
        cr_expect(is_of_kind(json_object_iter_value(at), member->kind), "the kind of '%s'",
                  member->key);
        cr_expect_eq(has_text(required, member->key), member->is_there == NULL,
                     "whether '%s' is required", member->key);
        count += member->is_there == NULL;
        at = json_object_iter_next(properties, at);
    }
    cr_expect_null(at, "the schema also has '%s'", json_object_iter_key(at));
    cr_expect_eq(json_array_size(required), count, "what else is required");
}

Test(report_items, the_schema_describes_the_members)
{
    json_t *schema = NULL;

    cr_assert_eq(json_file_load(scratch_source("docs/report.schema.json"), &schema), TAPML_OK, "%s",
                 status_message());
    for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
        const json_t *described = schema;

        for (size_t k = 0; k < STEPS_MAX && items[i].path[k] != NULL; k++) {
            described = json_object_get(described, items[i].path[k]);
        }
        cr_assert_not_null(described, "list %zu", i);
        compare(items[i].list, described);
    }
    json_decref(schema);
}

// What a cell or a word shows is a member: another key would show nothing.
Test(report_items, cells_and_words_name_members)
{
    for (size_t i = 0; i < sizeof(items) / sizeof(*items); i++) {
        const struct report_list *list = items[i].list;

        for (size_t k = 0; k < list->cell_count + list->word_count; k++) {
            const char *key =
                k < list->cell_count ? list->cells[k].key : list->words[k - list->cell_count].key;
            int is_member = key == NULL;

            for (size_t m = 0; m < list->member_count; m++) {
                is_member |= key != NULL && strcmp(list->members[m].key, key) == 0;
            }
            cr_expect(is_member, "list %zu has no '%s'", i, key != NULL ? key : "");
        }
    }
}
