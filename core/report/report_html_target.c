// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_target.h"

#include "report/report_markup.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CARDS_MAX = 12, ROWS_DENSE = 16, NAMES_MAX = 256, NAMES_SHOWN = 4 };

// Numbers as texts, as many as one template takes.
struct shorts {
    char a[REPORT_MARKUP_SHORT], b[REPORT_MARKUP_SHORT], c[REPORT_MARKUP_SHORT];
    char d[REPORT_MARKUP_SHORT], e[REPORT_MARKUP_SHORT], f[REPORT_MARKUP_SHORT];
};

static const char *string(const json_t *object, const char *key)
{
    return report_markup_string(object, key);
}

static const char *thousands(const json_t *object, const char *key, char *out)
{
    return report_markup_thousands(report_markup_count(object, key), out);
}

static int is_right(const json_t *target)
{
    return strcmp(string(target, "verdict"), "right") == 0;
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
        const char *name = string(json_array_get(ops, i), "op");

        for (size_t k = 0; k < json_array_size(blamed); k++) {
            if (strcmp(string(json_array_get(blamed, k), "op"), name) == 0) {
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
                          report_markup_op(string(op, "op")));
            has_any = 1;
        }
    }
}

void report_html_target_print_headline(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    const char *unexplained = string(json_object_get(target, "end_to_end"), "unexplained");
    const char *name = string(target, "name");
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
    struct shorts s;

    REPORT_MARKUP(out, "<p class=\"lede\">{} of {} operators of the model run there{}. ",
                  thousands(counts, "moved", s.a), thousands(counts, "wanted", s.b),
                  moved < wanted ? "; the others stay on the source" : "");
    REPORT_MARKUP(
        out,
        json_is_true(json_object_get(judged, "agrees"))
            ? "Run like this, the whole model agrees with the source: <span class=\"soft\">"
              "{}.</span></p>\n"
            : "Run like this, the whole model <b class=\"bad\">diverges</b> from the source: "
              "{}.</p>\n",
        string(judged, "sentence"));
    if (string(judged, "unexplained")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>Unexplained:</b> the model diverged {}; no call of any "
                      "operator was found to fail.</p>\n",
                      string(judged, "unexplained"));
    }
    if (string(target, "faults")[0] != '\0') {
        REPORT_MARKUP(out,
                      "<p class=\"note\"><b>Faults were injected on purpose</b>, to try the tool: "
                      "<code>{}</code></p>\n",
                      string(target, "faults"));
    }
}

static void print_fact(struct text *out, const char *value, const char *label)
{
    REPORT_MARKUP(out, "<div><b>{}</b><span>{}</span></div>\n", value, label);
}

static void print_facts(const json_t *target, struct text *out)
{
    const json_t *counts = json_object_get(target, "counts");
    const int64_t uncompared = report_markup_count(counts, "unsupported") +
                               report_markup_count(counts, "skipped") +
                               report_markup_count(counts, "derived_not_judged");
    const int64_t failed =
        report_markup_count(counts, "failed") + report_markup_count(counts, "errors");
    struct shorts s;

    text_append(out, "<div class=\"facts\">\n");
    print_fact(out, thousands(counts, "blamed", s.a), "blamed: stay on the source");
    print_fact(out, thousands(counts, "cases", s.a), "recorded cases replayed");
    print_fact(out, report_markup_thousands(failed, s.a), "of them beyond their limit");
    print_fact(out, thousands(counts, "derived", s.a), "more cases made up around them");
    print_fact(out, report_markup_thousands(uncompared, s.a), "not compared, each with its reason");
    print_fact(out, report_markup_time(report_markup_count(target, "offload_ns"), s.a),
               "to move operators and prove each move");
    text_append(out, "</div>\n");
}

// -- Accusations -------------------------------------------------------------------------------

static void print_values(const json_t *item, struct text *out)
{
    const json_t *values = json_object_get(item, "values");
    struct shorts s;

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
            string(value, "param"), string(value, "place"),
            report_markup_value(report_markup_number(value, "expected"), 7, s.a),
            report_markup_value(report_markup_number(value, "computed"), 7, s.b),
            report_markup_value(report_markup_number(value, "difference"), 3, s.c),
            report_markup_value(report_markup_number(value, "allowed"), 3, s.d));
    }
    REPORT_MARKUP(out,
                  "</tbody></table></div>\n<p class=\"soft\">{} of {} elements of <code>{}</code> "
                  "are beyond what is allowed; the first are shown.</p>\n",
                  thousands(item, "beyond", s.a), thousands(item, "elements", s.b),
                  string(item, "output"));
}

