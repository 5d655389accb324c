// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/comparison.h"

#include "base/alloc.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report_maker.h"
#include "report/report_markup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDENTITY_MAX = 6, REAL_SIZE = 32 };

// In the order of the document: what matters most comes first.
enum kind {
    VERDICT,
    MARGIN,
    BLAME,
    TARGET,
    CASE,
    DETAIL, // Of a verdict: its sentence, its counts.
    OFFLOAD,
    COVERAGE,
    SETTING,
    CODE, // Of a result.
    STEP, // Of the offload: which come, and when, follows measured times.
    COST,
    TIME,
    LABEL
};

static const char *const kinds[] = {"verdict", "margin",  "blame",    "target",  "case",
                                    "detail",  "offload", "coverage", "setting", "code",
                                    "step",    "cost",    "time",     "label"};

enum { KINDS = sizeof(kinds) / sizeof(*kinds), KINDS_THAT_COUNT = STEP };

// A list of the report: which members make an item what it is.
struct list {
    const char *name;
    enum kind presence; // Of an item that one of the runs lacks,
    enum kind members;  // of its members.
    const char *identity[IDENTITY_MAX];
};

static const struct list lists[] = {
    {"targets", TARGET, SETTING, {"name"}},
    {"given_up", TARGET, TARGET, {"name"}},
    {"losses", SETTING, SETTING, {"weight"}},
    {"ops", SETTING, DETAIL, {"op"}},
    {"instances", SETTING, DETAIL, {"instance"}},
    {"blamed", BLAME, BLAME, {"instance"}},
    {"cases", CASE, DETAIL, {"instance", "phase", "shape_class", "key"}},
    {"derived", CASE, DETAIL, {"instance", "phase", "shape_class", "source", "label", "key"}},
    {"steps", STEP, STEP, {"step"}},
    {"not_compared", COVERAGE, COVERAGE, {"what", "op", "reason"}},
    {"declared", DETAIL, DETAIL, {"op"}},
    {"invariance", DETAIL, DETAIL, {"op", "axis"}},
    {"measures", DETAIL, DETAIL, {"comparer", "op"}},
    {"forecasts", DETAIL, DETAIL, {"name"}},
    {"ranges", DETAIL, DETAIL, {"type", "instance"}}, // Of a forecast, as the next three.
    {"limits", DETAIL, DETAIL, {"kind", "instance"}},
    {"times", DETAIL, DETAIL, {"what"}},
    {"kinds", DETAIL, DETAIL, {"op"}},
    {"places", COST, COST, {"place"}}, // What the run has cost.
    {"totals", COST, COST, {"currency"}},
    {"stages", COST, COST, {"target", "phase", "stage"}}, // Of the bottleneck.
};

// What is not compared: ids of rows, the version of the document, and what only shows or repeats
// other members.
static const char *const skipped[] = {"format", "id", "grid", "case", "bundle", "values"};

struct difference {
    json_t *object;
    enum kind kind;
    double weight; // Among times: how far apart they are, in ns.
    size_t index;  // As they were found.
};

struct work {
    struct difference *items;
    size_t count, capacity;
    size_t counts[KINDS];
    size_t paired[sizeof(lists) / sizeof(*lists)];
    tapml_status status; // The first failure.
};

// Where members stand in the report.
struct location {
    const char *target, *list, *item; // "" outside of any.
    const char *key;                  // The content key of a case; or NULL.
    const char *path;                 // Of the object, with a dot behind it; or "".
    enum kind kind;                   // Of a member that has none of its own.
};

// -- Differences -------------------------------------------------------------------------------

