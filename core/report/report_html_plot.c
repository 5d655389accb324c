// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_plot.h"

#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The drawing by depth, in its own units.
enum { LEFT = 64, RIGHT = 940, TOP = 12, BOTTOM = 232, HEIGHT = 268, LABELS_MAX = 12 };

// -- By depth ----------------------------------------------------------------------------------

// Decades of the margin: below and above are drawn at the edge.
enum { DECADE_LOWEST = -4, DECADE_HIGHEST = 12 };

struct depth_plot {
    const json_t *instances, *rows;
    int highest; // The decade at the top.
};

static double x_of(const struct depth_plot *plot, double index)
{
    const size_t count = json_array_size(plot->instances);

    return LEFT + (index + 0.5) * (RIGHT - LEFT) / (double)count;
}

static double y_of(const struct depth_plot *plot, double decade)
{
    const double within = fmin(fmax(decade, DECADE_LOWEST), plot->highest);

    return BOTTOM - (within - DECADE_LOWEST) * (BOTTOM - TOP) / (plot->highest - DECADE_LOWEST);
}

// The decade of the largest finite margin, at least the one above the limit.
static int find_highest(const json_t *instances)
{
    double highest = 1;

    for (size_t i = 0; i < json_array_size(instances); i++) {
        const double margin = report_markup_number(json_array_get(instances, i), "margin");

        highest = margin > 0 && isfinite(margin) ? fmax(highest, ceil(log10(margin))) : highest;
    }
    return (int)fmin(highest, DECADE_HIGHEST);
}

static int has_margins(const json_t *instances)
{
    for (size_t i = 0; i < json_array_size(instances); i++) {
        if (!isnan(report_markup_number(json_array_get(instances, i), "margin"))) {
            return 1;
        }
    }
    return 0;
}

static void print_decades(const struct depth_plot *plot, struct text *out)
{
    const int step = plot->highest > 4 ? 2 : 1;

    for (int decade = DECADE_LOWEST; decade <= plot->highest; decade += decade < 0 ? 1 : step) {
        const double y = y_of(plot, decade);

        text_format(out,
                    "<line class=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                    decade == 0 ? "limit" : "rule", LEFT, RIGHT, y, y, LEFT - 8, y + 4);
        if (decade < -3 || decade > 3) {
            text_format(out, "%s1e%d", decade == DECADE_LOWEST ? "&lt; " : "", decade);
        } else {
            text_format(out, "%.*f", decade < 0 ? -decade : 0, pow(10, decade));
        }
        text_append(out, "</text>\n");
    }
}

static size_t instances_of(const json_t *row)
{
    const json_t *cells = json_object_get(row, "cells");
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(cells); i++) {
        count += (size_t)report_markup_count(json_array_get(cells, i), "instances");
    }
    return count;
}

// Rows of the grid follow each other as their instances do: each begins a stretch of the axis.
static void print_layers(const struct depth_plot *plot, struct text *out)
{
    const size_t count = json_array_size(plot->rows);
    const size_t every = (count + LABELS_MAX - 1) / LABELS_MAX;
    size_t begin = 0;

    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(plot->rows, i);
        const double x = x_of(plot, (double)begin - 0.5);

        text_format(out, "<line class=\"rule\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x,
                    TOP, BOTTOM + 5);
        if (i % every == 0) {
            char name[REPORT_MARKUP_SHORT];

            (void)snprintf(name, sizeof(name), "%.20s", report_markup_string(row, "name"));
            text_format(out, "<text x=\"%.1f\" y=\"%d\">", x + 3, BOTTOM + 18 + 14 * (int)(i % 2));
            REPORT_MARKUP(out, "{}</text>", name);
        }
        begin += instances_of(row);
    }
    text_append(out, "\n");
}

static const char *class_of(const char *state)
{
    return strcmp(state, "wrong") == 0 || strcmp(state, "together") == 0 ? "wrong"
           : strcmp(state, "right") == 0                                 ? "right"
                                                                         : "other";
}

static void print_points(const struct depth_plot *plot, struct text *out)
{
    for (size_t i = 0; i < json_array_size(plot->instances); i++) {
        const json_t *item = json_array_get(plot->instances, i);
        const double margin = report_markup_number(item, "margin");
        struct report_markup_shorts s;

        if (isnan(margin)) {
            continue;
        }
        text_format(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\">",
                    class_of(report_markup_string(item, "state")), x_of(plot, (double)i),
                    y_of(plot, margin > 0 ? log10(margin) : DECADE_LOWEST));
        REPORT_MARKUP(
            out, "<title>{} ({}): {}</title></circle>\n", report_markup_string(item, "instance"),
            catalogue_shorten(report_markup_string(item, "op")), report_markup_margin(margin, s.a));
    }
}

