// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/changes_text.h"

#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINES_SHOWN = 20, PERCENT = 100 };

// -- Words -------------------------------------------------------------------------------------

void changes_text_place(const json_t *item, struct text *out)
{
    static const char *const names[] = {"instance", "phase", "shape_class", "label"};
    const char *between = ": ";

    text_format(out, "%s: %s", report_markup_string(item, "target"),
                catalogue_shorten(report_markup_string(item, "op")));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const char *part = report_markup_string(item, names[i]);

        if (*part != '\0') {
            text_format(out, "%s%s", between, part);
            between = ", ";
        }
    }
}

void changes_text_group(const json_t *group, struct text *out)
{
    const int64_t count = report_markup_count(group, "count");

    changes_text_place(group, out);
    if (count > 1) {
        text_format(out, " and %" PRId64 " more", count - 1);
    }
}

void changes_text_verdicts(const json_t *item, struct text *out)
{
    const json_t *verdicts = json_object_get(item, "verdicts");

    for (size_t i = 0; i < json_array_size(verdicts); i++) {
        const char *verdict = json_string_value(json_array_get(verdicts, i));

        text_format(out, "%s%s", i > 0 ? " -> " : "", verdict != NULL ? verdict : "none");
    }
}

void changes_text_margins(const json_t *item, struct text *out)
{
    const json_t *margins = json_object_get(item, "margins");

    for (size_t i = 0; i < json_array_size(margins); i++) {
        const json_t *margin = json_array_get(margins, i);
        char text[REPORT_MARKUP_SHORT];

        text_format(out, "%s%s", i > 0 ? " -> " : "",
                    json_is_number(margin) ? report_markup_value(json_number_value(margin), 3, text)
                    : json_is_string(margin) ? json_string_value(margin)
                                             : "none");
    }
}

void changes_text_since(const json_t *changes, const json_t *flip, struct text *out)
{
    const json_t *causes = json_object_get(flip, "causes");
    const json_t *runs = json_object_get(changes, "runs");
    const json_t *run = json_array_get(runs, (size_t)report_markup_count(flip, "since"));

    text_format(out, "since %s", report_markup_string(run, "dir"));
    for (size_t i = 0; i < json_array_size(causes); i++) {
        text_format(out, "%s%s", i > 0 ? "; " : ": ", json_string_value(json_array_get(causes, i)));
    }
    if (json_array_size(causes) == 0) {
        text_append(out, ", with the same device, driver and code");
    }
}

void changes_text_time(const json_t *op, struct text *out)
{
    const json_t *time = json_object_get(op, "time");
    const double ratio = report_markup_number(time, "ratio");
    const int is_slower = ratio > 1;
    char times[REPORT_MARKUP_SHORT], noise[REPORT_MARKUP_SHORT];

    text_format(out, "%s by a factor of %s, noise %s", is_slower ? "slower" : "faster",
                report_markup_value(is_slower ? ratio : 1 / ratio, 3, times),
                report_markup_value(report_markup_number(time, "noise"), 3, noise));
}

static int has_moved(const json_t *op)
{
    const char *move = report_markup_string(json_object_get(op, "time"), "move");

    return strcmp(move, "slower") == 0 || strcmp(move, "faster") == 0;
}

const json_t *changes_text_next_moved(const json_t *changes,
                                      size_t *io_at,
                                      const char **out_target,
                                      const char **out_name)
{
    const json_t *ops = json_object_get(changes, "ops");

    while (*io_at < json_array_size(ops)) {
        const json_t *op = json_array_get(ops, (*io_at)++);

        if (has_moved(op)) {
            *out_target = report_markup_string(op, "target");
            *out_name = catalogue_shorten(report_markup_string(op, "op"));
            return op;
        }
    }
    return NULL;
}

int64_t changes_text_count(const json_t *changes, const char *kind)
{
    const json_t *ops = json_object_get(changes, "ops");
    int64_t count = 0;

    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);

        count += *report_markup_string(op, "op") == '\0' ? report_markup_count(op, kind) : 0;
    }
    return count;
}

// -- Lists -------------------------------------------------------------------------------------

// A line of a list, without its end.
typedef void (*line_fn)(const json_t *changes, const json_t *item, struct text *out);

static void print_list(const json_t *changes, const char *name, line_fn print, struct text *out)
{
    const json_t *list = json_object_get(changes, name);
    const size_t count = json_array_size(list);

    for (size_t i = 0; i < count && i < LINES_SHOWN; i++) {
        text_append(out, "  ");
        print(changes, json_array_get(list, i), out);
        text_append(out, "\n");
    }
    if (count > LINES_SHOWN) {
        text_format(out, "  and %zu more (--json has them)\n", count - LINES_SHOWN);
    }
}

