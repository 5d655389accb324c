// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_target.h"

#include "report/report_driver.h"
#include "report/report_html_blamed.h"
#include "report/report_html_cell.h"
#include "report/report_html_plot.h"
#include "report/report_html_time.h"
#include "report/report_html_work.h"
#include "report/report_items.h"
#include "report/report_markup.h"
#include "report/report_measures.h"
#include "report/report_verdict.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_DENSE = 16, NAMES_SHOWN = 4 };

// -- The verdict -------------------------------------------------------------------------------

// The op kinds that are blamed, or fail in derived cases, as a list in words.
static size_t list_ops(const json_t *target, enum report_verdict verdict, struct text *out)
{
    const char *names[REPORT_VERDICT_OPS];
    const size_t count = report_verdict_ops(target, verdict, names);
    const size_t shown = count <= NAMES_SHOWN ? count : NAMES_SHOWN - 1;

    for (size_t i = 0; i < shown; i++) {
        text_append(out, i == 0 ? "" : i + 1 < count ? ", " : " and ");
        REPORT_MARKUP(out, "<code>{}</code>", names[i]);
    }
    if (shown < count) {
        text_format(out, " and %zu more kinds of operators", count - shown);
    }
    return count;
}

static void print_wrong(const json_t *target, enum report_verdict verdict, struct text *out)
{
    const char *name = report_markup_string(target, "name");

    switch (verdict) {
    case REPORT_RIGHT:
        break;
    case REPORT_DRIVER:
        REPORT_MARKUP(out, "The driver of <bdi>{}</bdi> is wrong.", name);
        break;
    case REPORT_OPS:
        text_append(out, list_ops(target, verdict, out) == 1 ? " is" : " are");
        REPORT_MARKUP(out, " wrong on <bdi>{}</bdi>.", name);
        break;
    case REPORT_DIVERGES:
        REPORT_MARKUP(out, "<bdi>{}</bdi> diverges from the source.", name);
        break;
    case REPORT_UNEXPLAINED:
        REPORT_MARKUP(
            out, "<bdi>{}</bdi> diverged from the source, and no operator could be blamed.", name);
        break;
    case REPORT_DERIVED:
        text_append(out, list_ops(target, verdict, out) == 1 ? " fails" : " fail");
        REPORT_MARKUP(out, " on <bdi>{}</bdi> in cases made up around this run.", name);
        break;
    case REPORT_VARIES:
        REPORT_MARKUP(out, "<bdi>{}</bdi> computes something else where it must not.", name);
        break;
    case REPORT_LACKS:
        REPORT_MARKUP(out, "<bdi>{}</bdi> lacks operators that it was asked to run.", name);
        break;
    case REPORT_STALE:
        REPORT_MARKUP(out, "<bdi>{}</bdi> has stale results, which the next start replays.", name);
        break;
    }
}

void report_html_target_print_headline(const json_t *target, struct text *out)
{
    const enum report_verdict verdict = report_verdict_of(target);

    if (verdict == REPORT_RIGHT) {
        REPORT_MARKUP(out,
                      "<span class=\"mark good\" aria-hidden=\"true\">\xe2\x9c\x93</span> "
                      "<b class=\"good\"><bdi>{}</bdi> is right.</b> It computes what the source "
                      "computes.",
                      report_markup_string(target, "name"));
        return;
    }
    text_append(
        out, "<span class=\"mark bad\" aria-hidden=\"true\">\xe2\x9c\x95</span> <b class=\"bad\">");
    print_wrong(target, verdict, out);
    text_append(out, "</b>");
}

static void print_judged(const json_t *target, struct text *out)
{
    const enum report_model model = report_verdict_model(target);

    REPORT_MARKUP(
        out,
        model == REPORT_MODEL_NOT_JUDGED
            ? "The whole model is <span class=\"soft\">{}.</span></p>\n"
        : model == REPORT_MODEL_AGREES
            ? "Run like this, the whole model agrees with the source: <span class=\"soft\">"
              "{}.</span></p>\n"
            : "Run like this, the whole model <b class=\"bad\">diverges</b> from the source: "
              "{}.</p>\n",
        report_markup_string(json_object_get(target, "end_to_end"), "sentence"));
}

