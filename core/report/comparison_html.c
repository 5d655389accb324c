// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/comparison_html.h"

#include "report/changes_text.h"
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

// -- Several runs ------------------------------------------------------------------------------

// A cell of what `print` appends.
static void print_made(const json_t *item,
                       void (*print)(const json_t *item, struct text *out),
                       struct text *out)
{
    struct text cell;

    text_init(&cell);
    print(item, &cell);
    out->failed |= cell.failed;
    REPORT_MARKUP(out, "<td>{}</td>", cell.failed ? "" : cell.data);
    text_release(&cell);
}

static void begin_table(const char *id, const char *title, const char *heads, struct text *out)
{
    REPORT_MARKUP(out,
                  "<section><h2 id=\"{}\">{}</h2>\n<div class=\"scroll tall\" tabindex=\"0\">"
                  "<table class=\"list sortable filtered\"><thead><tr>",
                  id, title);
    text_append(out, heads);
    text_append(out, "</tr></thead><tbody>\n");
}

static void end_table(struct text *out)
{
    text_append(out, "</tbody></table></div></section>\n");
}

static void print_failures(const json_t *changes, struct text *out)
{
    const json_t *failures = json_object_get(changes, "failures");

    if (json_array_size(failures) == 0) {
        return;
    }
    begin_table("failures", "failures of the last run",
                "<th></th><th>where</th><th>reason</th><th>known as</th>", out);
    for (size_t i = 0; i < json_array_size(failures); i++) {
        const json_t *failure = json_array_get(failures, i);

        REPORT_MARKUP(out, "<tr><td>{}</td>", report_markup_string(failure, "state"));
        print_made(failure, changes_text_place, out);
        REPORT_MARKUP(out, "<td>{}</td><td>{}</td></tr>\n", report_markup_string(failure, "reason"),
                      report_markup_string(failure, "known"));
    }
    end_table(out);
}

static void print_flips(const json_t *changes, struct text *out)
{
    const json_t *flips = json_object_get(changes, "flips");

    if (json_array_size(flips) == 0) {
        return;
    }
    begin_table("flips", "flips", "<th></th><th>where</th><th>verdicts</th><th>since</th>", out);
    for (size_t i = 0; i < json_array_size(flips); i++) {
        const json_t *flip = json_array_get(flips, i);
        struct text since;

        text_init(&since);
        changes_text_since(changes, flip, &since);
        out->failed |= since.failed;
        REPORT_MARKUP(out, "<tr><td>{}</td>", report_markup_string(flip, "change"));
        print_made(flip, changes_text_place, out);
        print_made(flip, changes_text_verdicts, out);
        REPORT_MARKUP(out, "<td>{}</td></tr>\n", since.failed ? "" : since.data);
        text_release(&since);
    }
    end_table(out);
}

static void print_margins(const json_t *changes, struct text *out)
{
    const json_t *margins = json_object_get(changes, "margins");

    if (json_array_size(margins) == 0) {
        return;
    }
    begin_table("crept", "margins that crept", "<th>where</th><th>margins</th>", out);
    for (size_t i = 0; i < json_array_size(margins); i++) {
        text_append(out, "<tr>");
        print_made(json_array_get(margins, i), changes_text_place, out);
        print_made(json_array_get(margins, i), changes_text_margins, out);
        text_append(out, "</tr>\n");
    }
    end_table(out);
}

static void print_times(const json_t *changes, struct text *out)
{
    const char *target = NULL, *name = NULL;
    const json_t *op = NULL;
    int has_begun = 0;

    for (size_t at = 0; (op = changes_text_next_moved(changes, &at, &target, &name)) != NULL;) {
        if (!has_begun) {
            begin_table("moved", "times beyond their noise",
                        "<th>target</th><th>operator</th><th></th>", out);
            has_begun = 1;
        }
        REPORT_MARKUP(out, "<tr><td>{}</td><td>{}</td>", target, *name != '\0' ? name : "all");
        print_made(op, changes_text_time, out);
        text_append(out, "</tr>\n");
    }
    if (has_begun) {
        end_table(out);
    }
}

static void print_changes(const json_t *changes, struct text *out)
{
    print_failures(changes, out);
    print_flips(changes, out);
    print_margins(changes, out);
    print_times(changes, out);
}

void comparison_html_print(const json_t *comparison, struct text *out)
{
    const json_t *differences = json_object_get(comparison, "differences");

    report_html_begin("two runs compared", out);
    print_top(comparison, out);
    print_changes(json_object_get(comparison, "changes"), out);
    for (size_t at = 0; at < json_array_size(differences);) {
        at = print_kind(differences, at, out);
    }
    report_html_end(out);
}