// Which kind of case found it.
static void print_found(const json_t *target, const json_t *blamed, struct text *out)
{
    const json_t *ops = json_object_get(target, "ops");
    const json_t *item = json_object_get(blamed, "case");
    struct shorts s;

    REPORT_MARKUP(out, "<p class=\"soft\">Found by {} of {} cases recorded of this operator",
                  thousands(blamed, "failed", s.a), thousands(blamed, "cases", s.b));
    if (item != NULL) {
        const int64_t step = report_markup_count(item, "step");

        (void)snprintf(s.c, sizeof(s.c), "%" PRId64, report_markup_count(item, "prompt") + 1);
        (void)snprintf(s.d, sizeof(s.d), step == 0 ? "prefill" : "step %" PRId64, step);
        REPORT_MARKUP(out, "; shown is prompt {}, {}, shapes <code>{}</code>", s.c, s.d,
                      string(item, "shape_class"));
    }
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);
        const char *key = NULL;
        json_t *kind = NULL;

        if (strcmp(string(op, "op"), string(blamed, "op")) != 0) {
            continue;
        }
        json_object_foreach(json_object_get(op, "derived"), key, kind)
        {
            REPORT_MARKUP(out, "; of made-up <em>{}</em> cases {} of {} fail", key,
                          thousands(kind, "failed", s.a), thousands(kind, "cases", s.b));
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
        string(bundle, "file"), string(bundle, "shape_class"), string(bundle, "command"));
}

// The instances of an op that are blamed beside the one that is shown.
static void print_others(const json_t *target, const json_t *shown, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");
    int has_any = 0;
    struct shorts s;

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *other = json_array_get(blamed, i);

        if (other == shown || strcmp(string(other, "op"), string(shown, "op")) != 0) {
            continue;
        }
        text_append(out, has_any++ ? ""
                                   : "<details><summary>The same operator elsewhere</summary>"
                                     "<ul class=\"others\">\n");
        REPORT_MARKUP(out, "<li><code>{}</code> <span class=\"soft\">margin {}{}{}</span></li>\n",
                      string(other, "instance"),
                      report_markup_margin(report_markup_number(other, "margin"), s.a),
                      json_object_get(other, "bundle") != NULL ? ", " : "",
                      string(json_object_get(other, "bundle"), "file"));
    }
    text_append(out, has_any ? "</ul></details>\n" : "");
}

static void print_blame(const json_t *target, const json_t *blamed, struct text *out)
{
    const int is_alone = json_is_true(json_object_get(blamed, "alone"));
    const int is_derived = string(json_object_get(blamed, "case"), "label")[0] != '\0';
    const json_t *item = json_object_get(blamed, "case");
    const double margin = report_markup_number(blamed, "margin");
    const int64_t tries = report_markup_count(blamed, "tries");
    const int64_t failed = report_markup_count(blamed, "failed_tries");
    struct shorts s;

    REPORT_MARKUP(out,
                  "<article class=\"blamed\"><h3><code>{}</code> <span class=\"where\">first at "
                  "<code>{}</code>{}{}</span></h3>\n<p>",
                  report_markup_op(string(blamed, "op")), string(blamed, "instance"),
                  item != NULL ? ", " : "", string(item, "phase"));
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
    REPORT_MARKUP(out, "{}.", string(blamed, "reason"));
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

// One card for each op kind, with its first blamed instance.
static void print_blamed(const json_t *target, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");
    size_t cards = 0;

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i);
        int is_first = 1;

        for (size_t k = 0; k < i && is_first; k++) {
            is_first = strcmp(string(json_array_get(blamed, k), "op"), string(item, "op")) != 0;
        }
        if (is_first && cards++ < CARDS_MAX) {
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
        const char *verdict = string(item, "verdict");

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
                      report_markup_op(string(item, "op")), string(item, "source"),
                      string(item, "label"), string(item, "reason"));
    }
    text_append(out, shown > 0 ? "</ul>\n" : "");
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
    const char *state = string(cell, "state");
    const double margin = report_markup_number(cell, "margin");
    struct shorts s;

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

        REPORT_MARKUP(out, "<tr><th scope=\"row\">{}</th>", string(row, "name"));
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
static void print_bars(int64_t source, int64_t target, int64_t longest, struct text *out)
{
    text_format(out,
                "<td><svg class=\"bars\" viewBox=\"0 0 200 14\" width=\"200\" height=\"14\" "
                "aria-hidden=\"true\"><rect class=\"s\" width=\"%.1f\" height=\"6\" "
                "rx=\"1\"/><rect class=\"t\" "
                "y=\"8\" width=\"%.1f\" height=\"6\" rx=\"1\"/></svg></td></tr>\n",
                200 * (double)source / (double)longest, 200 * (double)target / (double)longest);
}

