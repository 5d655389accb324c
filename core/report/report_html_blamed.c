// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_blamed.h"

#include "report/report_items.h"
#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <math.h>
#include <string.h>

enum { CARDS_MAX = 12 };

static void print_values(const json_t *item, struct text *out)
{
    const json_t *values = json_object_get(item, "values");
    struct report_markup_shorts s;

    if (json_array_size(values) == 0) {
        return;
    }
    text_append(
        out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"First bad values\">"
             "<table class=\"values\"><thead><tr><th>element</th><th>expected</th>"
             "<th>computed</th><th>difference</th><th>allowed</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(values); i++) {
        const json_t *value = json_array_get(values, i);

        REPORT_MARKUP(
            out,
            "<tr><td>{}[{}]</td><td>{}</td><td class=\"off\">{}</td><td>{}</td><td>{}</td></tr>\n",
            report_markup_string(value, "param"), report_markup_string(value, "place"),
            report_markup_value(report_markup_number(value, "expected"), 7, s.a),
            report_markup_value(report_markup_number(value, "computed"), 7, s.b),
            report_markup_value(report_markup_number(value, "difference"), 3, s.c),
            report_markup_value(report_markup_number(value, "allowed"), 3, s.d));
    }
    REPORT_MARKUP(out,
                  "</tbody></table></div>\n<p class=\"soft\">{} of {} elements of <code>{}</code> "
                  "are beyond what is allowed; the first are shown.</p>\n",
                  report_markup_thousands_of(item, "beyond", s.a),
                  report_markup_thousands_of(item, "elements", s.b),
                  report_markup_string(item, "output"));
}

// Which kind of case found it.
static void print_found(const json_t *target, const json_t *blamed, struct text *out)
{
    const json_t *ops = json_object_get(target, "ops");
    const json_t *item = json_object_get(blamed, "case");
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<p class=\"soft\">Found by {} of {} cases recorded of this operator",
                  report_markup_thousands_of(blamed, "failed", s.a),
                  report_markup_thousands_of(blamed, "cases", s.b));
    if (item != NULL) {
        text_append(out, "; shown is ");
        report_list_print_phrase(&report_items_cases, item, out);
    }
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);
        const char *key = NULL;
        json_t *kind = NULL;

        if (strcmp(report_markup_string(op, "op"), report_markup_string(blamed, "op")) != 0) {
            continue;
        }
        json_object_foreach(json_object_get(op, "derived"), key, kind)
        {
            REPORT_MARKUP(out, "; of made-up <em>{}</em> cases {} of {} fail", key,
                          report_markup_thousands_of(kind, "failed", s.a),
                          report_markup_thousands_of(kind, "cases", s.b));
        }
    }
    text_append(out, ".</p>\n");
}

static void print_bundle(const json_t *blamed, struct text *out)
{
    const json_t *bundle = json_object_get(blamed, "bundle");

    if (bundle == NULL) {
        return;
    }
    REPORT_MARKUP(
        out,
        "<p>One file, <code>{}</code>, repeats it anywhere, without the model. It was "
        "made smaller to <code>{}</code>:</p>\n<pre class=\"tell\" tabindex=\"0\">{}</pre>\n",
        report_markup_string(bundle, "file"), report_markup_string(bundle, "shape_class"),
        report_markup_string(bundle, "command"));
}

// The instances of an op that are blamed beside the one that is shown.
static void print_others(const json_t *target, const json_t *shown, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");
    int has_any = 0;
    struct report_markup_shorts s;

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *other = json_array_get(blamed, i);

        if (other == shown ||
            strcmp(report_markup_string(other, "op"), report_markup_string(shown, "op")) != 0) {
            continue;
        }
        text_append(out, has_any++ ? ""
                                   : "<details><summary>The same operator elsewhere</summary>"
                                     "<ul class=\"others\">\n");
        REPORT_MARKUP(out, "<li><code>{}</code> <span class=\"soft\">margin {}{}{}</span></li>\n",
                      report_markup_string(other, "instance"),
                      report_markup_margin(report_markup_number(other, "margin"), s.a),
                      json_object_get(other, "bundle") != NULL ? ", " : "",
                      report_markup_string(json_object_get(other, "bundle"), "file"));
    }
    text_append(out, has_any ? "</ul></details>\n" : "");
}

