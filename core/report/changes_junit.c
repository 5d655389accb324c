// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/changes_junit.h"

#include "base/alloc.h"
#include "report/changes_text.h"
#include "report/failures.h"
#include "report/junit_suite.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINES_SHOWN = 50 };

// The failures of an op on a target.
struct op_failures {
    struct text bad, known; // Lines: those that count, and the others.
    size_t bad_count, known_count;
};

static void append_line(struct text *lines, size_t number, const json_t *failure)
{
    if (number >= LINES_SHOWN) {
        return;
    }
    text_format(lines, "%s%s: ", number > 0 ? "\n" : "", report_markup_string(failure, "state"));
    changes_text_place(failure, lines);
    text_format(lines, ": %s", report_markup_string(failure, "reason"));
    if (*report_markup_string(failure, "known") != '\0') {
        text_format(lines, " [%s]", report_markup_string(failure, "known"));
    }
}

static int is_of(const json_t *item, const char *target, const char *op)
{
    return strcmp(report_markup_string(item, "target"), target) == 0 &&
           strcmp(report_markup_string(item, "op"), op) == 0;
}

static void
gather(const json_t *changes, const char *target, const char *op, struct op_failures *out_gathered)
{
    const json_t *failures = json_object_get(changes, "failures");

    for (size_t i = 0; i < json_array_size(failures); i++) {
        const json_t *failure = json_array_get(failures, i);
        const char *state = report_markup_string(failure, "state");

        if (!is_of(failure, target, op)) {
            continue;
        }
        if (strcmp(state, "new") == 0 || strcmp(state, "expired") == 0) {
            append_line(&out_gathered->bad, out_gathered->bad_count++, failure);
        } else {
            append_line(&out_gathered->known, out_gathered->known_count++, failure);
        }
    }
}

static void add_cases(struct junit_suite *suite,
                      const json_t *changes,
                      const char *target,
                      const char *op,
                      const json_t *row)
{
    struct op_failures gathered = {.bad_count = 0};
    const int64_t lost = report_markup_count(row, "lost");
    struct junit_trial trial = {.op = op, .name = "cases"};
    char reason[128];

    text_init(&gathered.bad);
    text_init(&gathered.known);
    gather(changes, target, op, &gathered);
    trial.kind = gathered.bad_count > 0 || lost > 0 ? JUNIT_FAILED
                 : gathered.known_count > 0         ? JUNIT_SKIPPED
                                                    : JUNIT_PASSED;
    (void)snprintf(reason, sizeof(reason),
                   "%zu failures are new, %zu are known or as before, %" PRId64
                   " cases are not judged any more",
                   gathered.bad_count, gathered.known_count, lost);
    trial.reason = reason;
    trial.details = gathered.bad.data;
    suite->cases.failed |= gathered.bad.failed || gathered.known.failed;
    if (!suite->cases.failed) {
        junit_suite_add(suite, &trial);
    }
    text_release(&gathered.bad);
    text_release(&gathered.known);
}

static void add_time(struct junit_suite *suite, const char *op, const json_t *row, int is_timed)
{
    const char *move = report_markup_string(json_object_get(row, "time"), "move");
    const int is_slower = strcmp(move, "slower") == 0;
    struct junit_trial trial = {.op = op, .name = "time"};
    struct text reason;

    if (strcmp(move, "unknown") == 0) {
        return;
    }
    text_init(&reason);
    changes_text_time(row, &reason);
    trial.kind = !is_slower ? JUNIT_PASSED : is_timed ? JUNIT_FAILED : JUNIT_SKIPPED;
    suite->cases.failed |= reason.failed;
    if (!suite->cases.failed) {
        trial.reason = reason.data;
        trial.details = reason.data;
        junit_suite_add(suite, &trial);
    }
    text_release(&reason);
}

// What fails and is no op, in the first failure of its kind.
static void add_others(struct junit_suite *suite, const json_t *changes, const char *target)
{
    static const char *const others[] = {FAILURES_DRIVER, FAILURES_MODEL, FAILURES_TARGET};
    const json_t *failures = json_object_get(changes, "failures");

    for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++) {
        int has = 0;

        for (size_t i = 0; i < json_array_size(failures); i++) {
            has |= is_of(json_array_get(failures, i), target, others[k]);
        }
        if (has) {
            add_cases(suite, changes, target, others[k], NULL);
        }
    }
}

static void print_target(const json_t *changes,
                         const char *target,
                         int is_timed,
                         struct junit_suite *all,
                         struct text *out)
{
    const json_t *ops = json_object_get(changes, "ops");
    struct junit_suite suite = {.name = target};

    text_init(&suite.cases);
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *row = json_array_get(ops, i);
        const char *op = report_markup_string(row, "op");

        if (!is_of(row, target, op)) {
            continue;
        }
        if (*op != '\0') {
            add_cases(&suite, changes, target, op, row);
        }
        add_time(&suite, *op != '\0' ? op : "all", row, is_timed);
    }
    add_others(&suite, changes, target);
    REPORT_MARKUP(out, " <testsuite name=\"{}\"", target);
    junit_suite_print_counts(&suite, out);
    text_append(out, ">\n");
    text_append_bytes(out, suite.cases.data, suite.cases.length);
    text_append(out, " </testsuite>\n");
    out->failed |= suite.cases.failed;
    junit_suite_sum(all, &suite);
    text_release(&suite.cases);
}

// Whether a list has named the target before an item.
static int is_named(const json_t *list, size_t end, const char *target)
{
    for (size_t i = 0; i < end && i < json_array_size(list); i++) {
        if (strcmp(report_markup_string(json_array_get(list, i), "target"), target) == 0) {
            return 1;
        }
    }
    return 0;
}

static void print(const json_t *comparison, int is_timed, struct text *out)
{
    const json_t *changes = json_object_get(comparison, "changes");
    const json_t *ops = json_object_get(changes, "ops");
    const json_t *failures = json_object_get(changes, "failures");
    struct junit_suite all = {.tests = 0};
    struct text suites;

    text_init(&suites);
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const char *target = report_markup_string(json_array_get(ops, i), "target");

        if (!is_named(ops, i, target)) {
            print_target(changes, target, is_timed, &all, &suites);
        }
    }
    for (size_t i = 0; i < json_array_size(failures); i++) {
        const char *target = report_markup_string(json_array_get(failures, i), "target");

        if (!is_named(ops, SIZE_MAX, target) && !is_named(failures, i, target)) {
            print_target(changes, target, is_timed, &all, &suites);
        }
    }
    junit_suite_print_all(&all, "tapml-host compare", &suites, out);
    text_release(&suites);
}

void changes_junit_print(const json_t *comparison, struct text *out)
{
    print(comparison, 0, out);
}

void changes_junit_print_timed(const json_t *comparison, struct text *out)
{
    print(comparison, 1, out);
}
