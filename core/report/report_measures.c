// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_measures.h"

#include "base/alloc.h"
#include "base/terminal.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct report_measure *
find(const struct report_measures *measures, const struct measured *measure, const char *op)
{
    for (size_t i = 0; i < measures->count; i++) {
        struct report_measure *item = &measures->items[i];

        if (strcmp(item->op, op) == 0 && strcmp(item->comparer, measure->comparer) == 0 &&
            strcmp(item->unit, measure->unit) == 0) {
            return item;
        }
    }
    return NULL;
}

static tapml_status take(struct report_measures *measures,
                         const struct measured *measure,
                         const struct verdict *verdict)
{
    struct report_measure *item = find(measures, measure, verdict->op_name);

    if (item == NULL) {
        if (!alloc_grow((void **)&measures->items, &measures->capacity, measures->count,
                        sizeof(*measures->items))) {
            return status_no_memory();
        }
        item = &measures->items[measures->count++];
        *item = (struct report_measure){.comparer = measure->comparer,
                                        .unit = measure->unit,
                                        .op = verdict->op_name,
                                        .instance = "",
                                        .param = "",
                                        .worst = NAN};
    }
    item->outputs++;
    item->beyond += measure->limit > 0 && measure->value > measure->limit;
    if (measure->value > item->worst || (isnan(item->worst) && !isnan(measure->value))) {
        item->worst = measure->value;
        item->limit = measure->limit;
        item->instance = verdict->instance;
        item->param = measure->param;
    }
    return TAPML_OK;
}

static tapml_status take_all(struct report_measures *measures, const struct verdict_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        for (size_t k = 0; k < list->items[i].measure_count; k++) {
            TAPML_TRY(take(measures, &list->items[i].measures[k], &list->items[i]));
        }
    }
    return TAPML_OK;
}

tapml_status report_measures_make(const struct verdict_list *list,
                                  struct report_measures *out_measures)
{
    struct report_measures measures = {.count = 0};
    const tapml_status status = take_all(&measures, list);

    if (status != TAPML_OK) {
        report_measures_release(&measures);
        return status;
    }
    *out_measures = measures;
    return TAPML_OK;
}

void report_measures_release(struct report_measures *measures)
{
    alloc_free(measures->items);
    *measures = (struct report_measures){.count = 0};
}

void report_measures_print(const struct report_measures *measures, struct text *out)
{
    int op_width = 24, comparer_width = 32;

    for (size_t i = 0; i < measures->count; i++) {
        op_width = terminal_widen(op_width, measures->items[i].op);
        comparer_width = terminal_widen(comparer_width, measures->items[i].comparer);
    }
    if (measures->count > 0) {
        text_format(out, "%-*s %-*s %8s %8s %12s  %s\n", op_width, "operator", comparer_width,
                    "comparer", "outputs", "beyond", "worst", "of");
    }
    for (size_t i = 0; i < measures->count; i++) {
        const struct report_measure *item = &measures->items[i];

        text_format(out, "%-*s %-*s %8" PRIu64 " %8" PRIu64 " %12.4g  %s, %s (%s)\n", op_width,
                    item->op, comparer_width, item->comparer, item->outputs, item->beyond,
                    item->worst, item->instance, item->param, item->unit);
    }
}

static void put_item(struct report_maker *maker, json_t *array, const struct report_measure *item)
{
    struct report_maker part = report_maker_begin();

    report_maker_text(&part, "comparer", item->comparer);
    report_maker_text(&part, "unit", item->unit);
    report_maker_text(&part, "op", item->op);
    report_maker_count(&part, "outputs", item->outputs);
    report_maker_count(&part, "beyond", item->beyond);
    report_maker_put(&part, "worst", report_maker_margin(item->worst));
    report_maker_put(&part, "limit", report_maker_margin(item->limit > 0 ? item->limit : NAN));
    report_maker_text(&part, "instance", item->instance);
    report_maker_text(&part, "output", item->param);
    report_maker_append(maker, array, &part);
}

