// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html.h"

#include "report/forecast_html.h"
#include "report/report_bottleneck.h"
#include "report/report_html_sides.h"
#include "report/report_html_target.h"
#include "report/report_markup.h"
#include "report/report_usage.h"
#include "report/report_verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DELTA_LOSSES_SHOWN = 3 };

static int is_right(const json_t *target)
{
    return strcmp(report_markup_string(target, "verdict"), "right") == 0;
}

// -- What it was run on ------------------------------------------------------------------------

static void print_device(const char *name, const json_t *device, struct text *out)
{
    const char *driver = report_markup_string(device, "driver");
    const char *activations = report_markup_string(device, "activations");
    const int is_reduced = activations[0] != '\0' && strcmp(activations, "f32") != 0;

    REPORT_MARKUP(out, "<dt><bdi>{}</bdi></dt><dd><code>{}:{}</code> {}{}{}{}{}<br>", name,
                  report_markup_string(device, "component"), report_markup_string(device, "device"),
                  report_markup_string(device, "device_name"), driver[0] != '\0' ? ", driver " : "",
                  driver, is_reduced ? ", activations " : "", is_reduced ? activations : "");
    REPORT_MARKUP(out, "<span class=\"soft\">plugin {} {}, build <code>{}</code></span></dd>\n",
                  report_markup_string(device, "plugin"),
                  report_markup_string(device, "plugin_version"),
                  report_markup_string(device, "build"));
}

// What makes it a fine-tune, and which of its weights lost most by that.
static void print_delta(const json_t *model, struct text *out)
{
    const json_t *losses = json_object_get(model, "delta_losses");
    char part[32];

    if (json_object_get(model, "delta") == NULL) {
        return;
    }
    REPORT_MARKUP(out, "<br>fine-tune of it by <code>{}</code>",
                  report_markup_string(model, "delta"));
    for (size_t i = 0; i < json_array_size(losses) && i < DELTA_LOSSES_SHOWN; i++) {
        const json_t *loss = json_array_get(losses, i);

        (void)snprintf(part, sizeof(part), "%.3g",
                       json_number_value(json_object_get(loss, "lost")));
        REPORT_MARKUP(out, "{}<code>{}</code> ({}) {} of its {}",
                      i == 0 ? "; most of what changes is lost of " : ", ",
                      report_markup_string(loss, "weight"), report_markup_string(loss, "kind"),
                      part, report_markup_string(loss, "of"));
    }
}

static void print_model(const json_t *report, struct text *out)
{
    const json_t *model = json_object_get(report, "model");
    const char *key = NULL;
    json_t *value = NULL;
    struct report_markup_shorts s;

    REPORT_MARKUP(
        out,
        "<dt>model</dt><dd><b>{}</b>, {} parameters, {} operators, architecture <code>{}"
        "</code><br><span class=\"soft\">",
        report_markup_string(model, "name"), report_markup_thousands_of(model, "parameters", s.a),
        report_markup_thousands_of(model, "ops", s.b), report_markup_string(model, "architecture"));
    json_object_foreach(json_object_get(model, "config"), key, value)
    {
        (void)snprintf(s.c, sizeof(s.c), "%" PRId64, (int64_t)json_integer_value(value));
        REPORT_MARKUP(out, "{} <code>{}</code>; ", key,
                      json_is_string(value) ? json_string_value(value) : s.c);
    }
    REPORT_MARKUP(out, "hash <code>{}</code></span>", report_markup_string(model, "hash"));
    print_delta(model, out);
    text_append(out, "</dd>\n");
}

