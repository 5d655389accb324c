// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_junit.h"

#include "base/alloc.h"
#include "base/table.h"
#include "report/junit_suite.h"
#include "report/report_driver.h"
#include "report/report_markup.h"
#include "report/report_verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static enum junit_outcome kind_of(const char *verdict)
{
    return strcmp(verdict, "pass") == 0    ? JUNIT_PASSED
           : strcmp(verdict, "fail") == 0  ? JUNIT_FAILED
           : strcmp(verdict, "error") == 0 ? JUNIT_ERROR
                                           : JUNIT_SKIPPED;
}

// A case that is bad says more than one that passed, and that more than one that was skipped.
static int is_worse(const struct junit_trial *trial, enum junit_outcome kind, double margin)
{
    static const int ranks[] = {
        [JUNIT_PASSED] = 1, [JUNIT_FAILED] = 3, [JUNIT_ERROR] = 2, [JUNIT_SKIPPED] = 0};

    return trial->cases == 0 || ranks[kind] > ranks[trial->kind] ||
           (ranks[kind] == ranks[trial->kind] &&
            (margin > trial->margin || (!trial->has_margin && !isnan(margin))));
}

static void add_case(struct junit_trial *trial, const json_t *item)
{
    const enum junit_outcome kind = kind_of(report_markup_string(item, "verdict"));
    const double margin = report_markup_number(item, "margin");

    if (is_worse(trial, kind, margin)) {
        trial->kind = kind;
        trial->reason = report_markup_string(item, "reason");
        trial->margin = isnan(margin) ? 0 : margin;
        trial->has_margin = !isnan(margin);
    }
    trial->cases++;
    trial->bad += kind == JUNIT_FAILED || kind == JUNIT_ERROR;
    trial->time_ns += report_markup_count(item, "time_ns");
}

// The trials of cases that share a name, in the order of their first cases.
struct trials {
    struct junit_trial *items;
    size_t count, capacity;
    struct table index_of; // By name.
};

static tapml_status
find_trial(struct trials *trials, const char *name, struct junit_trial **out_trial)
{
    void *items = trials->items;
    size_t index = 0;

    if (!table_find(&trials->index_of, name, &index)) {
        if (!alloc_grow(&items, &trials->capacity, trials->count, sizeof(*trials->items))) {
            return status_no_memory();
        }
        trials->items = items;
        index = trials->count++;
        trials->items[index] = (struct junit_trial){.reason = ""};
        (void)snprintf(trials->items[index].name, sizeof(trials->items[index].name), "%s", name);
        TAPML_TRY(table_set(&trials->index_of, name, index));
    }
    *out_trial = &trials->items[index];
    return TAPML_OK;
}

static void name_kept(const json_t *item, char *out_name, size_t size)
{
    (void)snprintf(out_name, size, "%s %s", report_markup_string(item, "instance"),
                   report_markup_string(item, "phase"));
}

static void name_derived(const json_t *item, char *out_name, size_t size)
{
    (void)snprintf(out_name, size, "derived %s: %s, around %s %s",
                   report_markup_string(item, "source"), report_markup_string(item, "label"),
                   report_markup_string(item, "instance"), report_markup_string(item, "phase"));
}

static tapml_status gather(struct trials *trials,
                           const json_t *cases,
                           void (*name)(const json_t *item, char *out_name, size_t size))
{
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        char text[sizeof(trials->items->name)];
        struct junit_trial *trial = NULL;

        name(item, text, sizeof(text));
        TAPML_TRY(find_trial(trials, text, &trial));
        trial->op = report_markup_string(item, "op");
        add_case(trial, item);
    }
    return TAPML_OK;
}

// Appending cannot fail at once: where there is no memory the text is marked.
static void print_cases(struct junit_suite *suite,
                        const json_t *target,
                        const char *key,
                        void (*name)(const json_t *item, char *out_name, size_t size))
{
    struct trials trials = {.items = NULL};

    table_init(&trials.index_of);
    suite->cases.failed |= gather(&trials, json_object_get(target, key), name) != TAPML_OK;
    for (size_t i = 0; i < trials.count; i++) {
        junit_suite_add(suite, &trials.items[i]);
    }
    table_release(&trials.index_of);
    alloc_free(trials.items);
}

// Accused without a failed case of its own.
static void print_together(struct junit_suite *suite, const json_t *target)
{
    const json_t *blamed = json_object_get(target, "blamed");

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i);
        struct junit_trial trial = {.op = report_markup_string(item, "op"),
                                    .kind = JUNIT_FAILED,
                                    .reason = report_markup_string(item, "reason"),
                                    .cases = 1,
                                    .bad = 1};

        if (!json_is_true(json_object_get(item, "alone"))) {
            (void)snprintf(trial.name, sizeof(trial.name), "%s in the model",
                           report_markup_string(item, "instance"));
            junit_suite_add(suite, &trial);
        }
    }
}