static void print_time(const json_t *op, int64_t longest, struct text *out)
{
    const int64_t source = report_markup_count(op, "cases_source_ns");
    const int64_t target = report_markup_count(op, "cases_target_ns");
    const int64_t calls = report_markup_count(op, "run_calls");
    struct shorts s;

    (void)snprintf(s.a, sizeof(s.a), "%" PRId64, source);
    (void)snprintf(s.b, sizeof(s.b), "%" PRId64, target);
    REPORT_MARKUP(out,
                  "<tr><td><code>{}</code></td><td data-n=\"{}\">{}</td><td data-n=\"{}\">{}</td>",
                  report_markup_op(string(op, "op")), s.a, report_markup_time(source, s.c), s.b,
                  target > 0 ? report_markup_time(target, s.d) : "-");
    (void)snprintf(s.a, sizeof(s.a), "%" PRId64, report_markup_count(op, "run_ns"));
    (void)snprintf(s.b, sizeof(s.b), "%.1f",
                   calls > 0 ? (double)report_markup_count(op, "run_launches") / (double)calls : 0);
    REPORT_MARKUP(out, "<td data-n=\"{}\">{}</td><td data-n=\"{}\">{}</td><td>{}</td>", s.a,
                  calls > 0 ? report_markup_time(report_markup_count(op, "run_ns"), s.c) : "-",
                  calls > 0 ? s.b : "0", calls > 0 ? s.b : "-", thousands(op, "cases", s.d));
    print_bars(source, target, longest, out);
}

static void print_times(const json_t *target, struct text *out)
{
    const json_t *ops = json_object_get(target, "ops");
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
        "<table class=\"list sortable\"><thead><tr><th scope=\"col\">operator</th><th "
        "scope=\"col\" "
        "class=\"num\">calls on the source</th><th scope=\"col\" class=\"num\">same on "
        "<bdi>{}</bdi></th>"
        "<th scope=\"col\" class=\"num\">one prompt</th><th scope=\"col\" class=\"num\">kernel "
        "starts a "
        "call</th><th scope=\"col\" class=\"num\">recorded calls</th><td><span class=\"k "
        "s\"></span>source <span class=\"k t\"></span>target</td></tr>"
        "</thead><tbody>\n",
        string(target, "name"), string(target, "name"));
    for (size_t i = 0; i < json_array_size(ops); i++) {
        print_time(json_array_get(ops, i), longest, out);
    }
    text_append(out, "</tbody></table></div>\n");
}

// -- Steps -------------------------------------------------------------------------------------

static int is_search(const json_t *step)
{
    return strncmp(string(step, "step"), "search ", 7) == 0;
}

static void print_step(const json_t *step, struct text *out)
{
    const char *verdict = string(step, "verdict");
    const int is_good = strcmp(verdict, "kept") == 0 || strcmp(verdict, "agrees") == 0 ||
                        strcmp(verdict, "judged") == 0;
    struct shorts s;

    REPORT_MARKUP(
        out,
        "<li><span class=\"{}\" aria-hidden=\"true\">{}</span><b>{}</b><span>{}: {}</span>"
        "<span class=\"soft\">{}</span></li>\n",
        is_good ? "good" : "bad", is_good ? "\xe2\x9c\x93" : "\xe2\x9c\x95", string(step, "step"),
        verdict, string(step, "reason"),
        report_markup_time(report_markup_count(step, "time_ns"), s.a));
}

static void print_steps(const json_t *target, struct text *out)
{
    const json_t *steps = json_object_get(target, "steps");
    size_t searches = 0;
    struct shorts s;

    text_append(
        out, "<h2>What was tried, in order</h2>\n<p class=\"soft\">What failed alone stayed on the "
             "source. Of the rest one kind of operator after the other was moved, dearest first, "
             "and after each move the model was run from end to end.</p>\n<ol class=\"steps\">\n");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);

        searches += (size_t)is_search(step);
        if (!is_search(step)) {
            print_step(step, out);
        }
    }
    text_append(out, "</ol>\n");
    if (searches == 0) {
        return;
    }
    REPORT_MARKUP(out,
                  "<details><summary>{} trials to find what makes the model diverge</summary><ol "
                  "class=\"steps\">\n",
                  report_markup_thousands((int64_t)searches, s.a));
    for (size_t i = 0; i < json_array_size(steps); i++) {
        if (is_search(json_array_get(steps, i))) {
            print_step(json_array_get(steps, i), out);
        }
    }
    text_append(out, "</ol></details>\n");
}

// -- Coverage ----------------------------------------------------------------------------------

static int is_made_up(const json_t *entry)
{
    return strncmp(string(entry, "what"), "derived", 7) == 0;
}

static size_t count_entries(const json_t *entries, int made_up)
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(entries); i++) {
        count += is_made_up(json_array_get(entries, i)) == made_up;
    }
    return count;
}