static void print_flip(const json_t *changes, const json_t *flip, struct text *out)
{
    text_format(out, "%s: ", report_markup_string(flip, "change"));
    changes_text_group(flip, out);
    text_append(out, ": ");
    changes_text_verdicts(flip, out);
    text_append(out, ", ");
    changes_text_since(changes, flip, out);
}

static void print_flips(const json_t *changes, struct text *out)
{
    static const char *const kinds[] = {"broke", "fixed", "unsteady", "lost", "dropped", "gained"};
    const char *between = "\nflips: ";

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const int64_t count = changes_text_count(changes, kinds[i]);

        if (count > 0) {
            text_format(out, "%s%" PRId64 " %s", between, count, kinds[i]);
            between = ", ";
        }
    }
    if (*between == ',') {
        text_append(out, "\n");
        print_list(changes, "flip_groups", print_flip, out);
    }
}

static void print_margin(const json_t *changes, const json_t *item, struct text *out)
{
    (void)changes;
    changes_text_place(item, out);
    text_append(out, ": ");
    changes_text_margins(item, out);
    text_format(out, ", %.0f %% of its room is gone",
                PERCENT * report_markup_number(item, "lost_room"));
}

static void print_margins(const json_t *changes, struct text *out)
{
    const size_t count = json_array_size(json_object_get(changes, "margins"));

    if (count > 0) {
        text_format(out, "\nmargins that crept: %zu\n", count);
        print_list(changes, "margins", print_margin, out);
    }
}

static void print_times(const json_t *changes, struct text *out)
{
    const char *title = "\ntimes beyond their noise\n", *target = NULL, *name = NULL;
    const json_t *op = NULL;

    for (size_t at = 0; (op = changes_text_next_moved(changes, &at, &target, &name)) != NULL;) {
        text_format(out, "%s  %s: %s: ", title, target,
                    *name != '\0' ? name : "the target as a whole");
        changes_text_time(op, out);
        text_append(out, "\n");
        title = "";
    }
}

static void print_failure(const json_t *changes, const json_t *failure, struct text *out)
{
    const json_t *known = json_object_get(failure, "known");

    (void)changes;
    text_format(out, "%s: ", report_markup_string(failure, "state"));
    changes_text_group(failure, out);
    text_format(out, ": %s", report_markup_string(failure, "reason"));
    if (known != NULL) {
        text_format(out, " [%s: %s]", report_markup_string(failure, "entry"),
                    json_string_value(known));
    }
}

static void print_failures(const json_t *changes, struct text *out)
{
    if (json_array_size(json_object_get(changes, "failures")) > 0) {
        text_append(out, "\nfailures\n");
        print_list(changes, "failure_groups", print_failure, out);
    }
}

static void print_baseline(const json_t *changes, struct text *out)
{
    const json_t *baseline = json_object_get(changes, "baseline");
    const json_t *entries = json_object_get(baseline, "entries");
    int has_title = 0;

    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        const char *state = report_markup_string(entry, "state");

        if (strcmp(state, "known") == 0) {
            continue;
        }
        if (!has_title) {
            text_format(out, "\nentries of %s\n", report_markup_string(baseline, "file"));
            has_title = 1;
        }
        text_format(out, "  %s: [%s] %s: %s, expires %s\n", state,
                    report_markup_string(entry, "name"), report_markup_string(entry, "op"),
                    report_markup_string(entry, "reason"), report_markup_string(entry, "expires"));
    }
}

void changes_text_append(const json_t *changes, struct text *out)
{
    print_flips(changes, out);
    print_margins(changes, out);
    print_times(changes, out);
    print_failures(changes, out);
    print_baseline(changes, out);
}

void changes_text_sentence(const json_t *changes, struct text *out)
{
    const json_t *failed = json_object_get(changes, "failed");
    const int64_t lost = changes_text_count(changes, "lost");
    static const struct {
        const char *state, *words;
    } parts[] = {{"new", "new"},
                 {"expired", "known until a day that is past"},
                 {"before", "as before"},
                 {"known", "known"}};
    const char *between = "Failures: ";

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const int64_t count = report_markup_count(failed, parts[i].state);

        if (count > 0) {
            text_format(out, "%s%" PRId64 " %s", between, count, parts[i].words);
            between = ", ";
        }
    }
    text_append(out, *between == ',' ? "." : "There are no failures.");
    if (lost > 0) {
        text_format(out, " Of the cases that passed %" PRId64 " are not judged any more.", lost);
    }
}
