// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_table.h"

#include "base/text.h"
#include "report/report_grid.h"
#include "report/report_markup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 24, CELL_WIDTH = 20 };

// -- Cells -------------------------------------------------------------------------------------

static void print_cell(struct text *out, const char *cell)
{
    text_format(out, " %-*s", CELL_WIDTH, cell);
}

static void format_state(char cell[64], const char *state, double margin)
{
    if (isnan(margin)) {
        (void)snprintf(cell, 64, "%s", state); // Short, as all states are.
    } else {
        (void)snprintf(cell, 64, "%s %.3g", state, margin); // Likewise.
    }
}

// The most telling state of the operator's instances on a target, and the worst margin.
static void print_operator(struct text *out, const json_t *target, const char *op)
{
    const json_t *instances = json_object_get(target, "instances");
    const char *worst = NULL;
    double margin = NAN;
    char cell[64] = "-";

    for (size_t i = 0; i < json_array_size(instances); i++) {
        const json_t *instance = json_array_get(instances, i);
        const char *state = report_markup_string(instance, "state");

        if (strcmp(report_markup_string(instance, "op"), op) != 0) {
            continue;
        }
        margin = fmax(margin, report_markup_number(instance, "margin")); // Of one NaN, the other.
        if (worst == NULL || report_grid_rank(state) < report_grid_rank(worst)) {
            worst = state;
        }
    }
    if (worst != NULL) {
        format_state(cell, worst, margin);
    }
    print_cell(out, cell);
}

static void print_moved(struct text *out, const json_t *target)
{
    const json_t *counts = json_object_get(target, "counts");
    char cell[64];

    (void)snprintf(cell, sizeof(cell), "%lld of %lld", // Fits.
                   (long long)report_markup_count(counts, "moved"),
                   (long long)report_markup_count(counts, "instances"));
    print_cell(out, cell);
}

static void print_end_to_end(struct text *out, const json_t *target)
{
    const json_t *judged = json_object_get(target, "end_to_end");
    char cell[64];

    format_state(cell, json_is_true(json_object_get(judged, "agrees")) ? "agrees" : "diverges",
                 report_markup_number(judged, "margin"));
    print_cell(out, cell);
}

static void print_verdict(struct text *out, const json_t *target)
{
    print_cell(out, report_markup_string(target, "verdict"));
}

// -- Rows --------------------------------------------------------------------------------------

// What is known of such a target is that it was not there, or went away.
static void print_given_up(struct text *out, const json_t *report)
{
    for (size_t i = 0; i < json_array_size(json_object_get(report, "given_up")); i++) {
        print_cell(out, "given up");
    }
    text_append(out, "\n");
}

static void print_row(struct text *out,
                      const json_t *report,
                      const char *name,
                      void (*print)(struct text *out, const json_t *target))
{
    const json_t *targets = json_object_get(report, "targets");

    text_format(out, "%-*s", NAME_WIDTH, name);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        print(out, json_array_get(targets, i));
    }
    print_given_up(out, report);
}

static void print_names(struct text *out, const json_t *report)
{
    const json_t *const lists[] = {json_object_get(report, "targets"),
                                   json_object_get(report, "given_up")};

    text_format(out, "\n%-*s", NAME_WIDTH, "operator");
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < json_array_size(lists[k]); i++) {
            print_cell(out, report_markup_string(json_array_get(lists[k], i), "name"));
        }
    }
    text_append(out, "\n");
}

// All targets have the operators of the model.
static void print_operators(struct text *out, const json_t *report)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *ops = json_object_get(json_array_get(targets, 0), "ops");

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const char *op = report_markup_string(json_array_get(ops, i), "op");

        text_format(out, "%-*s", NAME_WIDTH, op);
        for (size_t k = 0; k < json_array_size(targets); k++) {
            print_operator(out, json_array_get(targets, k), op);
        }
        print_given_up(out, report);
    }
}

static void print_table(struct text *out, const json_t *report)
{
    print_names(out, report);
    print_operators(out, report);
    print_row(out, report, "moved", print_moved);
    print_row(out, report, "end to end", print_end_to_end);
    print_row(out, report, "verdict", print_verdict);
}

static void print_reasons(struct text *out, const json_t *given_up)
{
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);

        text_format(out, "%s%s = %s is given up: %s\n", i == 0 ? "\n" : "",
                    report_markup_string(target, "name"), report_markup_string(target, "backend"),
                    report_markup_string(target, "reason"));
    }
}

tapml_status report_table_print(const json_t *report)
{
    const json_t *given_up = json_object_get(report, "given_up");
    struct text text;

    text_init(&text);
    if (json_array_size(json_object_get(report, "targets")) + json_array_size(given_up) > 1) {
        print_table(&text, report);
    }
    print_reasons(&text, given_up);
    return text_print(&text);
}