static void print_blame(const json_t *target, const json_t *blamed, struct text *out)
{
    const int is_alone = json_is_true(json_object_get(blamed, "alone"));
    const int is_derived =
        report_markup_string(json_object_get(blamed, "case"), "label")[0] != '\0';
    const json_t *item = json_object_get(blamed, "case");
    const double margin = report_markup_number(blamed, "margin");
    const int64_t tries = report_markup_count(blamed, "tries");
    const int64_t failed = report_markup_count(blamed, "failed_tries");
    struct report_markup_shorts s;

    REPORT_MARKUP(out,
                  "<article class=\"blamed\"><h3><code>{}</code> <span class=\"where\">first at "
                  "<code>{}</code>{}{}</span></h3>\n<p>",
                  catalogue_shorten(report_markup_string(blamed, "op")),
                  report_markup_string(blamed, "instance"), item != NULL ? ", " : "",
                  report_markup_string(item, "phase"));
    if (is_alone) {
        text_append(out, is_derived ? "Fails alone, on inputs made up around recorded ones: "
                                    : "Fails alone, on inputs recorded from the source: ");
    } else {
        text_append(out, "Passes alone, and makes the model diverge together with others: ");
    }
    if (margin > 1 && isfinite(margin)) {
        REPORT_MARKUP(out, "<b>{} times</b> what its limit allows. ",
                      report_markup_value(margin, 2, s.a));
    }
    REPORT_MARKUP(out, "{}.", report_markup_string(blamed, "reason"));
    if (failed < tries) {
        REPORT_MARKUP(out, " It fails only sometimes: in {} of {} tries.",
                      report_markup_thousands(failed, s.b), report_markup_thousands(tries, s.c));
    }
    text_append(out, "</p>\n");
    print_values(item, out);
    print_found(target, blamed, out);
    print_bundle(blamed, out);
    print_others(target, blamed, out);
    text_append(out, "</article>\n");
}

// One card for each op kind, with the first of its blamed instances.
static void print_blamed(const json_t *target, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");
    size_t cards = 0;

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i);

        if (report_markup_is_first(blamed, i) && cards++ < CARDS_MAX) {
            print_blame(target, item, out);
        }
    }
}

// Failures of derived cases, where no recorded case of the op fails.
static void print_derived_failures(const json_t *target, struct text *out)
{
    const json_t *derived = json_object_get(target, "derived");
    size_t shown = 0;

    for (size_t i = 0; i < json_array_size(derived) && shown < CARDS_MAX; i++) {
        const json_t *item = json_array_get(derived, i);
        const char *verdict = report_markup_string(item, "verdict");

        if (strcmp(verdict, "fail") != 0 && strcmp(verdict, "error") != 0) {
            continue;
        }
        if (shown++ == 0) {
            text_append(out,
                        "<h3>Cases made up around the recorded ones that fail</h3>\n"
                        "<p class=\"soft\">Other values or another shape than this run had: the "
                        "model may meet them with another prompt.</p>\n<ul class=\"plain\">\n");
        }
        REPORT_MARKUP(out, "<li><code>{}</code>, {} <em>{}</em>: {}</li>\n",
                      catalogue_shorten(report_markup_string(item, "op")),
                      report_markup_string(item, "source"), report_markup_string(item, "label"),
                      report_markup_string(item, "reason"));
    }
    text_append(out, shown > 0 ? "</ul>\n" : "");
}

void report_html_blamed_print(const json_t *target, struct text *out)
{
    print_blamed(target, out);
    print_derived_failures(target, out);
}
