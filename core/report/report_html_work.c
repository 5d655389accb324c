// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_work.h"

#include "report/report_declared.h"
#include "report/report_invariance.h"
#include "report/report_items.h"
#include "report/report_markup.h"
#include "report/report_selection.h"
#include "store/step.h"

#include <string.h>

// -- Steps -------------------------------------------------------------------------------------

static int is_search(const json_t *step)
{
    return strncmp(report_markup_string(step, "step"), "search ", 7) == 0;
}

// A verdict that is good news, bad news, or neither: what a search finds out is no failure of its
// step, whichever way it goes.
static int is_one_of(const char *verdict, const char *const *verdicts)
{
    while (*verdicts != NULL && strcmp(verdict, *verdicts) != 0) {
        verdicts++;
    }
    return *verdicts != NULL;
}

static void print_step(const json_t *step, struct text *out)
{
    static const char *const good[] = {STEP_KEPT, STEP_AGREES, STEP_PASSED, NULL};
    static const char *const bad[] = {STEP_UNEXPLAINED, STEP_DIVERGES, STEP_FAILED, NULL};
    const char *verdict = report_markup_string(step, "verdict");
    const int is_neutral = is_search(step);
    const int is_good = !is_neutral && is_one_of(verdict, good);
    const int is_bad = !is_neutral && is_one_of(verdict, bad);
    struct report_markup_shorts s;

    REPORT_MARKUP(
        out,
        "<li><span class=\"{}\" aria-hidden=\"true\">{}</span><b>{}</b><span>{}: {}</span>"
        "<span class=\"soft\">{}</span></li>\n",
        is_good  ? "good"
        : is_bad ? "bad"
                 : "soft",
        is_good  ? "\xe2\x9c\x93"
        : is_bad ? "\xe2\x9c\x95"
                 : "\xc2\xb7",
        report_markup_string(step, "step"), verdict, report_markup_string(step, "reason"),
        report_markup_time(report_markup_count(step, "time_ns"), s.a));
}

// In which order kinds of operators were moved: that of the host, or of a plugin's policy.
static void print_order(const json_t *report, struct text *out)
{
    const char *policy = report_markup_string(json_object_get(report, "run"), "policy");

    if (*policy == '\0') {
        text_append(out, "dearest first");
    } else {
        REPORT_MARKUP(out, "in the order of the policy <code>{}</code>", policy);
    }
}

static void print_steps(const json_t *report, const json_t *target, struct text *out)
{
    const json_t *steps = json_object_get(target, "steps");
    size_t searches = 0;
    struct report_markup_shorts s;

    text_append(
        out, "<h2>What was tried, in order</h2>\n<p class=\"soft\">What failed alone stayed on the "
             "source. Of the rest one kind of operator after the other was moved, ");
    print_order(report, out);
    text_append(out, ", and after each move the model was run from end to end.</p>\n"
                     "<ol class=\"steps\">\n");
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
    return strncmp(report_markup_string(entry, "what"), "derived", 7) == 0;
}

static int is_of_model(const json_t *entry)
{
    return !is_made_up(entry);
}

static size_t count_entries(const json_t *entries, int (*is_counted)(const json_t *entry))
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(entries); i++) {
        count += is_counted(json_array_get(entries, i)) != 0;
    }
    return count;
}

static void
print_coverage_table(const json_t *entries, int (*is_shown)(const json_t *entry), struct text *out)
{
    report_list_print_table(&report_items_uncovered,
                            &(struct report_list_table){
                                .label = "Not compared", .classes = "wrap", .is_shown = is_shown},
                            entries, out);
}

static void print_coverage(const json_t *report, const json_t *target, struct text *out)
{
    const json_t *carving = json_object_get(report, "carving");
    const json_t *counts = json_object_get(target, "counts");
    const json_t *entries = json_object_get(target, "not_compared");
    struct report_markup_shorts s;

    REPORT_MARKUP(out,
                  "<h2>What was covered, and what was not</h2>\n<p>{} prompts made {} calls of {} "
                  "operators on the source. ",
                  report_markup_thousands_of(carving, "prompts", s.a),
                  report_markup_thousands_of(carving, "calls", s.b),
                  report_markup_thousands_of(counts, "instances", s.c));
    REPORT_MARKUP(
        out,
        "{} of the calls were kept whole as cases, each a new shape or a wider range of values; "
        "of the others the ranges are in the store. {} of {} cases were compared here, and {} "
        "of {} made up around them.</p>\n",
        report_markup_thousands_of(carving, "cases", s.a),
        report_markup_thousands(
            report_markup_count(counts, "cases") - report_markup_count(counts, "unsupported") -
                report_markup_count(counts, "skipped") - report_markup_count(counts, "stale"),
            s.b),
        report_markup_thousands_of(counts, "cases", s.c),
        report_markup_thousands(report_markup_count(counts, "derived") -
                                    report_markup_count(counts, "derived_not_judged"),
                                s.d),
        report_markup_thousands_of(counts, "derived", s.e));
    report_selection_print_html(target, out);
    if (count_entries(entries, is_of_model) == 0) {
        text_append(out,
                    "<p>Nothing that the model needs was skipped, unsupported or left out.</p>\n");
    } else {
        print_coverage_table(entries, is_of_model, out);
    }
    if (count_entries(entries, is_made_up) > 0) {
        REPORT_MARKUP(out,
                      "<details><summary>{} made-up cases that judge nobody, by reason</summary>\n",
                      report_markup_thousands_of(counts, "derived_not_judged", s.a));
        print_coverage_table(entries, is_made_up, out);
        text_append(out, "</details>\n");
    }
}

static void print_instances(const json_t *target, struct text *out)
{
    const json_t *instances = json_object_get(target, "instances");
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<details class=\"all\"><summary>Every one of the {} operators</summary>\n",
                  report_markup_thousands((int64_t)json_array_size(instances), s.a));
    report_list_print_table(
        &report_items_instances,
        &(struct report_list_table){.label = "Every operator", .classes = "filtered", .is_tall = 1},
        instances, out);
    text_append(out, "</details>\n");
}

// -- The whole ---------------------------------------------------------------------------------

void report_html_work_print(const json_t *report, const json_t *target, struct text *out)
{
    report_declared_print_html(target, out);
    report_invariance_print_html(target, out);
    print_steps(report, target, out);
    print_coverage(report, target, out);
    print_instances(target, out);
}