static void print_depth(const json_t *target, struct text *out)
{
    const json_t *instances = json_object_get(target, "instances");
    const struct depth_plot plot = {.instances = instances,
                                    .rows =
                                        json_object_get(json_object_get(target, "grid"), "rows"),
                                    .highest = find_highest(instances)};

    text_append(out,
                "<h2>Differences by depth</h2>\n<p class=\"soft\">A point is an operator at one "
                "place of the model, first to last. Its height is its worst difference in parts of "
                "the limit; above the line at 1 it is wrong.</p>\n<div class=\"scroll\" "
                "tabindex=\"0\" role=\"region\" aria-label=\"Differences by depth\">");
    text_format(out,
                "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"The worst "
                "margin of every operator by its place in the model\">\n",
                RIGHT + 20, HEIGHT);
    print_decades(&plot, out);
    print_layers(&plot, out);
    print_points(&plot, out);
    text_append(out, "</svg></div>\n");
}

// -- By op -------------------------------------------------------------------------------------

// How many cases have a margin up to each edge, and above those before; the last bin has the rest.
enum { BINS = 8, BIN_WIDTH = 20, BARS_HEIGHT = 56 };

static const double edges[BINS - 1] = {0, 1e-3, 1e-2, 1e-1, 0.3, 1, 10};
static const char *const edge_names[BINS] = {"=",  ".001", ".01", ".1",
                                             ".3", "1",    "10",  "\xe2\x88\x9e"};

enum { FIRST_WRONG = 6 };

struct histogram {
    size_t kept[BINS], derived[BINS];
    size_t kept_count, derived_count, highest;
};

static size_t bin_of(double margin)
{
    size_t bin = 0;

    while (bin < BINS - 1 && margin > edges[bin]) {
        bin++;
    }
    return bin;
}

static size_t count_cases(const json_t *cases, const char *op, size_t bins[BINS])
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        const double margin = report_markup_number(item, "margin");

        if (!isnan(margin) && strcmp(report_markup_string(item, "op"), op) == 0) {
            bins[bin_of(margin)]++;
            count++;
        }
    }
    return count;
}

static struct histogram count_op(const json_t *target, const char *op)
{
    struct histogram made = {.highest = 1};

    made.kept_count = count_cases(json_object_get(target, "cases"), op, made.kept);
    made.derived_count = count_cases(json_object_get(target, "derived"), op, made.derived);
    for (size_t i = 0; i < BINS; i++) {
        const size_t height = made.kept[i] + made.derived[i];

        made.highest = height > made.highest ? height : made.highest;
    }
    return made;
}

// Recorded cases stand below, made-up ones above them.
static void print_bin(const struct histogram *made, size_t bin, struct text *out)
{
    const double unit = (double)BARS_HEIGHT / (double)made->highest;
    const double kept = (double)made->kept[bin] * unit, derived = (double)made->derived[bin] * unit;
    const int x = (int)bin * BIN_WIDTH;
    const char *wrong = bin >= FIRST_WRONG ? " wrong" : "";

    if (made->kept[bin] + made->derived[bin] > 0) {
        text_format(out,
                    "<g><title>%s %s: %zu recorded, %zu made up</title>"
                    "<rect class=\"kept%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>"
                    "<rect class=\"made%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/></g>",
                    bin == 0 ? "equal" : "up to", edge_names[bin], made->kept[bin],
                    made->derived[bin], wrong, x + 2, BARS_HEIGHT - kept, BIN_WIDTH - 4, kept,
                    wrong, x + 2, BARS_HEIGHT - kept - derived, BIN_WIDTH - 4, derived);
    }
    text_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>", x + BIN_WIDTH / 2,
                BARS_HEIGHT + 14, edge_names[bin]);
}

static void print_histogram(const json_t *target, const char *op, struct text *out)
{
    const struct histogram made = count_op(target, op);

    if (made.kept_count + made.derived_count == 0) {
        return;
    }
    REPORT_MARKUP(out, "<figure><figcaption><code>{}</code> ", catalogue_shorten(op));
    text_format(out,
                "<span class=\"soft\">%zu + %zu</span></figcaption>"
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"Cases by margin\">"
                "<line class=\"limit\" x1=\"%d\" x2=\"%d\" y1=\"0\" y2=\"%d\"/>",
                made.kept_count, made.derived_count, BINS * BIN_WIDTH, BARS_HEIGHT + 18,
                FIRST_WRONG * BIN_WIDTH, FIRST_WRONG * BIN_WIDTH, BARS_HEIGHT);
    for (size_t i = 0; i < BINS; i++) {
        print_bin(&made, i, out);
    }
    text_append(out, "</svg></figure>\n");
}

static void print_histograms(const json_t *target, struct text *out)
{
    const json_t *ops = json_object_get(target, "ops");

    text_append(out,
                "<h3 class=\"hists\">How the cases of each operator spread</h3>\n<p class=\"soft\">"
                "Recorded + made-up cases by margin: each bar has those up to the number below it; "
                "right of the line is wrong. <span class=\"k kept\"></span>recorded "
                "<span class=\"k made\"></span>made up</p>\n<div class=\"hists\">\n");
    for (size_t i = 0; i < json_array_size(ops); i++) {
        print_histogram(target, report_markup_string(json_array_get(ops, i), "op"), out);
    }
    text_append(out, "</div>\n");
}

void report_html_plot_print(const json_t *target, struct text *out)
{
    if (has_margins(json_object_get(target, "instances"))) {
        print_depth(target, out);
        print_histograms(target, out);
    }
}
