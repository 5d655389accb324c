// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/comparison_text.h"

#include "base/assert.h"
#include "base/utf8.h"
#include "report/changes_text.h"
#include "report/comparison.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <string.h>

enum { LINES_OF_A_KIND = 20 };

static const struct {
    const char *kind, *title;
} titles[] = {
    {"verdict", "verdicts"},
    {"margin", "margins"},
    {"blame", "blamed ops"},
    {"target", "targets"},
    {"case", "cases"},
    {"detail", "details of verdicts"},
    {"offload", "final plans"},
    {"coverage", "coverage"},
    {"setting", "settings"},
    {"code", "code of results"},
    {"step", "steps of the offload"},
    {"cost", "costs"},
    {"time", "times"},
    {"label", "names"},
};

const char *comparison_text_title(const char *kind)
{
    for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
        if (strcmp(titles[i].kind, kind) == 0) {
            return titles[i].title;
        }
    }
    return kind;
}

void comparison_text_place(const json_t *difference, struct text *out)
{
    const char *const parts[] = {report_markup_string(difference, "target"),
                                 report_markup_string(difference, "list"),
                                 report_markup_string(difference, "item")};
    const char *between = "";

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        if (*parts[i] != '\0') {
            text_format(out, "%s%s", between, parts[i]);
            between = ": ";
        }
    }
    if (*between == '\0') {
        text_append(out, "run");
    }
}

// Lists of objects are compared item by item; numbers have as many digits as others.
static void print_names(const json_t *names, struct text *out)
{
    for (size_t i = 0; i < json_array_size(names); i++) {
        const json_t *name = json_array_get(names, i);
        char buffer[REPORT_MARKUP_SHORT];

        ASSERT(json_is_string(name) || json_is_number(name));
        text_format(out, "%s%s", i > 0 ? ", " : "",
                    json_is_string(name) ? json_string_value(name)
                                         : report_markup_value(json_number_value(name), 9, buffer));
    }
}

// A plan has a line a rule: here they stand behind each other.
static void print_lines(const char *text, struct text *out)
{
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "\n");

        text_append_bytes(out, at, length);
        at += length + (at[length] == '\n');
        text_append(out, *at != '\0' ? "; " : "");
    }
    text_append(out, *text != '\0' ? "" : "''");
}

void comparison_text_value(const json_t *difference, const char *side, struct text *out)
{
    const json_t *value = json_object_get(difference, side);
    const int is_time = strcmp(report_markup_string(difference, "kind"), "time") == 0;
    const int is_date = strcmp(report_markup_string(difference, "field"), "finished_s") == 0;
    char buffer[REPORT_MARKUP_SHORT];

    if (json_is_string(value)) {
        print_lines(json_string_value(value), out);
    } else if (json_is_integer(value) && is_time) {
        text_append(out, is_date ? report_markup_date(json_integer_value(value), buffer)
                                 : report_markup_time(json_integer_value(value), buffer));
    } else if (json_is_integer(value)) {
        text_append(out, report_markup_thousands(json_integer_value(value), buffer));
    } else if (json_is_real(value)) {
        text_append(out, report_markup_value(json_real_value(value), 9, buffer));
    } else if (json_is_array(value)) {
        print_names(value, out);
    } else {
        text_append(out, json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "none");
    }
}

// "2 verdicts, 1 margins"
static void print_counts(const json_t *comparison, struct text *out)
{
    const json_t *counts = json_object_get(comparison, "counts");
    const char *between = "";

    for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
        const int64_t count = report_markup_count(counts, titles[i].kind);

        if (count > 0) {
            text_format(out, "%s%s: %" PRId64, between, titles[i].title, count);
            between = ", ";
        }
    }
    text_append(out, *between != '\0' ? "" : "no difference at all");
}

void comparison_text_sentence(const json_t *comparison, struct text *out)
{
    text_append(out,
                comparison_is_alike(comparison) ? "The runs are alike (" : "The runs differ (");
    print_counts(comparison, out);
    text_append(out, ").");
}

static void
print_side(const json_t *comparison, const char *key, const char *label, struct text *out)
{
    const json_t *side = json_object_get(comparison, key);

    text_format(out, "%s: %s (run %s, model %s, source %s, %s; tapml-host %s)\n", label,
                report_markup_string(side, "dir"), report_markup_string(side, "name"),
                report_markup_string(side, "model"), report_markup_string(side, "source"),
                report_markup_string(side, "verdict"), report_markup_string(side, "host"));
}

static void print_difference(const json_t *difference, struct text *out)
{
    text_append(out, "  ");
    comparison_text_place(difference, out);
    text_format(out, ": %s: ", report_markup_string(difference, "field"));
    comparison_text_value(difference, "first", out);
    text_append(out, " -> ");
    comparison_text_value(difference, "second", out);
    text_append(out, "\n");
}

static void print_kind(const json_t *comparison, const char *kind, struct text *out)
{
    const json_t *differences = json_object_get(comparison, "differences");
    const int64_t count = report_markup_count(json_object_get(comparison, "counts"), kind);
    int64_t shown = 0;

    if (count == 0) {
        return;
    }
    text_format(out, "\n%s: %" PRId64 "\n", comparison_text_title(kind), count);
    for (size_t i = 0; i < json_array_size(differences) && shown < LINES_OF_A_KIND; i++) {
        const json_t *difference = json_array_get(differences, i);

        if (strcmp(report_markup_string(difference, "kind"), kind) == 0) {
            print_difference(difference, out);
            shown++;
        }
    }
    if (shown < count) {
        text_format(out, "  and %" PRId64 " more (--json and --html have them)\n", count - shown);
    }
}

// What runs between the first and the last are called.
static void print_between(const json_t *runs, struct text *out)
{
    for (size_t i = 1; i + 1 < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);

        text_format(out, "between: %s (run %s, %s)\n", report_markup_string(run, "dir"),
                    report_markup_string(run, "name"), report_markup_string(run, "verdict"));
    }
}

// One run alone is compared with a baseline.
static void print_all(const json_t *comparison, struct text *out)
{
    const json_t *changes = json_object_get(comparison, "changes");
    const json_t *runs = json_object_get(changes, "runs");
    const int is_alone = json_array_size(runs) == 1;

    print_side(comparison, "first", is_alone ? "run" : "first", out);
    if (!is_alone) {
        print_between(runs, out);
        print_side(comparison, "second", "second", out);
    }
    changes_text_append(changes, out);
    for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
        print_kind(comparison, titles[i].kind, out);
    }
    text_append(out, "\n");
    if (!is_alone) {
        comparison_text_sentence(comparison, out);
        text_append(out, "\n");
    }
    if (changes != NULL) {
        changes_text_sentence(changes, out);
        text_append(out, "\n");
    }
}

tapml_status comparison_text_print(const json_t *comparison)
{
    struct text out;

    text_init(&out);
    print_all(comparison, &out);
    if (!out.failed) {
        utf8_make_plain(out.data); // Names and prompts of others command no terminal.
    }
    return text_print(&out);
}