static int is_any(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static enum kind kind_of(const struct location *location, const char *field)
{
    static const char *const labels[] = {"run.name", "model.name"};
    static const char *const verdicts[] = {"verdict", "state", "end_to_end.agrees",
                                           "driver_check.verdict"};
    static const char *const costs[] = {"source_calls", "run_calls", "run_launches"};

    if (text_ends_with(field, "_ns") || strcmp(field, "finished_s") == 0) {
        return TIME;
    }
    if (location->kind == STEP) {
        return STEP;
    }
    if (strcmp(field, "margin") == 0 || text_ends_with(field, ".margin")) {
        return MARGIN;
    }
    if (strncmp(field, "search.", strlen("search.")) == 0 ||
        strncmp(field, "bottleneck.", strlen("bottleneck.")) == 0 ||
        is_any(field, costs, sizeof(costs) / sizeof(*costs))) {
        return COST;
    }
    if (is_any(field, verdicts, sizeof(verdicts) / sizeof(*verdicts))) {
        return VERDICT;
    }
    if (strncmp(field, "counts.", strlen("counts.")) == 0 ||
        strncmp(field, "end_to_end.", strlen("end_to_end.")) == 0) {
        return DETAIL;
    }
    if (strcmp(field, "plan") == 0) {
        return OFFLOAD;
    }
    if (strcmp(field, "implementation") == 0) {
        return CODE;
    }
    return *location->list == '\0' && is_any(field, labels, sizeof(labels) / sizeof(*labels))
               ? LABEL
               : location->kind;
}

static void fail(struct work *work, tapml_status status)
{
    if (work->status == TAPML_OK) {
        work->status = status;
    }
}

static json_t *make_difference(const struct location *location,
                               enum kind kind,
                               const char *field,
                               const json_t *first,
                               const json_t *second)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "kind", kinds[kind]);
    report_maker_text(&part, "target", location->target);
    report_maker_text(&part, "list", location->list);
    report_maker_text(&part, "item", location->item);
    if (location->key != NULL) {
        report_maker_text(&part, "key", location->key);
    }
    report_maker_text(&part, "field", field);
    report_maker_put(&part, "first", first != NULL ? json_deep_copy(first) : json_null());
    report_maker_put(&part, "second", second != NULL ? json_deep_copy(second) : json_null());
    if (part.failed) {
        json_decref(part.object);
        return NULL;
    }
    return part.object;
}

static void add(struct work *work,
                const struct location *location,
                enum kind kind,
                const char *field,
                const json_t *first,
                const json_t *second)
{
    void *items = work->items;
    json_t *object = make_difference(location, kind, field, first, second);

    if (object == NULL || !alloc_grow(&items, &work->capacity, work->count, sizeof(*work->items))) {
        json_decref(object);
        fail(work, status_no_memory());
        return;
    }
    work->items = items;
    work->items[work->count] = (struct difference){
        .object = object,
        .kind = kind,
        .weight = kind == TIME ? fabs(json_number_value(first) - json_number_value(second)) : 0,
        .index = work->count};
    work->count++;
    work->counts[kind]++;
}

static void
add_presence(struct work *work, const struct location *location, enum kind kind, int is_in_first)
{
    add(work, location, kind, "present", is_in_first ? json_true() : json_false(),
        is_in_first ? json_false() : json_true());
}

// -- Members -----------------------------------------------------------------------------------

static void compare_members(struct work *work,
                            const struct location *location,
                            const json_t *first,
                            const json_t *second);

static int is_same(const json_t *first, const json_t *second)
{
    char first_digits[REAL_SIZE], second_digits[REAL_SIZE];

    if (!json_is_real(first) || !json_is_real(second)) {
        return json_equal(first, second);
    }
    (void)snprintf(first_digits, REAL_SIZE, "%.9g", json_real_value(first));
    (void)snprintf(second_digits, REAL_SIZE, "%.9g", json_real_value(second));
    return strcmp(first_digits, second_digits) == 0;
}

static const struct list *find_list(const char *name)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        if (strcmp(lists[i].name, name) == 0) {
            return &lists[i];
        }
    }
    return NULL;
}

// "layers.0/mlp/silu, decode, x=[1,64]"; the content key is shown beside it.
static void print_item(const struct list *list, const json_t *item, struct text *out)
{
    for (size_t i = 0; i < IDENTITY_MAX && list->identity[i] != NULL; i++) {
        const char *part = report_markup_string(item, list->identity[i]);

        if (strcmp(list->identity[i], "key") != 0 && *part != '\0') {
            text_format(out, "%s%s", out->length > 0 ? ", " : "", part);
        }
    }
}

// What an item is, with a number behind it, since a list may have two of a kind.
static void identify(struct work *work,
                     const struct list *list,
                     const json_t *item,
                     struct table *seen,
                     struct text *out)
{
    size_t count = 0;

    text_clear(out);
    for (size_t i = 0; i < IDENTITY_MAX && list->identity[i] != NULL; i++) {
        text_format(out, "%s\x1f", report_markup_string(item, list->identity[i]));
    }
    tapml_status status = text_status(out);

    if (status == TAPML_OK) {
        (void)table_find(seen, out->data, &count);
        status = table_set(seen, out->data, count + 1);
        text_format(out, "%zu", count);
    }
    fail(work, status != TAPML_OK ? status : text_status(out));
}

// A list that is being compared.
struct pairing {
    struct work *work;
    const struct list *list;
    const struct location *around;
    const json_t *first, *second;
    struct table second_of; // Identity to the place in `second`.
    struct text identity, item;
    uint8_t *is_paired; // One for each item of `second`.
    size_t last;        // The place in `second` of the pair before, from 1.
    int is_reordered;
};

