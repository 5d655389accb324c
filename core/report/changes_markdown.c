// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/changes_markdown.h"

#include "report/changes.h"
#include "report/changes_text.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <string.h>

enum { ROWS_SHOWN = 50 };

// Every mark of Markdown may be written behind a backslash (CommonMark 0.31, section 2.4); signs of
// HTML, of mentions and of control are written as characters.
static void add_escaped(struct text *out, const char *words)
{
    for (const char *at = words; *at != '\0'; at++) {
        if (*at == '<' || *at == '>' || *at == '&' || *at == '@') {
            text_format(out, "&#%d;", *at);
        } else if (strchr("\\`*_[]#!|~$", *at) != NULL) {
            text_format(out, "\\%c", *at);
        } else if ((unsigned char)*at < ' ' || *at == 0x7f) {
            text_append(out, " ");
        } else {
            text_append_bytes(out, at, 1);
        }
    }
}

static void add_cell(struct text *out, const char *words)
{
    text_append(out, " ");
    add_escaped(out, words);
    text_append(out, " |");
}

// A cell of what `print` appends.
static void
add_made(struct text *out, const json_t *item, void (*print)(const json_t *item, struct text *out))
{
    struct text cell;

    text_init(&cell);
    print(item, &cell);
    out->failed |= cell.failed;
    add_cell(out, cell.failed ? "" : cell.data);
    text_release(&cell);
}

static void add_rest(struct text *out, size_t count)
{
    if (count > ROWS_SHOWN) {
        text_format(out, "\nand %zu more\n", count - ROWS_SHOWN);
    }
}

static void print_runs(const json_t *changes, struct text *out)
{
    static const char *const names[] = {"dir", "verdict", "model", "source", "host"};
    const json_t *runs = json_object_get(changes, "runs");

    text_append(out, "\n| run | verdict | model | source | tapml-host |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        text_append(out, "|");
        for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
            add_cell(out, report_markup_string(json_array_get(runs, i), names[k]));
        }
        text_append(out, "\n");
    }
}

static void print_failures(const json_t *changes, struct text *out)
{
    const json_t *failures = json_object_get(changes, "failure_groups");
    const size_t count = json_array_size(failures);

    if (count == 0) {
        return;
    }
    text_append(out, "\n### Failures\n\n| | where | device | driver | reason | known as |\n"
                     "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        const json_t *failure = json_array_get(failures, i);

        text_append(out, "|");
        add_cell(out, report_markup_string(failure, "state"));
        add_made(out, failure, changes_text_group);
        add_cell(out, report_markup_string(failure, "device_name"));
        add_cell(out, report_markup_string(failure, "driver"));
        add_cell(out, report_markup_string(failure, "reason"));
        add_cell(out, report_markup_string(failure, "known"));
        text_append(out, "\n");
    }
    add_rest(out, count);
}

static void print_flips(const json_t *changes, struct text *out)
{
    const json_t *flips = json_object_get(changes, "flip_groups");
    const size_t count = json_array_size(flips);

    if (count == 0) {
        return;
    }
    text_append(out, "\n### Flips\n\n| | where | verdicts | since |\n|---|---|---|---|\n");
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        const json_t *flip = json_array_get(flips, i);
        struct text since;

        text_init(&since);
        changes_text_since(changes, flip, &since);
        out->failed |= since.failed;
        text_append(out, "|");
        add_cell(out, report_markup_string(flip, "change"));
        add_made(out, flip, changes_text_group);
        add_made(out, flip, changes_text_verdicts);
        add_cell(out, since.failed ? "" : since.data);
        text_append(out, "\n");
        text_release(&since);
    }
    add_rest(out, count);
}

static void print_margins(const json_t *changes, struct text *out)
{
    const json_t *margins = json_object_get(changes, "margins");
    const size_t count = json_array_size(margins);

    if (count == 0) {
        return;
    }
    text_append(out, "\n### Margins that crept\n\n| where | margins |\n|---|---|\n");
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        text_append(out, "|");
        add_made(out, json_array_get(margins, i), changes_text_place);
        add_made(out, json_array_get(margins, i), changes_text_margins);
        text_append(out, "\n");
    }
    add_rest(out, count);
}

static void print_times(const json_t *changes, struct text *out)
{
    const char *title =
        "\n### Times beyond their noise\n\n| target | operator | |\n|---|---|---|\n";
    const char *target = NULL, *name = NULL;
    const json_t *op = NULL;

    for (size_t at = 0; (op = changes_text_next_moved(changes, &at, &target, &name)) != NULL;) {
        text_append(out, title);
        text_append(out, "|");
        add_cell(out, target);
        add_cell(out, *name != '\0' ? name : "all");
        add_made(out, op, changes_text_time);
        text_append(out, "\n");
        title = "";
    }
}

static void print_baseline(const json_t *changes, struct text *out)
{
    const json_t *entries = json_object_get(json_object_get(changes, "baseline"), "entries");
    const size_t count = json_array_size(entries);

    if (count == 0) {
        return;
    }
    text_append(out, "\n### Baseline\n\n| | entry | operator | failed | reason | expires |\n"
                     "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        const json_t *entry = json_array_get(entries, i);

        text_append(out, "|");
        add_cell(out, report_markup_string(entry, "state"));
        add_cell(out, report_markup_string(entry, "name"));
        add_cell(out, report_markup_string(entry, "op"));
        text_format(out, " %" PRId64 " of %" PRId64 " |", report_markup_count(entry, "failed"),
                    report_markup_count(entry, "judged"));
        add_cell(out, report_markup_string(entry, "reason"));
        add_cell(out, report_markup_string(entry, "expires"));
        text_append(out, "\n");
    }
    add_rest(out, count);
}

void changes_markdown_print(const json_t *comparison, struct text *out)
{
    const json_t *changes = json_object_get(comparison, "changes");

    text_format(out, "## TapML: %s\n\n",
                changes_is_worse(changes, 0) ? "something is worse" : "nothing is worse");
    changes_text_sentence(changes, out);
    text_append(out, "\n");
    print_runs(changes, out);
    print_failures(changes, out);
    print_flips(changes, out);
    print_margins(changes, out);
    print_times(changes, out);
    print_baseline(changes, out);
}