static void print_lede(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    const json_t *judged = json_object_get(target, "end_to_end");
    const int64_t moved = report_markup_count(counts, "moved");
    const int64_t wanted = report_markup_count(counts, "wanted");
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<p class=\"lede\">{} of {} operators of the model run there{}. ",
                  report_markup_thousands_of(counts, "moved", s.a),
                  report_markup_thousands_of(counts, "wanted", s.b),
                  moved < wanted ? "; the others stay on the source" : "");
    if (report_driver_is_wrong(target)) {
        text_append(out, "No operator was judged around it.</p>\n");
    } else {
        print_judged(target, out);
    }
    if (report_markup_string(target, "nonfinite")[0] != '\0') {
        REPORT_MARKUP(out, "<p class=\"note\"><b>Not finite:</b> {}.</p>\n",
                      report_markup_string(target, "nonfinite"));
    }
    if (report_markup_string(target, "common")[0] != '\0') {
        REPORT_MARKUP(out, "<p class=\"note\"><b>Most of it fails:</b> {}.</p>\n",
                      report_markup_string(target, "common"));
    }
    if (report_markup_string(judged, "unexplained")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>Unexplained:</b> the model diverged {}; no call of any "
                      "operator was found to fail.</p>\n",
                      report_markup_string(judged, "unexplained"));
    }
    if (report_markup_string(target, "faults")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>Faults were injected on purpose</b>, to try the tool: "
                      "<code>{}</code></p>\n",
                      report_markup_string(target, "faults"));
    }
    report_html_target_observers(target, out);
    if (report_markup_string(target, "ring")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>Weights went through a part of their memory</b>: "
                      "{}</p>\n",
                      report_markup_string(target, "ring"));
    }
    if (report_markup_string(target, "tuning")[0] != '\0') {
        REPORT_MARKUP(out, "<p class=\"note\">{}</p>\n", report_markup_string(target, "tuning"));
    }
}

static void print_metadata(struct text *out, const char *value, const char *label)
{
    REPORT_MARKUP(out, "<div><b>{}</b><span>{}</span></div>\n", value, label);
}

static void print_all_metadata(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    const int64_t uncompared =
        report_markup_count(counts, "unsupported") + report_markup_count(counts, "skipped") +
        report_markup_count(counts, "stale") + report_markup_count(counts, "derived_not_judged");
    const int64_t failed =
        report_markup_count(counts, "failed") + report_markup_count(counts, "errors");
    struct report_markup_shorts s;

    text_append(out, "<div class=\"facts\">\n");
    print_metadata(out, report_markup_thousands_of(counts, "blamed", s.a),
                   "blamed: stay on the source");
    print_metadata(out, report_markup_thousands_of(counts, "cases", s.a),
                   "recorded cases replayed");
    print_metadata(out, report_markup_thousands(failed, s.a), "of them beyond their limit");
    print_metadata(out, report_markup_thousands_of(counts, "derived", s.a),
                   "more cases made up around them");
    print_metadata(out, report_markup_thousands(uncompared, s.a),
                   "not compared, each with its reason");
    print_metadata(out, report_markup_time(report_markup_count(target, "offload_ns"), s.a),
                   "to move operators and prove each move");
    text_append(out, "</div>\n");
}

// -- The plan ----------------------------------------------------------------------------------

// A name that may break behind its underscores.
static void print_column(const char *name, struct text *out)
{
    const char *rest = name;

    text_append(out, "<th scope=\"col\">");
    for (const char *at = strchr(rest, '_'); at != NULL; at = strchr(rest, '_')) {
        char part[128];

        (void)snprintf(part, sizeof(part), "%.*s", (int)(at - rest + 1), rest);
        REPORT_MARKUP(out, "{}<wbr>", part);
        rest = at + 1;
    }
    REPORT_MARKUP(out, "{}</th>", rest);
}

static void print_grid_rows(const json_t *rows, struct text *out)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *cells = json_object_get(row, "cells");

        REPORT_MARKUP(out, "<tr><th scope=\"row\">{}</th>", report_markup_string(row, "name"));
        for (size_t k = 0; k < json_array_size(cells); k++) {
            const json_t *cell = json_array_get(cells, k);

            report_html_cell_print(json_string_value(json_object_get(cell, "state")),
                                   report_markup_number(cell, "margin"), out);
        }
        text_append(out, "</tr>\n");
    }
}