static struct location location_item(struct pairing *pairing, const json_t *item)
{
    const int is_target = strcmp(pairing->list->name, "targets") == 0;
    const char *key = json_string_value(json_object_get(item, "key"));

    text_clear(&pairing->item);
    print_item(pairing->list, item, &pairing->item);
    fail(pairing->work, text_status(&pairing->item));
    const char *name = pairing->item.failed ? "" : pairing->item.data;

    return (struct location){.target = is_target ? report_markup_string(item, "name")
                                                 : pairing->around->target,
                             .list = is_target ? "" : pairing->list->name,
                             .item = is_target ? "" : name,
                             .key = key,
                             .path = "",
                             .kind = pairing->list->members};
}

static void index_second(struct pairing *pairing)
{
    struct work *work = pairing->work;
    struct table seen;

    table_init(&seen);
    for (size_t i = 0; i < json_array_size(pairing->second) && work->status == TAPML_OK; i++) {
        identify(work, pairing->list, json_array_get(pairing->second, i), &seen,
                 &pairing->identity);
        if (work->status == TAPML_OK) {
            fail(work, table_set(&pairing->second_of, pairing->identity.data, i));
        }
    }
    table_release(&seen);
}

static void compare_item(struct pairing *pairing, const json_t *item)
{
    struct work *work = pairing->work;
    const struct location location = location_item(pairing, item);
    size_t at = 0;

    if (!table_find(&pairing->second_of, pairing->identity.data, &at)) {
        add_presence(work, &location, pairing->list->presence, 1);
        return;
    }
    pairing->is_paired[at] = 1;
    pairing->is_reordered |= at + 1 < pairing->last;
    pairing->last = at + 1;
    work->paired[pairing->list - lists]++;
    compare_members(work, &location, item, json_array_get(pairing->second, at));
}

static void compare_first(struct pairing *pairing)
{
    struct work *work = pairing->work;
    struct table seen;

    table_init(&seen);
    for (size_t i = 0; i < json_array_size(pairing->first) && work->status == TAPML_OK; i++) {
        const json_t *item = json_array_get(pairing->first, i);

        identify(work, pairing->list, item, &seen, &pairing->identity);
        if (work->status == TAPML_OK) {
            compare_item(pairing, item);
        }
    }
    table_release(&seen);
}

static void add_rest_of_second(struct pairing *pairing)
{
    for (size_t i = 0; i < json_array_size(pairing->second); i++) {
        if (!pairing->is_paired[i]) {
            const struct location location =
                location_item(pairing, json_array_get(pairing->second, i));

            add_presence(pairing->work, &location, pairing->list->presence, 0);
        }
    }
}

