// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_refusals.h"

#include "base/alloc.h"
#include "base/table.h"
#include "report/report_markup.h"

#include <string.h>

struct refusals {
    struct table known; // Op and reason to the position of the line.
    struct refusal {
        const json_t *first; // Instance.
        size_t count;
    } * lines;
    size_t count, capacity;
};

static tapml_status begin_line(struct refusals *refusals, const char *key, const json_t *instance)
{
    if (!alloc_grow((void **)&refusals->lines, &refusals->capacity, refusals->count,
                    sizeof(*refusals->lines))) {
        return status_no_memory();
    }
    refusals->lines[refusals->count] = (struct refusal){.first = instance, .count = 1};
    return table_set(&refusals->known, key, refusals->count++);
}

static tapml_status add(struct refusals *refusals, const json_t *instance)
{
    struct text key;
    size_t at = 0;

    text_init(&key);
    text_format(&key, "%s %s", report_markup_string(instance, "op"),
                report_markup_string(instance, "reason"));
    tapml_status status = text_status(&key);

    if (status == TAPML_OK && table_find(&refusals->known, key.data, &at)) {
        refusals->lines[at].count++;
    } else if (status == TAPML_OK) {
        status = begin_line(refusals, key.data, instance);
    }
    text_release(&key);
    return status;
}

static void print_line(const struct refusal *refusal, struct text *out)
{
    const json_t *first = refusal->first;

    text_format(out, "unsupported: %s (%s)", report_markup_string(first, "instance"),
                report_markup_string(first, "op"));
    if (refusal->count > 1) {
        text_format(out, " and %zu more", refusal->count - 1);
    }
    text_format(out, ": %s\n", report_markup_string(first, "reason"));
}

void report_refusals_print(const json_t *target, struct text *out)
{
    const json_t *instances = json_object_get(target, "instances");
    struct refusals refusals = {.count = 0};
    tapml_status status = TAPML_OK;

    table_init(&refusals.known);
    for (size_t i = 0; i < json_array_size(instances) && status == TAPML_OK; i++) {
        const json_t *instance = json_array_get(instances, i);

        if (strcmp(report_markup_string(instance, "state"), "unsupported") == 0) {
            status = add(&refusals, instance);
        }
    }
    for (size_t i = 0; i < refusals.count; i++) {
        print_line(&refusals.lines[i], out);
    }
    out->failed |= status != TAPML_OK;
    table_release(&refusals.known);
    alloc_free(refusals.lines);
}

int report_refusals_has(const json_t *target, const char *op, const char *reason)
{
    const json_t *instances = json_object_get(target, "instances");

    for (size_t i = 0; i < json_array_size(instances); i++) {
        const json_t *instance = json_array_get(instances, i);

        if (strcmp(report_markup_string(instance, "state"), "unsupported") == 0 &&
            strcmp(report_markup_string(instance, "op"), op) == 0 &&
            strcmp(report_markup_string(instance, "reason"), reason) == 0) {
            return 1;
        }
    }
    return 0;
}
