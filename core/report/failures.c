// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/failures.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/table.h"
#include "report/history.h"
#include "report/report_markup.h"
#include "report/report_verdict.h"

#include <string.h>

static tapml_status add(struct failure_list *list, const struct failure *failure)
{
    void *items = list->items;

    if (!alloc_grow(&items, &list->capacity, list->count, sizeof(*list->items))) {
        return status_no_memory();
    }
    list->items = items;
    list->items[list->count++] = *failure;
    return TAPML_OK;
}

// What all failures of a target have in common.
static tapml_status
describe_target(struct failure_list *list, const json_t *target, struct failure *out_failure)
{
    const char *device =
        arena_format(list->arena, "%s:%s", report_markup_string(target, "component"),
                     report_markup_string(target, "device"));

    *out_failure = (struct failure){.target = report_markup_string(target, "name"),
                                    .device = device,
                                    .device_name = report_markup_string(target, "device_name"),
                                    .driver = report_markup_string(target, "driver"),
                                    .instance = "",
                                    .phase = "",
                                    .shape_class = "",
                                    .source = "",
                                    .label = "",
                                    .key = ""};
    return device != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status
add_cases(struct failure_list *list, const struct failure *of_target, const json_t *cases)
{
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        const enum history_class class_ = history_class_of(item);
        struct failure failure = *of_target;

        failure.op = report_markup_string(item, "op");
        failure.instance = report_markup_string(item, "instance");
        failure.phase = report_markup_string(item, "phase");
        failure.shape_class = report_markup_string(item, "shape_class");
        failure.source = report_markup_string(item, "source");
        failure.label = report_markup_string(item, "label");
        failure.key = report_markup_string(item, "key");
        failure.verdict = report_markup_string(item, "verdict");
        failure.reason = report_markup_string(item, "reason");
        failure.is_bad = class_ == HISTORY_BAD;
        if (class_ != HISTORY_NONE) {
            TAPML_TRY(add(list, &failure));
        }
    }
    return TAPML_OK;
}

// Blamed without a failed case of its own.
static tapml_status
add_together(struct failure_list *list, const struct failure *of_target, const json_t *blamed)
{
    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i);
        struct failure failure = *of_target;

        failure.op = report_markup_string(item, "op");
        failure.instance = report_markup_string(item, "instance");
        failure.phase = "in the model";
        failure.verdict = "fail";
        failure.reason = report_markup_string(item, "reason");
        failure.is_bad = 1;
        if (!json_is_true(json_object_get(item, "alone"))) {
            TAPML_TRY(add(list, &failure));
        }
    }
    return TAPML_OK;
}

static tapml_status
add_driver(struct failure_list *list, const struct failure *of_target, const json_t *check)
{
    const char *verdict = report_markup_string(check, "verdict");
    struct failure failure = *of_target;

    failure.op = FAILURES_DRIVER;
    failure.is_bad = strcmp(verdict, "failed") == 0;
    failure.verdict = failure.is_bad ? "fail" : "pass";
    failure.reason = report_markup_string(check, "sentence");
    return failure.is_bad || strcmp(verdict, "passed") == 0 ? add(list, &failure) : TAPML_OK;
}

static tapml_status
add_model(struct failure_list *list, const struct failure *of_target, const json_t *target)
{
    const enum report_model model = report_verdict_model(target);
    struct failure failure = *of_target;

    failure.op = FAILURES_MODEL;
    failure.is_bad = model == REPORT_MODEL_DIVERGES;
    failure.verdict = failure.is_bad ? "fail" : "pass";
    failure.reason = report_markup_string(json_object_get(target, "end_to_end"), "sentence");
    return model != REPORT_MODEL_NOT_JUDGED ? add(list, &failure) : TAPML_OK;
}

static size_t count_bad(const struct failure_list *list, size_t first)
{
    size_t count = 0;

    for (size_t i = first; i < list->count; i++) {
        count += list->items[i].is_bad != 0;
    }
    return count;
}

// Of a target that is wrong for none of these reasons, such as one that lacks what it has to have.
static tapml_status
add_verdict(struct failure_list *list, const struct failure *of_target, const json_t *target)
{
    struct failure failure = *of_target;
    struct text text;

    text_init(&text);
    report_verdict_print(target, 0, &text);
    failure.op = FAILURES_TARGET;
    failure.is_bad = 1;
    failure.verdict = "fail";
    failure.reason = text_keep(&text, list->arena);
    return failure.reason != NULL ? add(list, &failure) : status_no_memory();
}