static void print_coverage_table(const json_t *entries, int made_up, struct text *out)
{
    text_append(out,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Not compared\">"
                "<table class=\"list sortable wrap\"><thead><tr><th scope=\"col\">what</th><th "
                "scope=\"col\">operator</th><th scope=\"col\" class=\"num\">how often</th><th "
                "scope=\"col\">reason</th><th scope=\"col\">the first</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        struct shorts s;

        if (is_made_up(entry) != made_up) {
            continue;
        }
        REPORT_MARKUP(out,
                      "<tr><td>{}</td><td><code>{}</code></td><td class=\"num\">{}</td><td>{}</td>"
                      "<td><code>{}</code></td></tr>\n",
                      string(entry, "what"), report_markup_op(string(entry, "op")),
                      thousands(entry, "count", s.a), string(entry, "reason"),
                      string(entry, "first"));
    }
    text_append(out, "</tbody></table></div>\n");
}

static void print_coverage(const json_t *report, const json_t *target, struct text *out)
{
    const json_t *carving = json_object_get(report, "carving");
    const json_t *counts = json_object_get(target, "counts");
    const json_t *entries = json_object_get(target, "not_compared");
    struct shorts s;

    REPORT_MARKUP(out,
                  "<h2>What was covered, and what was not</h2>\n<p>{} prompts made {} calls of {} "
                  "operators on the source. ",
                  thousands(carving, "prompts", s.a), thousands(carving, "calls", s.b),
                  thousands(counts, "instances", s.c));
    REPORT_MARKUP(
        out,
        "{} of the calls were kept whole as cases, each a new shape or a wider range of values; "
        "of the others the ranges are in the store. {} of {} cases were compared here, and {} "
        "of {} made up around them.</p>\n",
        thousands(carving, "cases", s.a),
        report_markup_thousands(report_markup_count(counts, "cases") -
                                    report_markup_count(counts, "unsupported") -
                                    report_markup_count(counts, "skipped"),
                                s.b),
        thousands(counts, "cases", s.c),
        report_markup_thousands(report_markup_count(counts, "derived") -
                                    report_markup_count(counts, "derived_not_judged"),
                                s.d),
        thousands(counts, "derived", s.e));
    if (count_entries(entries, 0) == 0) {
        text_append(out,
                    "<p>Nothing that the model needs was skipped, unsupported or left out.</p>\n");
    } else {
        print_coverage_table(entries, 0, out);
    }
    if (count_entries(entries, 1) > 0) {
        REPORT_MARKUP(out,
                      "<details><summary>{} made-up cases that judge nobody, by reason</summary>\n",
                      thousands(counts, "derived_not_judged", s.a));
        print_coverage_table(entries, 1, out);
        text_append(out, "</details>\n");
    }
}

static void print_instances(const json_t *target, struct text *out)
{
    const json_t *instances = json_object_get(target, "instances");
    struct shorts s;

    REPORT_MARKUP(
        out,
        "<details class=\"all\"><summary>Every one of the {} operators</summary>\n<div "
        "class=\"scroll tall\" tabindex=\"0\" role=\"region\" aria-label=\"Every operator\"><table "
        "class=\"list sortable filtered\"><thead><tr><th scope=\"col\">where in the model</th><th "
        "scope=\"col\">operator</th><th scope=\"col\">verdict</th><th scope=\"col\" class=\"num\">"
        "margin</th><th scope=\"col\" class=\"num\">cases</th><th scope=\"col\" class=\"num\">time"
        "</th></tr></thead><tbody>\n",
        report_markup_thousands((int64_t)json_array_size(instances), s.a));
    for (size_t i = 0; i < json_array_size(instances); i++) {
        const json_t *item = json_array_get(instances, i);
        const double margin = report_markup_number(item, "margin");

        (void)snprintf(s.a, sizeof(s.a), "%.6g",
                       isnan(margin)   ? -1
                       : isinf(margin) ? 1e300
                                       : margin);
        (void)snprintf(s.b, sizeof(s.b), "%" PRId64, report_markup_count(item, "replay_ns"));
        REPORT_MARKUP(
            out,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td class=\"num\" data-n=\"{}\">{}"
            "</td><td class=\"num\">{}</td>",
            string(item, "instance"), report_markup_op(string(item, "op")), string(item, "state"),
            s.a, report_markup_margin(margin, s.c), thousands(item, "cases", s.d));
        REPORT_MARKUP(out, "<td class=\"num\" data-n=\"{}\">{}</td></tr>\n", s.b,
                      report_markup_time(report_markup_count(item, "replay_ns"), s.e));
    }
    text_append(out, "</tbody></table></div></details>\n");
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
    print_facts(target, out);
    print_blamed(target, out);
    print_derived_failures(target, out);
    print_grid(target, out);
    print_times(target, out);
    print_steps(target, out);
    print_coverage(report, target, out);
    print_instances(target, out);
    text_append(out, "</section>\n");
}
