// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/comparison_html.h"

#include "report/comparison.h"
#include "report/comparison_text.h"
#include "report/report_html.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <string.h>

static void print_side(const json_t *comparison, const char *key, struct text *out)
{
    const json_t *side = json_object_get(comparison, key);

    REPORT_MARKUP(out,
                  "<dt>{}</dt><dd><code>{}</code><br><span class=\"soft\">run {}, model {}, source "
                  "<code>{}</code>, {}; tapml-host {}</span></dd>\n",
                  key, report_markup_string(side, "dir"), report_markup_string(side, "name"),
                  report_markup_string(side, "model"), report_markup_string(side, "source"),
                  report_markup_string(side, "verdict"), report_markup_string(side, "host"));
}

static void print_top(const json_t *comparison, struct text *out)
{
    struct text sentence;

    text_init(&sentence);
    comparison_text_sentence(comparison, &sentence);
    out->failed |= sentence.failed;
    REPORT_MARKUP(
        out,
        "<header><span class=\"brand\">TapML</span><span>two runs compared</span></header>\n"
        "<h1 class=\"verdict {}\">{}</h1>\n<p class=\"lede\">{}</p>\n",
        comparison_is_alike(comparison) ? "good" : "bad",
        comparison_is_alike(comparison) ? "The runs are alike." : "The runs differ.",
        sentence.failed ? "" : sentence.data);
    text_release(&sentence);
    text_append(out, "<dl class=\"run\">\n");
    print_side(comparison, "first", out);
    print_side(comparison, "second", out);
    text_append(out, "</dl>\n");
}

static void print_difference(const json_t *difference, struct text *out)
{
    struct text place, first, second;

    text_init(&place);
    text_init(&first);
    text_init(&second);
    comparison_text_place(difference, &place);
    comparison_text_value(difference, "first", &first);
    comparison_text_value(difference, "second", &second);
    out->failed |= place.failed || first.failed || second.failed;
    if (!out->failed) {
        REPORT_MARKUP(out, "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", place.data,
                      report_markup_string(difference, "field"), first.data, second.data);
    }
    text_release(&place);
    text_release(&first);
    text_release(&second);
}

// The differences of one kind stand together: a table of those from `begin` on. Gives where the
// next kind begins.
static size_t print_kind(const json_t *differences, size_t begin, struct text *out)
{
    const char *kind = report_markup_string(json_array_get(differences, begin), "kind");
    size_t end = begin;

    REPORT_MARKUP(out,
                  "<section><h2 id=\"{}\">{}</h2>\n<div class=\"scroll tall\" tabindex=\"0\">"
                  "<table class=\"list sortable filtered\"><thead><tr><th>where</th><th>what</th>"
                  "<th>first</th><th>second</th></tr></thead><tbody>\n",
                  kind, comparison_text_title(kind));
    while (end < json_array_size(differences) &&
           strcmp(report_markup_string(json_array_get(differences, end), "kind"), kind) == 0) {
        print_difference(json_array_get(differences, end++), out);
    }
    text_append(out, "</tbody></table></div></section>\n");
    return end;
}

void comparison_html_print(const json_t *comparison, struct text *out)
{
    const json_t *differences = json_object_get(comparison, "differences");

    report_html_begin("two runs compared", out);
    print_top(comparison, out);
    for (size_t at = 0; at < json_array_size(differences);) {
        at = print_kind(differences, at, out);
    }
    report_html_end(out);
}
