// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_junit.h"

#include "base/alloc.h"
#include "base/table.h"
#include "report/report_driver.h"
#include "report/report_markup.h"
#include "report/report_verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// A suite while its test cases are written: its head needs the counts.
struct suite {
    const json_t *target;
    struct text cases;
    int64_t tests, failures, errors, skipped, time_ns;
};

enum outcome_kind { PASSED, FAILED, ERROR, SKIPPED };

// Several cases that are one test case to the reader.
struct trial {
    const char *op;
    char name[512];
    enum outcome_kind kind;
    const char *reason; // Of the worst.
    double margin;      // Of the same, if it has one.
    int has_margin;
    size_t cases, bad;
    int64_t time_ns;
};

static void print_seconds(struct text *out, int64_t time_ns)
{
    char text[REPORT_MARKUP_SHORT];

    (void)snprintf(text, sizeof(text), "%.6f", (double)time_ns * 1e-9);
    REPORT_MARKUP(out, " time=\"{}\"", text);
}

static void print_margin(struct suite *suite, const struct trial *trial)
{
    char margin[REPORT_MARKUP_SHORT];

    if (trial->has_margin) {
        REPORT_MARKUP(&suite->cases, "   <system-out>margin {}</system-out>\n",
                      report_markup_value(trial->margin, 9, margin));
    }
}

static void print_result(struct suite *suite, const struct trial *trial)
{
    static const char *const tags[] = {
        [PASSED] = "", [FAILED] = "failure", [ERROR] = "error", [SKIPPED] = "skipped"};
    const char *tag = tags[trial->kind];
    char counts[64];

    if (trial->kind == PASSED && !trial->has_margin) {
        text_append(&suite->cases, "/>\n");
        return;
    }
    text_append(&suite->cases, ">\n");
    if (trial->kind == PASSED) {
        print_margin(suite, trial);
        text_append(&suite->cases, "  </testcase>\n");
        return;
    }
    (void)snprintf(counts, sizeof(counts), "%zu of %zu cases", trial->bad, trial->cases);
    REPORT_MARKUP(&suite->cases, "   <{} message=\"{}\"", tag, trial->reason);
    if (trial->kind == SKIPPED) {
        text_append(&suite->cases, "/>\n");
    } else {
        REPORT_MARKUP(&suite->cases, " type=\"{}\">{}: {}</{}>\n",
                      trial->kind == ERROR ? "error" : "beyond-limit", counts, trial->reason, tag);
    }
    print_margin(suite, trial);
    text_append(&suite->cases, "  </testcase>\n");
}

static void print_trial(struct suite *suite, const struct trial *trial)
{
    suite->tests++;
    suite->failures += trial->kind == FAILED;
    suite->errors += trial->kind == ERROR;
    suite->skipped += trial->kind == SKIPPED;
    suite->time_ns += trial->time_ns;
    REPORT_MARKUP(&suite->cases, "  <testcase classname=\"{}.{}\" name=\"{}\"",
                  report_markup_string(suite->target, "name"), report_markup_op(trial->op),
                  trial->name);
    print_seconds(&suite->cases, trial->time_ns);
    print_result(suite, trial);
}

static enum outcome_kind kind_of(const char *verdict)
{
    return strcmp(verdict, "pass") == 0    ? PASSED
           : strcmp(verdict, "fail") == 0  ? FAILED
           : strcmp(verdict, "error") == 0 ? ERROR
                                           : SKIPPED;
}

// A case that is bad says more than one that passed, and that more than one that was skipped.
static int is_worse(const struct trial *trial, enum outcome_kind kind, double margin)
{
    static const int ranks[] = {[PASSED] = 1, [FAILED] = 3, [ERROR] = 2, [SKIPPED] = 0};

    return trial->cases == 0 || ranks[kind] > ranks[trial->kind] ||
           (ranks[kind] == ranks[trial->kind] &&
            (margin > trial->margin || (!trial->has_margin && !isnan(margin))));
}

static void add_case(struct trial *trial, const json_t *item)
{
    const enum outcome_kind kind = kind_of(report_markup_string(item, "verdict"));
    const double margin = report_markup_number(item, "margin");

    if (is_worse(trial, kind, margin)) {
        trial->kind = kind;
        trial->reason = report_markup_string(item, "reason");
        trial->margin = isnan(margin) ? 0 : margin;
        trial->has_margin = !isnan(margin);
    }
    trial->cases++;
    trial->bad += kind == FAILED || kind == ERROR;
    trial->time_ns += report_markup_count(item, "time_ns");
}

// The trials of cases that share a name, in the order of their first cases.
struct trials {
    struct trial *items;
    size_t count, capacity;
    struct table index_of; // By name.
};

static tapml_status find_trial(struct trials *trials, const char *name, struct trial **out_trial)
{
    void *items = trials->items;
    size_t index = 0;

    if (!table_find(&trials->index_of, name, &index)) {
        if (!alloc_grow(&items, &trials->capacity, trials->count, sizeof(*trials->items))) {
            return status_no_memory();
        }
        trials->items = items;
        index = trials->count++;
        trials->items[index] = (struct trial){.reason = ""};
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
        struct trial *trial = NULL;

        name(item, text, sizeof(text));
        TAPML_TRY(find_trial(trials, text, &trial));
        trial->op = report_markup_string(item, "op");
        add_case(trial, item);
    }
    return TAPML_OK;
}