static void print_run(const json_t *report, struct text *out)
{
    const json_t *run = json_object_get(report, "run");
    const json_t *limits = json_object_get(report, "limits");
    const json_t *targets = json_object_get(report, "targets");
    struct report_markup_shorts s;

    text_append(out, "<section><h2>What this was run on</h2>\n<dl class=\"run\">\n");
    print_model(report, out);
    print_device("source", json_object_get(report, "source"), out);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i);

        print_device(report_markup_string(target, "name"), target, out);
    }
    REPORT_MARKUP(
        out,
        "<dt>input</dt><dd>{} prompts, {} tokens chosen after each, always the likeliest; "
        "capacity {}, chunks of {} tokens; seed {} of the made-up cases<br><span class=\"soft\">"
        "prompts <code>{}</code></span></dd>\n",
        report_markup_thousands_of(json_object_get(report, "carving"), "prompts", s.a),
        report_markup_thousands_of(run, "decode", s.b),
        report_markup_thousands_of(run, "capacity", s.c),
        report_markup_thousands_of(run, "chunk", s.d),
        report_markup_thousands_of(run, "derive_seed", s.e),
        report_markup_string(run, "prompts_hash"));
    REPORT_MARKUP(
        out,
        "<dt>limits</dt><dd>{} times what <code>{}</code> itself loses between its devices "
        "{}, for each operator, type and shape; never below the floor of its class "
        "(exact: equal bits; elementwise: 16 steps of f32; reduction: rounding of a sum)"
        "</dd>\n",
        report_markup_thousands_of(limits, "factor", s.a),
        report_markup_string(limits, "component"), report_markup_string(limits, "devices"));
    REPORT_MARKUP(out, "<dt>host</dt><dd>tapml-host {}, compiler {}</dd>\n</dl></section>\n",
                  report_markup_string(run, "host"), report_markup_string(run, "compiler"));
}

static const char words[] =
    "<section><h2>The words of this page</h2><dl class=\"run\">\n"
    "<dt>source, target</dt><dd>The platform where the model is known to be right, and the one it "
    "is "
    "taken to.</dd>\n"
    "<dt>operator</dt><dd>One step of the model's computation at one place, such as the attention "
    "of "
    "layer 2.</dd>\n"
    "<dt>case</dt><dd>One call of an operator as it happened on the source: inputs, states and "
    "outputs. "
    "The target gets the same inputs, and its outputs are compared.</dd>\n"
    "<dt>made-up case</dt><dd>A neighbour of a recorded one: <em>uniform</em> or <em>boundary</em> "
    "values, "
    "or another <em>shape</em>. What it should give is computed by the reference.</dd>\n"
    "<dt>limit, margin</dt><dd>How far an output may be from the source's, and how much of that it "
    "uses: "
    "above 1 is wrong.</dd>\n"
    "<dt>blamed</dt><dd>What makes the target wrong: with it back on the source the model "
    "agrees.</dd>\n"
    "<dt>prefill, decode</dt><dd>The prompt is read at once, then the model goes on token by "
    "token; a "
    "step is one of these.</dd>\n"
    "<dt>NMSE, row error, ULP</dt><dd>Measures of a difference: squared, in parts of the output's "
    "own "
    "square; of the worst row, in parts of that row; in steps between neighbouring numbers of "
    "f32.</dd>\n"
    "<dt>top-1, KL divergence</dt><dd>The likeliest next token, and how far two predictions of it "
    "are "
    "from each other.</dd>\n"
    "</dl></section>\n";

// -- The page ----------------------------------------------------------------------------------

static void begin_page(const char *title, const char *more, struct text *out)
{
    REPORT_MARKUP(out,
                  "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n",
                  report_html_policy, title);
    text_append(out, more);
    text_append(out, "<style>");
    text_append(out, report_html_style);
    text_append(out, "</style>\n</head>\n<body>\n<main>\n");
}

void report_html_begin(const char *title, struct text *out)
{
    begin_page(title, "", out);
}

void report_html_begin_reloading(const char *title, int64_t seconds, struct text *out)
{
    char more[64];

    (void)snprintf(more, sizeof(more), "<meta http-equiv=\"refresh\" content=\"%" PRId64 "\">\n",
                   seconds);
    begin_page(title, more, out);
}

void report_html_end(struct text *out)
{
    text_append(out, "</main>\n<script>");
    text_append(out, report_html_script);
    text_append(out, "</script>\n</body>\n</html>\n");
}

static void print_head(const json_t *report, struct text *out)
{
    struct text title;

    text_init(&title);
    text_format(&title, "%s: %s", report_markup_string(json_object_get(report, "run"), "name"),
                report_markup_string(report, "verdict"));
    out->failed |= title.failed;
    report_html_begin(title.failed ? "" : title.data, out);
    text_release(&title);
}