void report_measures_put(const struct verdict_list *list, struct report_maker *io_target)
{
    json_t *array = json_array();
    struct report_measures measures = {.count = 0};

    io_target->failed |= report_measures_make(list, &measures) != TAPML_OK;
    for (size_t i = 0; i < measures.count; i++) {
        put_item(io_target, array, &measures.items[i]);
    }
    report_maker_put(io_target, "measures", array);
    report_measures_release(&measures);
}

// Infinity is a text in JSON, what no comparer could tell null.
static double worst_of(const json_t *item)
{
    const json_t *worst = json_object_get(item, "worst");

    return json_is_number(worst)   ? json_number_value(worst)
           : json_is_string(worst) ? INFINITY
                                   : -INFINITY;
}

// Of the comparer of item `first`, which stands nowhere before.
static void print_line(const json_t *items, size_t first, struct text *out)
{
    const json_t *worst = json_array_get(items, first);
    const char *comparer = report_markup_string(worst, "comparer");
    uint64_t outputs = 0, beyond = 0;

    for (size_t i = first; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);

        if (strcmp(report_markup_string(item, "comparer"), comparer) == 0) {
            outputs += report_markup_count(item, "outputs");
            beyond += report_markup_count(item, "beyond");
            worst = worst_of(item) > worst_of(worst) ? item : worst;
        }
    }
    text_format(out,
                "%s: %" PRIu64 " of %" PRIu64 " outputs beyond its limit, worst %.4g (%s) at %s, "
                "%s\n",
                comparer, beyond, outputs, worst_of(worst), report_markup_string(worst, "unit"),
                report_markup_string(worst, "instance"), report_markup_string(worst, "output"));
}

void report_measures_print_lines(const json_t *target, struct text *out)
{
    const json_t *items = json_object_get(target, "measures");

    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *comparer = report_markup_string(json_array_get(items, i), "comparer");
        size_t first = 0;

        while (strcmp(report_markup_string(json_array_get(items, first), "comparer"), comparer) !=
               0) {
            first++;
        }
        if (first == i) {
            print_line(items, i, out);
        }
    }
}

static void print_number(const json_t *value, struct text *out)
{
    char text[32] = "-";

    if (json_is_number(value)) {
        (void)snprintf(text, sizeof(text), "%.4g", json_number_value(value));
    } else if (json_is_string(value)) {
        (void)snprintf(text, sizeof(text), "%.30s", json_string_value(value));
    }
    REPORT_MARKUP(out, "<td>{}</td>", text);
}

static void print_row(const json_t *item, struct text *out)
{
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<tr><td><code>{}</code></td><td><code>{}</code>, {}</td>",
                  report_markup_string(item, "op"), report_markup_string(item, "comparer"),
                  report_markup_string(item, "unit"));
    REPORT_MARKUP(out, "<td>{}</td>", report_markup_thousands_of(item, "outputs", s.a));
    REPORT_MARKUP(out, "<td>{}</td>", report_markup_thousands_of(item, "beyond", s.a));
    print_number(json_object_get(item, "worst"), out);
    print_number(json_object_get(item, "limit"), out);
    REPORT_MARKUP(out, "<td><code>{}</code>, {}</td></tr>\n",
                  report_markup_string(item, "instance"), report_markup_string(item, "output"));
}

void report_measures_print_html(const json_t *target, struct text *out)
{
    const json_t *items = json_object_get(target, "measures");

    if (json_array_size(items) == 0) {
        return;
    }
    text_append(out, "<h3>Measures of plugins</h3>\n<p class=\"soft\">What comparers found of each "
                     "output; no verdict depends on it.</p>\n<div class=\"scroll\" "
                     "tabindex=\"0\" role=\"region\" aria-label=\"Measures of plugins\"><table "
                     "class=\"list\"><thead><tr><th>operator</th><th>comparer</th><th>outputs</"
                     "th><th>beyond its "
                     "limit</th><th>worst</th><th>limit</th><th>of</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < json_array_size(items); i++) {
        print_row(json_array_get(items, i), out);
    }
    text_append(out, "</tbody></table></div>\n");
}
