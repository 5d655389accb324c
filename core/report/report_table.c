// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_table.h"

#include "base/terminal.h"
#include "base/text.h"
#include "report/report_agreement.h"
#include "report/report_grid.h"
#include "report/report_markup.h"
#include "report/report_verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// With so many targets beside each other a line is shorter than 100 columns; more are a table more.
enum { NAME_WIDTH_MIN = 24, CELL_WIDTH = 20, COLUMNS_MAX = 3 };

// Targets and, behind them, those that were given up: the ones that a table shows.
struct shown_columns {
    const json_t *targets, *given_up;
    size_t begin, end;
    int name_width; // Of the operators, which all targets have.
};

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

static void print_operator(struct text *out, const json_t *target, const char *op)
{
    char cell[64] = "-";
    double margin = NAN;
    const char *worst = report_grid_worst(target, op, &margin);

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

    format_state(cell, report_verdict_model_name(report_verdict_model(target)),
                 report_markup_number(judged, "margin"));
    print_cell(out, cell);
}

static void print_verdict(struct text *out, const json_t *target)
{
    print_cell(out, report_markup_string(target, "verdict"));
}

// -- Rows --------------------------------------------------------------------------------------

// What is known of a target without results: it was not there, went away, or is to come.
static const char *state_of(const struct shown_columns *columns, size_t column)
{
    const json_t *target =
        json_array_get(columns->given_up, column - json_array_size(columns->targets));

    return report_verdict_is_unfinished(target) ? "unfinished" : "given up";
}

static void print_row(struct text *out,
                      const struct shown_columns *columns,
                      const char *name,
                      void (*print)(struct text *out, const json_t *target))
{
    text_format(out, "%-*s", columns->name_width, name);
    for (size_t i = columns->begin; i < columns->end; i++) {
        if (i < json_array_size(columns->targets)) {
            print(out, json_array_get(columns->targets, i));
        } else {
            print_cell(out, state_of(columns, i));
        }
    }
    text_append(out, "\n");
}

static void print_names(struct text *out, const struct shown_columns *columns)
{
    const size_t count = json_array_size(columns->targets);

    text_format(out, "\n%-*s", columns->name_width, "operator");
    for (size_t i = columns->begin; i < columns->end; i++) {
        const json_t *target = i < count ? json_array_get(columns->targets, i)
                                         : json_array_get(columns->given_up, i - count);

        print_cell(out, report_markup_string(target, "name"));
    }
    text_append(out, "\n");
}

// All targets have the operators of the model.
static void print_operators(struct text *out, const struct shown_columns *columns)
{
    const json_t *ops = json_object_get(json_array_get(columns->targets, 0), "ops");

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const char *op = report_markup_string(json_array_get(ops, i), "op");

        text_format(out, "%-*s", columns->name_width, op);
        for (size_t k = columns->begin; k < columns->end; k++) {
            if (k < json_array_size(columns->targets)) {
                print_operator(out, json_array_get(columns->targets, k), op);
            } else {
                print_cell(out, state_of(columns, k));
            }
        }
        text_append(out, "\n");
    }
}

static void print_table(struct text *out, const struct shown_columns *columns)
{
    print_names(out, columns);
    print_operators(out, columns);
    print_row(out, columns, "moved", print_moved);
    print_row(out, columns, "end to end", print_end_to_end);
    print_row(out, columns, "verdict", print_verdict);
}

static int find_name_width(const json_t *targets)
{
    const json_t *ops = json_object_get(json_array_get(targets, 0), "ops");
    int width = NAME_WIDTH_MIN;

    for (size_t i = 0; i < json_array_size(ops); i++) {
        width = terminal_widen(width, report_markup_string(json_array_get(ops, i), "op"));
    }
    return width;
}

static void print_tables(struct text *out, const json_t *targets, const json_t *given_up)
{
    const size_t count = json_array_size(targets) + json_array_size(given_up);
    const int name_width = find_name_width(targets);

    for (size_t begin = 0; count > 1 && begin < count; begin += COLUMNS_MAX) {
        const struct shown_columns columns = {
            .targets = targets,
            .given_up = given_up,
            .name_width = name_width,
            .begin = begin,
            .end = count - begin < COLUMNS_MAX ? count : begin + COLUMNS_MAX};

        print_table(out, &columns);
    }
}

static void print_agreements(struct text *out, const json_t *targets)
{
    const json_t *ops = json_object_get(json_array_get(targets, 0), "ops");

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const char *op = report_markup_string(json_array_get(ops, i), "op");

        if (report_agreement_print(targets, op, out)) {
            text_append(out, "\n");
        }
    }
}

static void print_reasons(struct text *out, const json_t *given_up)
{
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);

        text_format(out, "%s%s = %s%s: %s\n", i == 0 ? "\n" : "",
                    report_markup_string(target, "name"), report_markup_string(target, "backend"),
                    report_verdict_is_unfinished(target) ? "" : " is given up",
                    report_markup_string(target, "reason"));
    }
}

tapml_status report_table_print(const json_t *report)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");
    struct text text;

    text_init(&text);
    print_tables(&text, targets, given_up);
    print_agreements(&text, targets);
    print_reasons(&text, given_up);
    return text_print(&text);
}
