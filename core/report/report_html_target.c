// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_target.h"

#include "report/report_html_blamed.h"
#include "report/report_html_work.h"
#include "report/report_items.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_DENSE = 16, NAMES_MAX = 256, NAMES_SHOWN = 4 };

static int is_right(const json_t *target)
{
    return strcmp(report_markup_string(target, "verdict"), "right") == 0;
}

// -- The verdict -------------------------------------------------------------------------------

// The op kinds that are blamed, each once, as a list in words.
static size_t list_blamed(const json_t *target, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");
    const json_t *ops = json_object_get(target, "ops");
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(ops) && count < NAMES_MAX; i++) {
        const char *name = report_markup_string(json_array_get(ops, i), "op");

        for (size_t k = 0; k < json_array_size(blamed); k++) {
            if (strcmp(report_markup_string(json_array_get(blamed, k), "op"), name) == 0) {
                names[count++] = name;
                break;
            }
        }
    }
    const size_t shown = count <= NAMES_SHOWN ? count : NAMES_SHOWN - 1;

    for (size_t i = 0; i < shown; i++) {
        text_append(out, i == 0 ? "" : i + 1 < count ? ", " : " and ");
        REPORT_MARKUP(out, "<code>{}</code>", report_markup_op(names[i]));
    }
    if (shown < count) {
        text_format(out, " and %zu more kinds of operators", count - shown);
    }
    return count;
}

// The op kinds that only derived cases show to be wrong.
static void list_derived_failures(const json_t *target, struct text *out)
{
    const json_t *ops = json_object_get(target, "ops");
    int has_any = 0;

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);
        const char *key = NULL;
        json_t *kind = NULL;
        int64_t failed = 0;

        json_object_foreach(json_object_get(op, "derived"), key, kind)
        {
            failed += report_markup_count(kind, "failed");
        }
        if (failed > 0) {
            REPORT_MARKUP(out, "{}<code>{}</code>", has_any ? ", " : "",
                          report_markup_op(report_markup_string(op, "op")));
            has_any = 1;
        }
    }
}

void report_html_target_print_headline(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    const char *unexplained =
        report_markup_string(json_object_get(target, "end_to_end"), "unexplained");
    const char *name = report_markup_string(target, "name");
    struct text ops;

    text_init(&ops);
    const size_t blamed = list_blamed(target, &ops);

    if (is_right(target)) {
        REPORT_MARKUP(out,
                      "<span class=\"mark good\" aria-hidden=\"true\">\xe2\x9c\x93</span> "
                      "<b class=\"good\"><bdi>{}</bdi> is right.</b> It computes what the source "
                      "computes.",
                      name);
    } else {
        text_append(
            out,
            "<span class=\"mark bad\" aria-hidden=\"true\">\xe2\x9c\x95</span> <b class=\"bad\">");
        if (blamed > 0) {
            text_append_bytes(out, ops.data, ops.length);
            REPORT_MARKUP(out, " {} wrong on <bdi>{}</bdi>.</b>", blamed == 1 ? "is" : "are", name);
        } else if (!json_is_true(
                       json_object_get(json_object_get(target, "end_to_end"), "agrees"))) {
            REPORT_MARKUP(out, "<bdi>{}</bdi> diverges from the source.</b>", name);
        } else if (unexplained[0] != '\0') {
            REPORT_MARKUP(
                out, "<bdi>{}</bdi> diverged from the source, and no operator could be blamed.</b>",
                name);
        } else if (report_markup_count(counts, "derived_failed") > 0) {
            list_derived_failures(target, out);
            REPORT_MARKUP(out, " fails on <bdi>{}</bdi> in cases made up around this run.</b>",
                          name);
        } else {
            REPORT_MARKUP(out, "<bdi>{}</bdi> lacks operators that it was asked to run.</b>", name);
        }
    }
    out->failed |= ops.failed;
    text_release(&ops);
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
    REPORT_MARKUP(
        out,
        json_is_true(json_object_get(judged, "agrees"))
            ? "Run like this, the whole model agrees with the source: <span class=\"soft\">"
              "{}.</span></p>\n"
            : "Run like this, the whole model <b class=\"bad\">diverges</b> from the source: "
              "{}.</p>\n",
        report_markup_string(judged, "sentence"));
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
}

static void print_metadata(struct text *out, const char *value, const char *label)
{
    REPORT_MARKUP(out, "<div><b>{}</b><span>{}</span></div>\n", value, label);
}

static void print_all_metadata(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    const int64_t uncompared = report_markup_count(counts, "unsupported") +
                               report_markup_count(counts, "skipped") +
                               report_markup_count(counts, "derived_not_judged");
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

static const char *class_of_margin(double margin)
{
    return isnan(margin)   ? "u"
           : margin <= 0.1 ? "a"
           : margin <= 0.3 ? "b"
           : margin <= 0.6 ? "c"
           : margin <= 1   ? "d"
                           : "x";
}

// A cell has a colour, and a letter or sign too.
static void print_cell(const json_t *cell, struct text *out)
{
    const char *state = report_markup_string(cell, "state");
    const double margin = report_markup_number(cell, "margin");
    struct report_markup_shorts s;

    if (!json_is_object(cell)) {
        text_append(out, "<td class=\"n\"></td>");
        return;
    }
    report_markup_margin(margin, s.a);
    if (strcmp(state, "wrong") == 0 || strcmp(state, "together") == 0) {
        REPORT_MARKUP(out, "<td class=\"x\">{}&nbsp;{}</td>",
                      state[0] == 'w' ? "\xe2\x9c\x95" : "\xe2\x97\x86", s.a);
    } else if (strcmp(state, "unsupported") == 0) {
        text_append(out, "<td class=\"u\">R</td>");
    } else if (strcmp(state, "uncompared") == 0) {
        text_append(out, "<td class=\"u\">?</td>");
    } else if (strcmp(state, "source") == 0) {
        text_append(out, "<td class=\"s\">S</td>");
    } else {
        REPORT_MARKUP(out, "<td class=\"{}\">{}</td>", class_of_margin(margin), s.a);
    }
}

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
            print_cell(json_array_get(cells, k), out);
        }
        text_append(out, "</tr>\n");
    }
}

static const char grid_key[] =
    "<ul class=\"key\"><li><i class=\"a\">=</i>equal in every bit, or up to 0.1 of the limit</li>"
    "<li><i class=\"b\">.2</i>up to 0.3</li><li><i class=\"c\">.5</i>up to 0.6</li>"
    "<li><i class=\"d\">.9</i>up to 1: still right</li>"
    "<li><i class=\"x\">\xe2\x9c\x95</i>wrong alone, stays on the source</li>"
    "<li><i class=\"x\">\xe2\x97\x86</i>wrong only together with others, stays there too</li>"
    "<li><i class=\"u\">R</i>unsupported by the target</li><li><i class=\"u\">?</i>not "
    "compared</li>"
    "<li><i class=\"s\">S</i>left on the source by the run's own plan</li></ul>\n";

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
        print_column(report_markup_op(json_string_value(json_array_get(columns, i))), out);
    }
    text_append(out, "</tr></thead><tbody>\n");
    print_grid_rows(rows, out);
    text_append(out, "</tbody></table></div>\n");
    text_append(out, grid_key);
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
    report_html_blamed_print(target, out);
    print_grid(target, out);
    print_times(target, out);
    report_html_work_print(report, target, out);
    text_append(out, "</section>\n");
}
