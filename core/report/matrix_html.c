// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/matrix_html.h"

#include "report/report_html.h"
#include "report/report_html_cell.h"
#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>

enum { HASH_SHOWN = 12 };

// -- Cells -------------------------------------------------------------------------------------

// Verdicts of targets are words.
static void print_verdict(const char *state, const char *link, struct text *out)
{
    const char *class_ = strcmp(state, "right") == 0   ? "a"
                         : strcmp(state, "wrong") == 0 ? "x"
                                                       : "u";

    REPORT_MARKUP(out, "<td class=\"{}\">", class_);
    if (link != NULL) {
        REPORT_MARKUP(out, "<a href=\"{}\">{}</a></td>", link, state);
    } else {
        REPORT_MARKUP(out, "{}</td>", state);
    }
}

static void print_cell(const json_t *cell, int is_verdict, struct text *out)
{
    const char *state = json_string_value(json_object_get(cell, "state"));
    const char *link = json_string_value(json_object_get(cell, "link"));

    if (is_verdict && state != NULL) {
        print_verdict(state, link, out);
    } else {
        report_html_cell_print_link(state, report_markup_number(cell, "margin"), link, out);
    }
}

static void print_row(const json_t *row, struct text *out)
{
    const json_t *cells = json_object_get(row, "cells");
    const char *what = report_markup_string(row, "what");
    const int is_op = strcmp(what, "op") == 0;

    REPORT_MARKUP(out, "<tr><th scope=\"row\">{}</th>",
                  is_op ? catalogue_shorten(report_markup_string(row, "op")) : what);
    for (size_t i = 0; i < json_array_size(cells); i++) {
        print_cell(json_array_get(cells, i), strcmp(what, "verdict") == 0, out);
    }
    text_append(out, "</tr>\n");
}

// -- Tables ------------------------------------------------------------------------------------

// Of a target that was given up, what the run's file says.
static void print_device(const json_t *column, struct text *out)
{
    const char *component = report_markup_string(column, "component");

    if (*component == '\0') {
        REPORT_MARKUP(out, "<code>{}</code>", report_markup_string(column, "backend"));
    } else {
        REPORT_MARKUP(out, "<code>{}:{}</code>", component, report_markup_string(column, "device"));
    }
}

static void print_heading(const json_t *column, int by_device, struct text *out)
{
    const char *driver = report_markup_string(column, "driver");

    text_append(out, "<th scope=\"col\">");
    if (by_device) {
        print_device(column, out);
        REPORT_MARKUP(out, "<br>{}", report_markup_string(column, "device_name"));
    } else {
        REPORT_MARKUP(out, "{}<br>", report_markup_string(column, "name"));
        print_device(column, out);
    }
    REPORT_MARKUP(out, "{}{}</th>", *driver != '\0' ? ", " : "", driver);
}

// Models of one name are told apart by their bytes.
static void print_model(const json_t *model, int by_device, struct text *out)
{
    const json_t *columns = json_object_get(model, "columns");
    const json_t *rows = json_object_get(model, "rows");
    char hash[HASH_SHOWN + 1];

    (void)snprintf(hash, sizeof(hash), "%.*s", HASH_SHOWN, report_markup_string(model, "hash"));
    REPORT_MARKUP(out,
                  "<section><h2>{} <span class=\"where\"><code>{}</code> <code>{}</code></span>"
                  "</h2>\n<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
                  "aria-label=\"Operators of {}\"><table class=\"grid sides\"><thead><tr>"
                  "<th scope=\"col\">operator</th>",
                  report_markup_string(model, "name"), report_markup_string(model, "architecture"),
                  hash, report_markup_string(model, "name"));
    for (size_t i = 0; i < json_array_size(columns); i++) {
        print_heading(json_array_get(columns, i), by_device, out);
    }
    text_append(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        print_row(json_array_get(rows, i), out);
    }
    text_append(out, "</tbody></table></div></section>\n");
}

static void print_run(const json_t *run, struct text *out)
{
    const char *link = json_string_value(json_object_get(run, "link"));
    const char *name = report_markup_string(run, "name");

    if (link != NULL) {
        REPORT_MARKUP(out, "<tr><td><a href=\"{}\">{}</a></td>", link, name);
    } else {
        REPORT_MARKUP(out, "<tr><td>{}</td>", name);
    }
    REPORT_MARKUP(out,
                  "<td>{}</td><td>{}</td><td><code>{}</code></td><td>tapml-host {}</td></tr>\n",
                  report_markup_string(run, "verdict"), report_markup_string(run, "model"),
                  report_markup_string(run, "source"), report_markup_string(run, "host"));
}

static void print_runs(const json_t *runs, struct text *out)
{
    text_append(out, "<section><h2 id=\"runs\">The runs</h2>\n<div class=\"scroll tall\" "
                     "tabindex=\"0\"><table class=\"list sortable filtered\"><thead><tr><th>run"
                     "</th><th>verdict</th><th>model</th><th>source</th><th>host</th></tr></thead>"
                     "<tbody>\n");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        print_run(json_array_get(runs, i), out);
    }
    text_append(out, "</tbody></table></div></section>\n");
}

// -- The page ----------------------------------------------------------------------------------

static size_t count_with(const json_t *runs, const char *verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(runs); i++) {
        count += strcmp(report_markup_string(json_array_get(runs, i), "verdict"), verdict) == 0;
    }
    return count;
}

static void print_top(const json_t *matrix, int by_device, struct text *out)
{
    const json_t *runs = json_object_get(matrix, "runs");
    struct report_markup_shorts s;

    REPORT_MARKUP(
        out,
        "<header><span class=\"brand\">TapML</span><span>verdicts of runs</span></header>\n"
        "<h1 class=\"verdict\">{} of {} runs are right.</h1>\n<p class=\"lede\">A table for each "
        "model: operators by {}. A number is the worst difference from the source in parts of what "
        "is allowed, above 1 is wrong; it leads to the report of the last run that judged the "
        "operator there. A cell is empty where none did.</p>\n",
        report_markup_thousands((int64_t)count_with(runs, "right"), s.a),
        report_markup_thousands((int64_t)json_array_size(runs), s.b),
        by_device ? "device" : "target");
    report_html_cell_print_key(out);
}

void matrix_html_print(const json_t *matrix, struct text *out)
{
    const json_t *models = json_object_get(matrix, "models");
    const int by_device = strcmp(report_markup_string(matrix, "by"), "device") == 0;

    report_html_begin("verdicts of runs", out);
    print_top(matrix, by_device, out);
    for (size_t i = 0; i < json_array_size(models); i++) {
        print_model(json_array_get(models, i), by_device, out);
    }
    print_runs(json_object_get(matrix, "runs"), out);
    report_html_end(out);
}