static json_t *list_steps(const json_t *steps)
{
    json_t *names = json_array();

    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *name = json_object_get(json_array_get(steps, i), "step");

        if (json_array_append_new(names, json_deep_copy(name)) != 0) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

static void add_order(struct pairing *pairing)
{
    const struct location location = {
        .target = pairing->around->target, .list = pairing->list->name, .item = ""};
    json_t *first = list_steps(pairing->first), *second = list_steps(pairing->second);

    add(pairing->work, &location, STEP, "order", first, second);
    json_decref(first);
    json_decref(second);
}

static void compare_list(struct work *work,
                         const struct location *around,
                         const struct list *list,
                         const json_t *first,
                         const json_t *second)
{
    struct pairing pairing = {
        .work = work, .list = list, .around = around, .first = first, .second = second};

    table_init(&pairing.second_of);
    text_init(&pairing.identity);
    text_init(&pairing.item);
    pairing.is_paired = alloc_array(json_array_size(second) + 1, 1);
    fail(work, pairing.is_paired != NULL ? TAPML_OK : status_no_memory());
    index_second(&pairing);
    compare_first(&pairing);
    if (work->status == TAPML_OK) {
        add_rest_of_second(&pairing);
    }
    if (work->status == TAPML_OK && pairing.is_reordered && strcmp(list->name, "steps") == 0) {
        add_order(&pairing);
    }
    alloc_free(pairing.is_paired);
    text_release(&pairing.item);
    text_release(&pairing.identity);
    table_release(&pairing.second_of);
}

static void compare_member(struct work *work,
                           const struct location *location,
                           const char *name,
                           const json_t *first,
                           const json_t *second)
{
    const struct list *list = find_list(name);
    struct text path;

    if (list != NULL && (json_is_array(first) || json_is_array(second))) {
        compare_list(work, location, list, first, second);
        return;
    }
    text_init(&path);
    text_format(&path, "%s%s", location->path, name);
    if (json_is_object(first) || json_is_object(second)) {
        struct location inner = *location;

        text_append(&path, ".");
        inner.path = path.failed ? "" : path.data;
        compare_members(work, &inner, first, second);
    } else if (!path.failed && !is_same(first, second)) {
        add(work, location, kind_of(location, path.data), path.data, first, second);
    }
    fail(work, text_status(&path));
    text_release(&path);
}

// A member that one of them lacks is null there.
static void compare_members(struct work *work,
                            const struct location *location,
                            const json_t *first,
                            const json_t *second)
{
    const char *name = NULL;
    json_t *value = NULL;

    json_object_foreach((json_t *)(uintptr_t)first, name, value)
    {
        if (!is_any(name, skipped, sizeof(skipped) / sizeof(*skipped))) {
            compare_member(work, location, name, value, json_object_get(second, name));
        }
    }
    json_object_foreach((json_t *)(uintptr_t)second, name, value)
    {
        if (json_object_get(first, name) == NULL &&
            !is_any(name, skipped, sizeof(skipped) / sizeof(*skipped))) {
            compare_member(work, location, name, NULL, value);
        }
    }
}

// -- The document ------------------------------------------------------------------------------

static int order(const void *left, const void *right)
{
    const struct difference *a = left, *b = right;

    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

void comparison_put_side(struct report_maker *out_part, const struct comparison_side *side)
{
    const json_t *run = json_object_get(side->report, "run");
    const json_t *model = json_object_get(side->report, "model");
    const json_t *source = json_object_get(side->report, "source");

    report_maker_text(out_part, "dir", side->dir);
    report_maker_text(out_part, "name", report_markup_string(run, "name"));
    report_maker_text(out_part, "verdict", report_markup_string(side->report, "verdict"));
    report_maker_text(out_part, "model", report_markup_string(model, "name"));
    report_maker_text(out_part, "source", report_markup_string(source, "backend"));
    report_maker_text(out_part, "host", report_markup_string(run, "host"));
}

static void put_side(struct report_maker *made, const char *key, const struct comparison_side *side)
{
    struct report_maker part = report_maker_begin();

    comparison_put_side(&part, side);
    report_maker_part(made, key, &part);
}

// How many items were compared in pairs.
static void put_compared(struct report_maker *made, const struct work *work)
{
    struct report_maker part = report_maker_begin();

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        report_maker_count(&part, lists[i].name, work->paired[i]);
    }
    report_maker_part(made, "compared", &part);
}

static void put_counts(struct report_maker *made, const struct work *work)
{
    struct report_maker part = report_maker_begin();

    for (size_t i = 0; i < KINDS; i++) {
        report_maker_count(&part, kinds[i], work->counts[i]);
    }
    report_maker_part(made, "counts", &part);
}

static void put_differences(struct report_maker *made, const struct work *work)
{
    json_t *array = json_array();

    for (size_t i = 0; i < work->count; i++) {
        made->failed |= json_array_append(array, work->items[i].object) != 0;
    }
    report_maker_put(made, "differences", array);
}

static struct report_maker
make(struct work *work, const struct comparison_side *first, const struct comparison_side *second)
{
    struct report_maker made = report_maker_begin();
    size_t counted = 0;

    for (size_t i = 0; i < KINDS_THAT_COUNT; i++) {
        counted += work->counts[i];
    }
    if (work->count > 0) {
        qsort(work->items, work->count, sizeof(*work->items), order);
    }
    report_maker_text(&made, "format", "tapml.comparison/1");
    report_maker_put(&made, "alike", json_boolean(counted == 0));
    put_side(&made, "first", first);
    put_side(&made, "second", second);
    put_compared(&made, work);
    put_counts(&made, work);
    put_differences(&made, work);
    return made;
}

tapml_status comparison_create(const struct comparison_side *first,
                               const struct comparison_side *second,
                               json_t **out_comparison)
{
    const struct location whole = {
        .target = "", .list = "", .item = "", .path = "", .kind = SETTING};
    struct work work = {.status = TAPML_OK};
    tapml_status status = TAPML_OK;

    compare_members(&work, &whole, first->report, second->report);
    status = work.status;
    if (status == TAPML_OK) {
        const struct report_maker made = make(&work, first, second);

        status = report_maker_finish(&made);
        if (status == TAPML_OK) {
            *out_comparison = made.object;
        } else {
            json_decref(made.object);
        }
    }
    for (size_t i = 0; i < work.count; i++) {
        json_decref(work.items[i].object);
    }
    alloc_free(work.items);
    return status;
}

int comparison_is_alike(const json_t *comparison)
{
    return json_is_true(json_object_get(comparison, "alike"));
}