static void print_grid(const json_t *target, struct text *out)
{
    const json_t *grid = json_object_get(target, "grid");
    const json_t *columns = json_object_get(grid, "columns");
    const json_t *rows = json_object_get(grid, "rows");

    REPORT_MARKUP(
        out,
        "<h2>How close each operator is to its limit</h2>\n"
        "<p class=\"soft\">A row is a layer of the model, a column a kind of operator. A "
        "number is the worst difference from the source in parts of what is allowed: 1 is "
        "the limit.</p>\n<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Margins by layer and operator\"><table class=\"grid{}\"><thead><tr>"
        "<th scope=\"col\">layer</th>",
        json_array_size(rows) > ROWS_DENSE ? " dense" : "");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        print_column(catalogue_shorten(json_string_value(json_array_get(columns, i))), out);
    }
    text_append(out, "</tr></thead><tbody>\n");
    print_grid_rows(rows, out);
    text_append(out, "</tbody></table></div>\n");
    report_html_cell_print_key(out);
}

// -- Time --------------------------------------------------------------------------------------

static int64_t longest_time(const json_t *ops)
{
    int64_t longest = 1;

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const int64_t source = report_markup_count(json_array_get(ops, i), "cases_source_ns");
        const int64_t target = report_markup_count(json_array_get(ops, i), "cases_target_ns");

        longest = source > longest ? source : longest;
        longest = target > longest ? target : longest;
    }
    return longest;
}

// Two bars, the source's above the target's. Their lengths are attributes, since the policy allows
// no style beside the page's own.
static void print_bars(const json_t *op, int64_t longest, struct text *out)
{
    const int64_t source = report_markup_count(op, "cases_source_ns");
    const int64_t target = report_markup_count(op, "cases_target_ns");

    text_format(out,
                "<td><svg class=\"bars\" viewBox=\"0 0 200 14\" width=\"200\" height=\"14\" "
                "aria-hidden=\"true\"><rect class=\"s\" width=\"%.1f\" height=\"6\" "
                "rx=\"1\"/><rect class=\"t\" "
                "y=\"8\" width=\"%.1f\" height=\"6\" rx=\"1\"/></svg></td>",
                200 * (double)source / (double)longest, 200 * (double)target / (double)longest);
}

static void print_times(const json_t *target, struct text *out)
{
    const json_t *ops = json_object_get(target, "ops");
    const char *name = report_markup_string(target, "name");
    const int64_t longest = longest_time(ops);

    REPORT_MARKUP(
        out,
        "<h2>Where the time goes</h2>\n<p class=\"soft\">The same recorded calls on both sides, "
        "one "
        "after the other, each waited for; and one prompt through the model as it ended up, where "
        "only "
        "what runs on <bdi>{}</bdi> is counted. A kernel start is one piece of work handed to the "
        "device.</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Time by "
        "operator\">"
        "<table class=\"list sortable\"><thead><tr>",
        name);
    report_list_print_headings(&report_items_ops, name, out);
    text_append(out,
                "<td><span class=\"k s\"></span>source <span class=\"k t\"></span>target</td></tr>"
                "</thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);

        text_append(out, "<tr>");
        report_list_print_cells(&report_items_ops, op, out);
        print_bars(op, longest, out);
        text_append(out, "</tr>\n");
    }
    text_append(out, "</tbody></table></div>\n");
}

// -- The whole ---------------------------------------------------------------------------------

void report_html_target_print(const json_t *report, size_t index, struct text *out)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *target = json_array_get(targets, index);
    const int is_only = json_array_size(targets) == 1;

    text_format(out, "<section class=\"target\" id=\"target-%zu\"><%s class=\"verdict\">",
                index + 1, is_only ? "h1" : "h2");
    report_html_target_print_headline(target, out);
    text_append(out, is_only ? "</h1>\n" : "</h2>\n");
    print_lede(target, out);
    print_all_metadata(target, out);
    report_driver_print_html(target, out);
    report_html_blamed_print(target, out);
    print_grid(target, out);
    report_html_plot_print(target, out);
    report_measures_print_html(target, out);
    print_times(target, out);
    report_html_time_print(report, target, out);
    report_html_work_print(report, target, out);
    text_append(out, "</section>\n");
}

void report_html_target_observers(const json_t *place, struct text *out)
{
    if (report_markup_string(place, "observers")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>Observers of plugins</b> saw each call of {}, and may "
                      "have replaced what it computed: <code>{}</code></p>\n",
                      json_object_get(place, "name") ? report_markup_string(place, "name")
                                                     : "the source",
                      report_markup_string(place, "observers"));
    }
}