// A run of an earlier version has made no check.
static void print_driver(struct junit_suite *suite, const json_t *target)
{
    const json_t *check = json_object_get(target, "driver_check");
    const char *verdict = report_markup_string(check, "verdict");
    const struct junit_trial trial = {.op = "driver",
                                      .name = "memory and queue",
                                      .kind = strcmp(verdict, "passed") == 0   ? JUNIT_PASSED
                                              : strcmp(verdict, "failed") == 0 ? JUNIT_FAILED
                                                                               : JUNIT_SKIPPED,
                                      .reason = report_markup_string(check, "sentence"),
                                      .cases = 1,
                                      .bad = 1};

    junit_suite_add(suite, &trial);
}

// What could not be tried is no test.
static void print_invariance(struct junit_suite *suite, const json_t *target)
{
    const json_t *items = json_object_get(target, "invariance");

    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        const int is_wrong = strcmp(report_markup_string(item, "verdict"), "wrong") == 0;
        const int64_t tried = report_markup_count(item, "tried");
        struct junit_trial trial = {.op = report_markup_string(item, "op"),
                                    .kind = is_wrong ? JUNIT_FAILED : JUNIT_PASSED,
                                    .reason = report_markup_string(item, "reason"),
                                    .cases = (uint64_t)(tried > 0 ? tried : 1),
                                    .bad = is_wrong};

        if (is_wrong || tried > 0) {
            (void)snprintf(trial.name, sizeof(trial.name), "invariance: %s",
                           report_markup_string(item, "axis"));
            junit_suite_add(suite, &trial);
        }
    }
}

static void print_end_to_end(struct junit_suite *suite, const json_t *target)
{
    static const enum junit_outcome kinds[] = {[REPORT_MODEL_AGREES] = JUNIT_PASSED,
                                               [REPORT_MODEL_DIVERGES] = JUNIT_FAILED,
                                               [REPORT_MODEL_NOT_JUDGED] = JUNIT_SKIPPED};
    const json_t *judged = json_object_get(target, "end_to_end");
    const struct junit_trial trial = {.op = "model",
                                      .name = "end to end",
                                      .kind = kinds[report_verdict_model(target)],
                                      .reason = report_markup_string(judged, "sentence"),
                                      .cases = 1,
                                      .bad = 1,
                                      .time_ns = report_markup_count(target, "offload_ns")};

    junit_suite_add(suite, &trial);
}

static void print_properties(const json_t *target, struct text *out)
{
    static const char *const keys[] = {"backend",        "component", "device",
                                       "device_name",    "driver",    "plugin",
                                       "plugin_version", "build",     "activations"};

    text_append(out, "  <properties>\n");
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        REPORT_MARKUP(out, "   <property name=\"{}\" value=\"{}\"/>\n", keys[i],
                      report_markup_string(target, keys[i]));
    }
    text_append(out, "  </properties>\n");
}

static void
print_suite(const struct junit_suite *suite, const json_t *target, size_t index, struct text *out)
{
    const time_t moment = (time_t)report_markup_count(target, "finished_s");
    char when[REPORT_MARKUP_SHORT] = "";
    struct tm parts;

    if (gmtime_r(&moment, &parts) != NULL) {
        (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &parts);
    }
    REPORT_MARKUP(out, " <testsuite name=\"{}\" timestamp=\"{}\"",
                  report_markup_string(target, "name"), when);
    text_format(out, " id=\"%zu\" hostname=\"localhost\" package=\"tapml\"", index);
    junit_suite_print_counts(suite, out);
    text_append(out, ">\n");
    print_properties(target, out);
    text_append_bytes(out, suite->cases.data, suite->cases.length);
    text_append(out, " </testsuite>\n");
}

// A target that was not there, or went away, is a suite with one error.
static void print_given_up(const json_t *report, struct junit_suite *all, struct text *out)
{
    const json_t *given_up = json_object_get(report, "given_up");

    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);

        REPORT_MARKUP(out, " <testsuite name=\"{}\"", report_markup_string(target, "name"));
        junit_suite_print_counts(&(struct junit_suite){.tests = 1, .errors = 1}, out);
        REPORT_MARKUP(
            out,
            ">\n  <testcase classname=\"{}\" name=\"the target is there\">\n"
            "   <error message=\"{}\" type=\"given up\"/>\n  </testcase>\n </testsuite>\n",
            report_markup_string(target, "name"), report_markup_string(target, "reason"));
        all->tests++;
        all->errors++;
    }
}

void report_junit_print(const json_t *report, struct text *out)
{
    const json_t *targets = json_object_get(report, "targets");
    struct junit_suite all = {.tests = 0};
    struct text suites;

    text_init(&suites);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        const json_t *target = json_array_get(targets, i);
        struct junit_suite suite = {.name = report_markup_string(target, "name")};

        text_init(&suite.cases);
        print_driver(&suite, target);
        print_cases(&suite, target, "cases", name_kept);
        print_cases(&suite, target, "derived", name_derived);
        print_together(&suite, target);
        print_invariance(&suite, target);
        print_end_to_end(&suite, target);
        print_suite(&suite, target, i, &suites);
        suites.failed |= suite.cases.failed;
        text_release(&suite.cases);
        junit_suite_sum(&all, &suite);
    }
    print_given_up(report, &all, &suites);
    junit_suite_print_all(&all, report_markup_string(json_object_get(report, "run"), "name"),
                          &suites, out);
    text_release(&suites);
}