static tapml_status read_target(struct failure_list *list, const json_t *target)
{
    const size_t first = list->count;
    struct failure of_target;

    TAPML_TRY(describe_target(list, target, &of_target));
    TAPML_TRY(add_driver(list, &of_target, json_object_get(target, "driver_check")));
    TAPML_TRY(add_cases(list, &of_target, json_object_get(target, "cases")));
    TAPML_TRY(add_cases(list, &of_target, json_object_get(target, "derived")));
    TAPML_TRY(add_together(list, &of_target, json_object_get(target, "blamed")));
    TAPML_TRY(add_model(list, &of_target, target));
    const int is_wrong = strcmp(report_markup_string(target, "verdict"), "wrong") == 0;

    return is_wrong && count_bad(list, first) == 0 ? add_verdict(list, &of_target, target)
                                                   : TAPML_OK;
}

static tapml_status read_all(struct failure_list *list, const json_t *report)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");

    for (size_t i = 0; i < json_array_size(targets); i++) {
        TAPML_TRY(read_target(list, json_array_get(targets, i)));
    }
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);
        struct failure failure;

        TAPML_TRY(describe_target(list, target, &failure));
        failure.device = ""; // It is not there.
        failure.op = FAILURES_TARGET;
        failure.is_bad = 1;
        failure.verdict = "error";
        failure.reason = report_markup_string(target, "reason");
        TAPML_TRY(add(list, &failure));
    }
    return TAPML_OK;
}

tapml_status failures_read(const json_t *report, struct failure_list *out_list)
{
    struct failure_list list = {.arena = arena_create()};
    const tapml_status status = list.arena != NULL ? read_all(&list, report) : status_no_memory();

    if (status == TAPML_OK) {
        *out_list = list;
    } else {
        failures_release(&list);
    }
    return status;
}

void failures_release(struct failure_list *list)
{
    arena_destroy(list->arena);
    alloc_free(list->items);
    *list = (struct failure_list){.count = 0};
}

// -- Two runs ----------------------------------------------------------------------------------

// What a failure is, but for its key.
static tapml_status identify(const struct failure *failure, struct text *out)
{
    text_clear(out);
    text_format(out, "%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s", failure->target, failure->op,
                failure->instance, failure->phase, failure->shape_class, failure->source,
                failure->label);
    return text_status(out);
}

static tapml_status
count_earlier(const struct failure_list *earlier, struct table *counts, struct text *name)
{
    for (size_t i = 0; i < earlier->count; i++) {
        size_t count = 0;

        if (earlier->items[i].is_bad) {
            TAPML_TRY(identify(&earlier->items[i], name));
            (void)table_find(counts, name->data, &count);
            TAPML_TRY(table_set(counts, name->data, count + 1));
        }
    }
    return TAPML_OK;
}

static tapml_status settle(struct failure_list *list, struct table *counts, struct text *name)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t count = 0;

        if (!list->items[i].is_bad) {
            continue;
        }
        TAPML_TRY(identify(&list->items[i], name));
        if (table_find(counts, name->data, &count) && count > 0) {
            list->items[i].state = FAILURE_BEFORE;
            TAPML_TRY(table_set(counts, name->data, count - 1));
        }
    }
    return TAPML_OK;
}

tapml_status failures_compare(const struct failure_list *earlier, struct failure_list *io_list)
{
    struct table counts;
    struct text name;

    table_init(&counts);
    text_init(&name);
    tapml_status status = count_earlier(earlier, &counts, &name);

    if (status == TAPML_OK) {
        status = settle(io_list, &counts, &name);
    }
    text_release(&name);
    table_release(&counts);
    return status;
}

size_t failures_count(const struct failure_list *list, enum failure_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++) {
        count += list->items[i].is_bad && list->items[i].state == state;
    }
    return count;
}

const char *failures_state_name(enum failure_state state)
{
    static const char *const names[] = {[FAILURE_NEW] = "new",
                                        [FAILURE_BEFORE] = "before",
                                        [FAILURE_KNOWN] = "known",
                                        [FAILURE_EXPIRED] = "expired"};

    return names[state];
}

void failures_print_item(const struct failure *failure, struct text *out)
{
    const char *const parts[] = {failure->instance, failure->phase, failure->shape_class,
                                 failure->label};
    const char *between = "";

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (*parts[i] != '\0') {
            text_format(out, "%s%s", between, parts[i]);
            between = ", ";
        }
    }
}
