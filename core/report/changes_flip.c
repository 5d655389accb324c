// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/changes_flip.h"

#include "base/text.h"
#include "report/report_maker.h"
#include "report/report_markup.h"

#include <math.h>
#include <string.h>

// The classes of a case in the runs that have it.
struct course {
    enum history_class first, last;
    size_t since, before;
    size_t turns; // Between a pass and a failure.
    int was_good, was_bad;
    size_t runs;
};

static struct course follow(const struct history *history, size_t index)
{
    struct course course = {.first = HISTORY_NONE};
    enum history_class judged = HISTORY_NONE;
    size_t latest = 0;

    for (size_t run = 0; run < history->run_count; run++) {
        const json_t *item = history->cases[index].items[run];
        const enum history_class class_ = history_class_of(item);

        if (item == NULL) {
            continue;
        }
        if (course.runs == 0) {
            course.first = class_;
        } else if (class_ != course.last) {
            course.since = run;
            course.before = latest;
        }
        course.turns += judged != HISTORY_NONE && class_ != HISTORY_NONE && class_ != judged;
        course.was_good |= class_ == HISTORY_GOOD;
        course.was_bad |= class_ == HISTORY_BAD;
        judged = class_ != HISTORY_NONE ? class_ : judged;
        course.last = class_;
        course.runs++;
        latest = run;
    }
    return course;
}

static enum changes_flip_kind kind_of(const struct course *course)
{
    if (course->turns > 1) {
        return CHANGES_UNSTEADY;
    }
    if (course->last == course->first) {
        return CHANGES_STEADY;
    }
    switch (course->last) {
    case HISTORY_BAD:
        return CHANGES_BROKE;
    case HISTORY_GOOD:
        return course->was_bad ? CHANGES_FIXED : CHANGES_GAINED;
    case HISTORY_NONE:
        break;
    }
    return course->was_good ? CHANGES_LOST : CHANGES_DROPPED;
}

struct changes_flip changes_flip_of(const struct history *history, size_t index)
{
    const struct course course = follow(history, index);
    struct changes_flip flip = {.kind = CHANGES_GONE};

    if (history->cases[index].items[history->run_count - 1] != NULL) {
        flip.kind = kind_of(&course);
        flip.since = flip.kind != CHANGES_STEADY ? course.since : 0;
        flip.before = flip.kind != CHANGES_STEADY ? course.before : 0;
    }
    return flip;
}

const char *changes_flip_name(enum changes_flip_kind kind)
{
    static const char *const names[] = {
        [CHANGES_STEADY] = "steady",     [CHANGES_BROKE] = "broke", [CHANGES_FIXED] = "fixed",
        [CHANGES_UNSTEADY] = "unsteady", [CHANGES_LOST] = "lost",   [CHANGES_DROPPED] = "dropped",
        [CHANGES_GAINED] = "gained",     [CHANGES_GONE] = "gone",
    };

    return names[kind];
}

int changes_flip_has_one_content(const struct history *history, size_t index)
{
    const char *key = NULL;

    for (size_t run = 0; run < history->run_count; run++) {
        const json_t *item = history->cases[index].items[run];
        const char *its = report_markup_string(item, "key");

        if (item != NULL && key != NULL && strcmp(key, its) != 0) {
            return 0;
        }
        key = item != NULL ? its : key;
    }
    return 1;
}

// -- Causes ------------------------------------------------------------------------------------

// A member of two objects that says another thing in the second.
static void add_cause(
    json_t *causes, const char *name, const json_t *first, const json_t *second, int *io_failed)
{
    const char *was = report_markup_string(first, name), *is = report_markup_string(second, name);
    struct text text;

    if (strcmp(was, is) == 0) {
        return;
    }
    text_init(&text);
    text_format(&text, "%s: %.200s -> %.200s", name, *was != '\0' ? was : "none",
                *is != '\0' ? is : "none");
    *io_failed |= text.failed || json_array_append_new(causes, report_maker_string(text.data)) != 0;
    text_release(&text);
}

json_t *
changes_flip_causes(const struct history *history, size_t index, const struct changes_flip *flip)
{
    static const char *const of_target[] = {
        "backend",        "component", "device",      "device_name", "driver",   "plugin",
        "plugin_version", "build",     "activations", "faults",      "observers"};
    const struct history_case *one = &history->cases[index];
    const json_t *targets[] = {history_target(history, flip->before, one->target),
                               history_target(history, flip->since, one->target)};
    json_t *causes = json_array();
    int failed = causes == NULL;

    for (size_t i = 0; i < sizeof(of_target) / sizeof(*of_target) && !failed; i++) {
        add_cause(causes, of_target[i], targets[0], targets[1], &failed);
    }
    add_cause(causes, "implementation", one->items[flip->before], one->items[flip->since], &failed);
    add_cause(causes, "key", one->items[flip->before], one->items[flip->since], &failed);
    add_cause(causes, "host", json_object_get(history->runs[flip->before].report, "run"),
              json_object_get(history->runs[flip->since].report, "run"), &failed);
    if (failed) {
        json_decref(causes);
        return NULL;
    }
    return causes;
}

// -- Margins -----------------------------------------------------------------------------------

double changes_flip_creep(const struct history *history, size_t index)
{
    const struct history_case *one = &history->cases[index];
    const json_t *last = one->items[history->run_count - 1], *first = NULL;

    for (size_t run = 0; first == NULL && run + 1 < history->run_count; run++) {
        first = one->items[run];
    }
    if (history_class_of(first) != HISTORY_GOOD || history_class_of(last) != HISTORY_GOOD) {
        return (double)NAN;
    }
    const double was = report_markup_number(first, "margin"),
                 is = report_markup_number(last, "margin");

    return was < 1 ? (is - was) / (1 - was) : (double)NAN; // NaN stays NaN.
}
