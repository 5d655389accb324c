// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_report.h"

#include "base/utf8.h"
#include "report/report_markup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// -- The document ------------------------------------------------------------------------------

static json_t *describe(const struct kit_item *item)
{
    char reason[KIT_REASON_BYTES];

    (void)snprintf(reason, sizeof(reason), "%s", item->result.reason);
    utf8_make_plain(reason); // A plugin's texts.
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I}", "check", item->check->id, "level",
                     kit_check_level_name(item->check->level), "component", item->component, "rule",
                     item->check->about, "outcome", kit_result_outcome_name(item->result.outcome),
                     "reason", reason, "time_ns", (json_int_t)item->time_ns);
}

static json_t *count_outcomes(const struct kit_item *items, size_t count)
{
    json_t *counts = json_object();

    for (int outcome = 0; outcome < KIT_OUTCOME_COUNT; outcome++) {
        json_int_t number = 0;

        for (size_t i = 0; i < count; i++) {
            number += (int)items[i].result.outcome == outcome;
        }
        if (json_object_set_new(counts, kit_result_outcome_name((enum kit_outcome)outcome),
                                json_integer(number)) != 0) {
            json_decref(counts);
            return NULL;
        }
    }
    return counts;
}

tapml_status kit_report_create(const struct kit_head *head,
                               const struct kit_item *items,
                               size_t count,
                               json_t **out_document)
{
    json_t *list = json_array(), *counts = count_outcomes(items, count);
    json_t *document =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I}", "format", "tapml.plugin-check/1", "plugin",
                  head->plugin, "build_id", head->build_id, "path", head->path, "device",
                  head->device, "host_minor", (int)head->minor, "seed", (json_int_t)head->seed);
    int failed = list == NULL || counts == NULL || document == NULL;

    for (size_t i = 0; !failed && i < count; i++) {
        failed = json_array_append_new(list, describe(&items[i])) != 0;
    }
    if (!failed) {
        failed = json_object_set(document, "counts", counts) != 0 ||
                 json_object_set(document, "checks", list) != 0;
    }
    json_decref(list);
    json_decref(counts);
    if (failed) {
        json_decref(document);
        return status_no_memory();
    }
    *out_document = document;
    return TAPML_OK;
}

// -- Text --------------------------------------------------------------------------------------

void kit_report_line(const struct kit_item *item, struct text *out)
{
    const size_t begin = out->length;
    const int has_reason = item->result.reason[0] != '\0';

    text_format(out, "%-9s  %s  ", kit_result_outcome_name(item->result.outcome), item->check->id);
    if (item->component[0] != '\0') {
        text_format(out, "%s: ", item->component);
    }
    text_format(out, "%s%s%s", item->check->about, has_reason ? ": " : "",
                has_reason ? item->result.reason : "");
    if (!out->failed) {
        utf8_make_plain(out->data + begin);
        out->length = strlen(out->data);
    }
    text_append(out, "\n");
}

static int64_t count_of(const json_t *document, const char *outcome)
{
    return report_markup_count(json_object_get(document, "counts"), outcome);
}

void kit_report_summary(const json_t *document, struct text *out)
{
    const char *comma = "";

    text_format(out, "%s: ", report_markup_string(document, "plugin"));
    for (int i = 0; i < KIT_OUTCOME_COUNT; i++) {
        const char *outcome = kit_result_outcome_name((enum kit_outcome)i);
        const int64_t count = count_of(document, outcome);

        if (count > 0 || i == KIT_PASSED) {
            text_format(out, "%s%" PRId64 " %s", comma, count, outcome);
            comma = ", ";
        }
    }
    text_append(out, "\n");
}

// -- For other programs ------------------------------------------------------------------------

static int is_wrong(const char *outcome)
{
    return strcmp(outcome, "failed") == 0 || strcmp(outcome, "crashed") == 0 ||
           strcmp(outcome, "timed out") == 0;
}

static void name_check(const json_t *check, char *out_name, size_t size)
{
    const char *component = report_markup_string(check, "component");

    (void)snprintf(out_name, size, "%s%s%s", report_markup_string(check, "check"),
                   component[0] != '\0' ? " " : "", component);
}

void kit_report_tap(const json_t *document, struct text *out)
{
    const json_t *checks = json_object_get(document, "checks");

    text_format(out, "TAP version 13\n1..%zu\n", json_array_size(checks));
    for (size_t i = 0; i < json_array_size(checks); i++) {
        const json_t *check = json_array_get(checks, i);
        const char *outcome = report_markup_string(check, "outcome");
        const char *reason = report_markup_string(check, "reason");
        char name[160];

        name_check(check, name, sizeof(name));
        text_format(out, "%s %zu - %s: %s", is_wrong(outcome) ? "not ok" : "ok", i + 1, name,
                    report_markup_string(check, "rule"));
        text_format(out, strcmp(outcome, "skipped") == 0 ? " # SKIP %s\n" : "%s\n",
                    strcmp(outcome, "skipped") == 0 ? reason : "");
        if (reason[0] != '\0' && strcmp(outcome, "skipped") != 0) {
            text_format(out, "# %s: %s\n", outcome, reason);
        }
    }
}

static void add_case(const json_t *check, struct text *out)
{
    const char *outcome = report_markup_string(check, "outcome");
    const char *reason = report_markup_string(check, "reason");
    char name[160], seconds[REPORT_MARKUP_SHORT];

    name_check(check, name, sizeof(name));
    (void)snprintf(seconds, sizeof(seconds), "%.6f",
                   (double)report_markup_count(check, "time_ns") * 1e-9);
    REPORT_MARKUP(out, "  <testcase classname=\"{}\" name=\"{}: {}\" time=\"{}\">\n",
                  report_markup_string(check, "level"), name, report_markup_string(check, "rule"),
                  seconds);
    if (is_wrong(outcome)) {
        REPORT_MARKUP(out, "   <{} message=\"{}\"/>\n",
                      strcmp(outcome, "failed") == 0 ? "failure" : "error", reason);
    } else if (strcmp(outcome, "skipped") == 0) {
        REPORT_MARKUP(out, "   <skipped message=\"{}\"/>\n", reason);
    } else if (reason[0] != '\0') {
        REPORT_MARKUP(out, "   <system-out>{}</system-out>\n", reason);
    }
    text_append(out, "  </testcase>\n");
}

void kit_report_junit(const json_t *document, struct text *out)
{
    const json_t *checks = json_object_get(document, "checks");
    char tests[REPORT_MARKUP_SHORT], failures[REPORT_MARKUP_SHORT], errors[REPORT_MARKUP_SHORT],
        skipped[REPORT_MARKUP_SHORT];

    (void)snprintf(tests, sizeof(tests), "%zu", json_array_size(checks));
    (void)snprintf(failures, sizeof(failures), "%" PRId64, count_of(document, "failed"));
    (void)snprintf(errors, sizeof(errors), "%" PRId64,
                   count_of(document, "crashed") + count_of(document, "timed out"));
    (void)snprintf(skipped, sizeof(skipped), "%" PRId64, count_of(document, "skipped"));
    text_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    REPORT_MARKUP(out,
                  " <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
                  "skipped=\"{}\">\n",
                  report_markup_string(document, "plugin"), tests, failures, errors, skipped);
    for (size_t i = 0; i < json_array_size(checks); i++) {
        add_case(json_array_get(checks, i), out);
    }
    text_append(out, " </testsuite>\n</testsuites>\n");
}
