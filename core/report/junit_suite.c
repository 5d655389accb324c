// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/junit_suite.h"

#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <stdio.h>

static void print_seconds(struct text *out, int64_t time_ns)
{
    char text[REPORT_MARKUP_SHORT];

    (void)snprintf(text, sizeof(text), "%.6f", (double)time_ns * 1e-9);
    REPORT_MARKUP(out, " time=\"{}\"", text);
}

static void print_margin(struct junit_suite *suite, const struct junit_trial *trial)
{
    char margin[REPORT_MARKUP_SHORT];

    if (trial->has_margin) {
        REPORT_MARKUP(&suite->cases, "   <system-out>margin {}</system-out>\n",
                      report_markup_value(trial->margin, 9, margin));
    }
}

static void print_details(struct junit_suite *suite, const struct junit_trial *trial)
{
    char counts[64];

    if (trial->details != NULL) {
        REPORT_MARKUP(&suite->cases, "{}", trial->details);
        return;
    }
    (void)snprintf(counts, sizeof(counts), "%zu of %zu cases", trial->bad, trial->cases);
    REPORT_MARKUP(&suite->cases, "{}: {}", counts, trial->reason);
}

static void print_result(struct junit_suite *suite, const struct junit_trial *trial)
{
    static const char *const tags[] = {[JUNIT_PASSED] = "",
                                       [JUNIT_FAILED] = "failure",
                                       [JUNIT_ERROR] = "error",
                                       [JUNIT_SKIPPED] = "skipped"};
    const char *tag = tags[trial->kind];

    if (trial->kind == JUNIT_PASSED && !trial->has_margin) {
        text_append(&suite->cases, "/>\n");
        return;
    }
    text_append(&suite->cases, ">\n");
    if (trial->kind == JUNIT_SKIPPED) {
        REPORT_MARKUP(&suite->cases, "   <{} message=\"{}\"/>\n", tag, trial->reason);
    } else if (trial->kind != JUNIT_PASSED) {
        REPORT_MARKUP(&suite->cases, "   <{} message=\"{}\" type=\"{}\">", tag, trial->reason,
                      trial->kind == JUNIT_ERROR ? "error" : "beyond-limit");
        print_details(suite, trial);
        REPORT_MARKUP(&suite->cases, "</{}>\n", tag);
    }
    print_margin(suite, trial);
    text_append(&suite->cases, "  </testcase>\n");
}

void junit_suite_add(struct junit_suite *suite, const struct junit_trial *trial)
{
    suite->tests++;
    suite->failures += trial->kind == JUNIT_FAILED;
    suite->errors += trial->kind == JUNIT_ERROR;
    suite->skipped += trial->kind == JUNIT_SKIPPED;
    suite->time_ns += trial->time_ns;
    REPORT_MARKUP(&suite->cases, "  <testcase classname=\"{}.{}\" name=\"{}\"", suite->name,
                  catalogue_shorten(trial->op), trial->name);
    print_seconds(&suite->cases, trial->time_ns);
    print_result(suite, trial);
}

void junit_suite_sum(struct junit_suite *all, const struct junit_suite *suite)
{
    all->tests += suite->tests;
    all->failures += suite->failures;
    all->errors += suite->errors;
    all->skipped += suite->skipped;
    all->time_ns += suite->time_ns;
}

void junit_suite_print_counts(const struct junit_suite *suite, struct text *out)
{
    text_format(out,
                " tests=\"%" PRId64 "\" failures=\"%" PRId64 "\" errors=\"%" PRId64
                "\" skipped=\"%" PRId64 "\"",
                suite->tests, suite->failures, suite->errors, suite->skipped);
    print_seconds(out, suite->time_ns);
}

void junit_suite_print_all(const struct junit_suite *all,
                           const char *name,
                           const struct text *suites,
                           struct text *out)
{
    REPORT_MARKUP(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\"", name);
    junit_suite_print_counts(all, out);
    text_append(out, ">\n");
    text_append_bytes(out, suites->data, suites->length);
    text_append(out, "</testsuites>\n");
    out->failed |= suites->failed;
}