// When the last target was done.
static int64_t finished_s(const json_t *report)
{
    const json_t *targets = json_object_get(report, "targets");
    int64_t last = 0;

    for (size_t i = 0; i < json_array_size(targets); i++) {
        const int64_t own = report_markup_count(json_array_get(targets, i), "finished_s");

        last = own > last ? own : last;
    }
    return last;
}

static void print_top(const json_t *report, struct text *out)
{
    const json_t *model = json_object_get(report, "model");
    const json_t *targets = json_object_get(report, "targets");
    const int64_t finished = finished_s(report);
    struct report_markup_shorts s;

    REPORT_MARKUP(
        out,
        "<header><span class=\"brand\">TapML</span><span><bdi>{}</bdi></span><span><bdi>{}"
        "</bdi></span><span><code>{}</code> \xe2\x86\x92 ",
        report_markup_string(json_object_get(report, "run"), "name"),
        report_markup_string(model, "name"),
        report_markup_string(json_object_get(report, "source"), "backend"));
    for (size_t i = 0; i < json_array_size(targets); i++) {
        REPORT_MARKUP(out, "{}<code>{}</code>", i > 0 ? ", " : "",
                      report_markup_string(json_array_get(targets, i), "backend"));
    }
    REPORT_MARKUP(out, "</span><span>{}</span></header>\n",
                  finished > 0 ? report_markup_date(finished, s.a) : "");
}

// The verdicts of several targets in one line each.
static void print_verdicts(const json_t *targets, struct text *out)
{
    size_t right = 0;
    struct report_markup_shorts s;

    for (size_t i = 0; i < json_array_size(targets); i++) {
        right += (size_t)is_right(json_array_get(targets, i));
    }
    REPORT_MARKUP(
        out, "<h1 class=\"verdict\">{} of {} targets are right.</h1>\n<ul class=\"verdicts\">\n",
        report_markup_thousands((int64_t)right, s.a),
        report_markup_thousands((int64_t)json_array_size(targets), s.b));
    for (size_t i = 0; i < json_array_size(targets); i++) {
        text_format(out, "<li><a href=\"#target-%zu\">", i + 1);
        report_html_target_print_headline(json_array_get(targets, i), out);
        text_append(out, "</a></li>\n");
    }
    text_append(out, "</ul>\n");
}

static void print_given_up(const json_t *given_up, struct text *out)
{
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);

        REPORT_MARKUP(out,
                      "<h2 class=\"verdict\">The target <bdi>{}</bdi> {}.</h2>\n<p "
                      "class=\"lede\"><code>{}</code>: {}</p>\n",
                      report_markup_string(target, "name"),
                      report_verdict_is_unfinished(target) ? "is not finished" : "was given up",
                      report_markup_string(target, "backend"),
                      report_markup_string(target, "reason"));
    }
}

// What the targets get from it, and have to compute with.
static void print_source_warning(const json_t *source, struct text *out)
{
    if (report_markup_string(source, "nonfinite")[0] != '\0') {
        REPORT_MARKUP(out, "<p class=\"note\"><b>Not finite on the source itself:</b> {}.</p>\n",
                      report_markup_string(source, "nonfinite"));
    }
    report_html_target_observers(source, out);
}

void report_html_print(const json_t *report, struct text *out)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");
    const size_t count = json_array_size(targets);
    struct report_markup_shorts s;

    print_head(report, out);
    print_top(report, out);
    print_given_up(given_up, out);
    if (count == 0 && json_array_size(given_up) == 0) {
        const json_t *carving = json_object_get(report, "carving");

        REPORT_MARKUP(
            out,
            "<h1 class=\"verdict\">{} cases are recorded, for any target.</h1>\n<p "
            "class=\"lede\">{} prompts ran on the source. The run names no target yet.</p>\n",
            report_markup_thousands_of(carving, "cases", s.a),
            report_markup_thousands_of(carving, "prompts", s.b));
    }
    if (count > 1) {
        print_verdicts(targets, out);
    }
    print_source_warning(json_object_get(report, "source"), out);
    report_html_sides_print(report, out);
    for (size_t i = 0; i < count; i++) {
        report_html_target_print(report, i, out);
    }
    report_bottleneck_print_html(report, out);
    forecast_html_print(json_object_get(report, "forecasts"), out);
    report_usage_print_html(report, out);
    print_run(report, out);
    text_append(out, words);
    report_html_end(out);
}
