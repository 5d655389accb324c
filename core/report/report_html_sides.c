// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_sides.h"

#include "report/report_agreement.h"
#include "report/report_grid.h"
#include "report/report_html_cell.h"
#include "report/report_markup.h"
#include "report/report_verdict.h"
#include "schema/catalogue.h"

#include <math.h>
#include <string.h>

static void print_headings(const json_t *targets, const json_t *given_up, struct text *out)
{
    text_append(out, "<thead><tr><th scope=\"col\">operator</th>");
    for (size_t i = 0; i < json_array_size(targets); i++) {
        text_format(out, "<th scope=\"col\"><a href=\"#target-%zu\">", i + 1);
        REPORT_MARKUP(out, "{}</a></th>", report_markup_string(json_array_get(targets, i), "name"));
    }
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        REPORT_MARKUP(out, "<th scope=\"col\">{}</th>",
                      report_markup_string(json_array_get(given_up, i), "name"));
    }
    text_append(out, "</tr></thead><tbody>\n");
}

static void end_row(const json_t *given_up, struct text *out)
{
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        text_append(out, report_verdict_is_unfinished(json_array_get(given_up, i))
                             ? "<td class=\"u\">unfinished</td>"
                             : "<td class=\"u\">given up</td>");
    }
    text_append(out, "</tr>\n");
}

// All targets have the operators of the model.
static void print_ops(const json_t *targets, const json_t *given_up, struct text *out)
{
    const json_t *ops = json_object_get(json_array_get(targets, 0), "ops");

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const char *op = report_markup_string(json_array_get(ops, i), "op");

        REPORT_MARKUP(out, "<tr><th scope=\"row\">{}</th>", catalogue_shorten(op));
        for (size_t k = 0; k < json_array_size(targets); k++) {
            double margin = NAN;
            const char *state = report_grid_worst(json_array_get(targets, k), op, &margin);

            report_html_cell_print(state, margin, out);
        }
        end_row(given_up, out);
    }
}

static void print_moved(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<td class=\"s\">{} of {}</td>",
                  report_markup_thousands_of(counts, "moved", s.a),
                  report_markup_thousands_of(counts, "instances", s.b));
}

static void print_judged(const json_t *target, struct text *out)
{
    const json_t *judged = json_object_get(target, "end_to_end");

    static const char *const words[] = {[REPORT_MODEL_AGREES] = "right",
                                        [REPORT_MODEL_DIVERGES] = "wrong",
                                        [REPORT_MODEL_NOT_JUDGED] = "not judged"};

    report_html_cell_print(words[report_verdict_model(target)],
                           report_markup_number(judged, "margin"), out);
}

static void print_row(const char *name,
                      const json_t *targets,
                      const json_t *given_up,
                      void (*print)(const json_t *target, struct text *out),
                      struct text *out)
{
    REPORT_MARKUP(out, "<tr><th scope=\"row\">{}</th>", name);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        print(json_array_get(targets, i), out);
    }
    end_row(given_up, out);
}

static void print_agreements(const json_t *targets, struct text *out)
{
    const json_t *ops = json_object_get(json_array_get(targets, 0), "ops");
    struct text sentence;

    text_init(&sentence);
    for (size_t i = 0; i < json_array_size(ops); i++) {
        text_clear(&sentence);
        if (report_agreement_print(targets, report_markup_string(json_array_get(ops, i), "op"),
                                   &sentence)) {
            REPORT_MARKUP(out, "<p>{}.</p>\n", sentence.data);
        }
    }
    text_release(&sentence);
}

void report_html_sides_print(const json_t *report, struct text *out)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");

    if (json_array_size(targets) == 0 || json_array_size(targets) + json_array_size(given_up) < 2) {
        return;
    }
    text_append(out,
                "<h2>Operators by target</h2>\n<p class=\"soft\">The worst difference from the "
                "source in parts of what is allowed: above 1 is wrong.</p>\n"
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Operators by target\"><table class=\"grid sides\">");
    print_headings(targets, given_up, out);
    print_ops(targets, given_up, out);
    print_row("end to end", targets, given_up, print_judged, out);
    print_row("moved", targets, given_up, print_moved, out);
    text_append(out, "</tbody></table></div>\n");
    report_html_cell_print_key(out);
    print_agreements(targets, out);
}