// Appending cannot fail at once: where there is no memory the text is marked.
static void print_cases(struct suite *suite,
                        const char *key,
                        void (*name)(const json_t *item, char *out_name, size_t size))
{
    struct trials trials = {.items = NULL};

    table_init(&trials.index_of);
    suite->cases.failed |= gather(&trials, json_object_get(suite->target, key), name) != TAPML_OK;
    for (size_t i = 0; i < trials.count; i++) {
        print_trial(suite, &trials.items[i]);
    }
    table_release(&trials.index_of);
    alloc_free(trials.items);
}

// Accused without a failed case of its own.
static void print_together(struct suite *suite)
{
    const json_t *blamed = json_object_get(suite->target, "blamed");

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i);
        struct trial trial = {.op = report_markup_string(item, "op"),
                              .kind = FAILED,
                              .reason = report_markup_string(item, "reason"),
                              .cases = 1,
                              .bad = 1};

        if (!json_is_true(json_object_get(item, "alone"))) {
            (void)snprintf(trial.name, sizeof(trial.name), "%s in the model",
                           report_markup_string(item, "instance"));
            print_trial(suite, &trial);
        }
    }
}

// A run of an earlier version has made no check.
static void print_driver(struct suite *suite)
{
    const json_t *check = json_object_get(suite->target, "driver_check");
    const char *verdict = report_markup_string(check, "verdict");
    const struct trial trial = {.op = "driver",
                                .name = "memory and queue",
                                .kind = strcmp(verdict, "passed") == 0   ? PASSED
                                        : strcmp(verdict, "failed") == 0 ? FAILED
                                                                         : SKIPPED,
                                .reason = report_markup_string(check, "sentence"),
                                .cases = 1,
                                .bad = 1};

    print_trial(suite, &trial);
}

static void print_end_to_end(struct suite *suite)
{
    static const enum outcome_kind kinds[] = {[REPORT_MODEL_AGREES] = PASSED,
                                              [REPORT_MODEL_DIVERGES] = FAILED,
                                              [REPORT_MODEL_NOT_JUDGED] = SKIPPED};
    const json_t *judged = json_object_get(suite->target, "end_to_end");
    const struct trial trial = {.op = "model",
                                .name = "end to end",
                                .kind = kinds[report_verdict_model(suite->target)],
                                .reason = report_markup_string(judged, "sentence"),
                                .cases = 1,
                                .bad = 1,
                                .time_ns = report_markup_count(suite->target, "offload_ns")};

    print_trial(suite, &trial);
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

static void print_counts(const struct suite *suite, struct text *out)
{
    text_format(out,
                " tests=\"%" PRId64 "\" failures=\"%" PRId64 "\" errors=\"%" PRId64
                "\" skipped=\"%" PRId64 "\"",
                suite->tests, suite->failures, suite->errors, suite->skipped);
    print_seconds(out, suite->time_ns);
}

static void print_suite(struct suite *suite, size_t index, struct text *out)
{
    const time_t moment = (time_t)report_markup_count(suite->target, "finished_s");
    char when[REPORT_MARKUP_SHORT] = "";
    struct tm parts;

    if (gmtime_r(&moment, &parts) != NULL) {
        (void)strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &parts);
    }
    REPORT_MARKUP(out, " <testsuite name=\"{}\" timestamp=\"{}\"",
                  report_markup_string(suite->target, "name"), when);
    text_format(out, " id=\"%zu\" hostname=\"localhost\" package=\"tapml\"", index);
    print_counts(suite, out);
    text_append(out, ">\n");
    print_properties(suite->target, out);
    text_append_bytes(out, suite->cases.data, suite->cases.length);
    text_append(out, " </testsuite>\n");
}

// A target that was not there, or went away, is a suite with one error.
static void print_given_up(const json_t *report, struct suite *all, struct text *out)
{
    const json_t *given_up = json_object_get(report, "given_up");

    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);

        REPORT_MARKUP(out, " <testsuite name=\"{}\"", report_markup_string(target, "name"));
        print_counts(&(struct suite){.tests = 1, .errors = 1}, out);
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
    struct suite all = {.tests = 0};
    struct text suites;

    text_init(&suites);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        struct suite suite = {.target = json_array_get(targets, i)};

        text_init(&suite.cases);
        print_driver(&suite);
        print_cases(&suite, "cases", name_kept);
        print_cases(&suite, "derived", name_derived);
        print_together(&suite);
        print_end_to_end(&suite);
        print_suite(&suite, i, &suites);
        suites.failed |= suite.cases.failed;
        text_release(&suite.cases);
        all.tests += suite.tests;
        all.failures += suite.failures;
        all.errors += suite.errors;
        all.skipped += suite.skipped;
        all.time_ns += suite.time_ns;
    }
    print_given_up(report, &all, &suites);
    REPORT_MARKUP(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\"",
                  report_markup_string(json_object_get(report, "run"), "name"));
    print_counts(&all, out);
    text_append(out, ">\n");
    text_append_bytes(out, suites.data, suites.length);
    text_append(out, "</testsuites>\n");
    out->failed |= suites.failed;
    text_release(&suites);
}
