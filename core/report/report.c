// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report.h"

#include "base/sentence.h"
#include "base/terminal.h"
#include "base/text.h"
#include "report/report_declared.h"
#include "report/report_driver.h"
#include "report/report_invariance.h"
#include "report/report_items.h"
#include "report/report_markup.h"
#include "report/report_measures.h"
#include "report/report_refusals.h"
#include "report/report_selection.h"
#include "report/report_target.h"
#include "report/report_usage.h"
#include "report/report_verdict.h"
#include "store/blame.h"
#include "verify/derive.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double average_us(uint64_t time_ns, uint64_t count)
{
    return count > 0 ? (double)time_ns / (double)count * 1e-3 : 0;
}

static uint64_t count_of(const json_t *object, const char *key)
{
    const int64_t value = report_markup_count(object, key);

    return value > 0 ? (uint64_t)value : 0;
}

// What else speaks against a blamed op: the kind of case, and how often it fails.
static void print_evidence(const json_t *blamed)
{
    const json_t *item = json_object_get(blamed, "case");
    const uint64_t tries = count_of(blamed, "tries"), failed = count_of(blamed, "failed_tries");

    if (item != NULL && strcmp(report_markup_string(blamed, "evidence"), BLAME_DERIVED) == 0) {
        (void)printf(" (found by a derived %s case, %s)", report_markup_string(item, "source"),
                     report_markup_string(item, "label"));
    }
    if (failed < tries) {
        (void)printf(" (%" PRIu64 " of %" PRIu64 " tries failed)", failed, tries);
    }
    (void)printf("\n");
}

static void print_blamed(const json_t *target)
{
    const json_t *blamed = json_object_get(target, "blamed");

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i);

        (void)printf("%s %s (%s)%s: %s",
                     json_is_true(json_object_get(item, "alone")) ? "blamed:"
                                                                  : "blamed with others:",
                     report_markup_string(item, "instance"), report_markup_string(item, "op"),
                     report_markup_is_first(blamed, i) ? ", the first of its op" : "",
                     report_markup_string(item, "reason"));
        print_evidence(item);
    }
}

static tapml_status print_bundles(const json_t *target, const char *dir)
{
    const json_t *blamed = json_object_get(target, "blamed");
    struct text text;

    text_init(&text);
    for (size_t i = 0; i < json_array_size(blamed); i++) {
        const json_t *item = json_array_get(blamed, i), *bundle = json_object_get(item, "bundle");

        if (bundle != NULL) {
            text_format(&text, "bundle: %s (%s) %s: %s/%s%s\n  ",
                        report_markup_string(item, "instance"), report_markup_string(item, "op"),
                        report_markup_string(bundle, "shape_class"), dir,
                        report_markup_string(bundle, "file"),
                        json_is_true(json_object_get(item, "alone"))
                            ? ""
                            : ", which was not seen to fail by itself");
            (void)report_verdict_print_repeat(item, dir, &text);
            text_append(&text, "\n");
        }
    }
    return text_print(&text);
}

static tapml_status print_refusals(const json_t *target)
{
    struct text text;

    text_init(&text);
    report_refusals_print(target, &text);
    return text_print(&text);
}

// The first of a target's derived cases of an op and source that failed, or that judges nothing.
static const json_t *
find_derived(const json_t *target, const char *op, const char *source, int has_failed)
{
    const json_t *derived = json_object_get(target, "derived");

    for (size_t i = 0; i < json_array_size(derived); i++) {
        const json_t *item = json_array_get(derived, i);
        const char *verdict = report_markup_string(item, "verdict");
        const int is_failed = strcmp(verdict, "fail") == 0 || strcmp(verdict, "error") == 0;

        if (strcmp(report_markup_string(item, "op"), op) == 0 &&
            strcmp(report_markup_string(item, "source"), source) == 0 &&
            (has_failed ? is_failed : !is_failed && strcmp(verdict, "pass") != 0)) {
            return item;
        }
    }
    return NULL;
}

static void
print_derived_kind(const json_t *target, const char *op, const char *source, const json_t *kind)
{
    const json_t *failed = find_derived(target, op, source, 1);
    const json_t *other = find_derived(target, op, source, 0);
    const uint64_t not_judged = count_of(kind, "not_judged");

    if (failed != NULL) {
        (void)printf(
            "%s fails on derived %s cases, %" PRIu64 " of %" PRIu64 ": %s, around %s (%s): %s\n",
            op, source, count_of(kind, "failed"), count_of(kind, "cases") - not_judged,
            report_markup_string(failed, "label"), report_markup_string(failed, "instance"),
            report_markup_string(failed, "phase"), report_markup_string(failed, "reason"));
    }
    if (other != NULL && !report_refusals_has(target, op, report_markup_string(other, "reason"))) {
        (void)printf("not judged: %" PRIu64 " derived %s cases of %s, the first is %s: %s\n",
                     not_judged, source, op, report_markup_string(other, "label"),
                     report_markup_string(other, "reason"));
    }
}

// Which kind of case found something, and how far beyond the limit it is at most:
// "found: tapml.silu: carved 4 of 9 (margin 30), shape 3 of 12 (margin 1e+03)".
static void print_found(const json_t *op)
{
    json_t *derived = json_object_get(op, "derived");
    const double margin = report_markup_number(op, "margin");
    uint64_t failed = count_of(op, "failed");
    const char *source = NULL;
    json_t *kind = NULL;

    json_object_foreach(derived, source, kind)
    {
        failed += count_of(kind, "failed");
    }
    if (failed == 0) {
        return;
    }
    (void)printf("found: %s: carved %" PRIu64 " of %" PRIu64 " (margin %.3g)",
                 report_markup_string(op, "op"), count_of(op, "failed"), count_of(op, "cases"),
                 isnan(margin) ? 0 : margin);
    json_object_foreach(derived, source, kind)
    {
        const double worst = report_markup_number(kind, "margin");

        (void)printf(
            ", %s %" PRIu64 " of %" PRIu64 " (margin %.3g)", source, count_of(kind, "failed"),
            count_of(kind, "cases") - count_of(kind, "not_judged"), isnan(worst) ? 0 : worst);
    }
    (void)printf("\n");
}

static tapml_status print_comparers(const json_t *target)
{
    struct text text;

    text_init(&text);
    report_measures_print_lines(target, &text);
    return text_print(&text);
}

static void print_derived(const json_t *target)
{
    const json_t *ops = json_object_get(target, "ops");
    const json_t *counts = json_object_get(target, "counts");

    if (count_of(counts, "derived") == 0) {
        return;
    }
    for (size_t i = 0; i < json_array_size(ops); i++) {
        const json_t *op = json_array_get(ops, i);
        const char *source = NULL;
        json_t *kind = NULL;

        json_object_foreach(json_object_get(op, "derived"), source, kind)
        {
            print_derived_kind(target, report_markup_string(op, "op"), source, kind);
        }
    }
    for (size_t i = 0; i < json_array_size(ops); i++) {
        print_found(json_array_get(ops, i));
    }
    (void)printf("%" PRIu64 " derived cases (seed %d), %" PRIu64 " failed, %" PRIu64
                 " not judged\n",
                 count_of(counts, "derived"), DERIVE_SEED, count_of(counts, "derived_failed"),
                 count_of(counts, "derived_not_judged"));
}

static void print_proof(const json_t *target)
{
    const json_t *search = json_object_get(target, "search");
    const int agrees =
        json_is_true(json_object_get(json_object_get(target, "end_to_end"), "agrees"));
    const uint64_t runs = count_of(search, "proof_runs");
    const double miss = report_markup_number(search, "proof_miss");

    if (json_array_size(json_object_get(target, "blamed")) == 0 || runs == 0) {
        return;
    }
    (void)printf("%s: with the blamed on the source the model %s, in %" PRIu64 " run%s",
                 agrees ? "proved" : "not proved", agrees ? "agrees" : "diverges", runs,
                 runs > 1 ? "s" : "");
    if (agrees && miss > 0) {
        (void)printf("; with one of them there that fails sometimes, that has a chance of %.2g",
                     miss);
    }
    (void)printf("\n");
}

// What it took to find what is blamed, and how sure it is.
static void print_cost(const json_t *target)
{
    const json_t *search = json_object_get(target, "search");
    const double carving = fmax(1, (double)count_of(search, "carving"));
    const uint64_t replays = count_of(search, "replays"), looks = count_of(search, "judged_runs");
    const uint64_t plans = count_of(search, "plans"), repeats = count_of(search, "repeats");
    const uint64_t proof = count_of(search, "proof"), checks = count_of(search, "checks");
    const uint64_t localising = replays + looks + plans + repeats + proof;

    (void)printf("localising: %" PRIu64
                 " op executions, %.2f times the carving run (replays %" PRIu64
                 ", judged runs %" PRIu64 ", search %" PRIu64 ", repeats %" PRIu64
                 ", proof %" PRIu64 "); moves: %.2f times, calibration: %" PRIu64 " apart\n",
                 localising, (double)localising / carving, replays, looks, plans, repeats, proof,
                 (double)count_of(search, "moves") / carving, count_of(search, "calibration"));
    if (count_of(search, "judged_anyway") > 0) {
        (void)printf("judged runs at any rate: %.2f times the carving run\n",
                     (double)count_of(search, "judged_anyway") / carving);
    }
    if (checks > 0) {
        (void)printf("every suspect was tried %" PRIu64
                     " times: what fails in one of five calls is missed with a chance of %.2g, in "
                     "one of fifty of %.2g\n",
                     checks, pow(0.8, (double)checks), pow(0.98, (double)checks));
    }
}

static void print_search(const json_t *target, int is_verbose)
{
    const char *unexplained =
        report_markup_string(json_object_get(target, "end_to_end"), "unexplained");

    if (is_verbose) {
        print_cost(target);
    }
    print_proof(target);
    if (*unexplained != '\0') {
        (void)printf("unexplained: the model diverged %s; no call of any op was found to fail, so "
                     "none is blamed for it\n",
                     unexplained);
    }
}

static void print_summary(const json_t *target, int is_verbose)
{
    static const char *const prefixes[] = {[REPORT_MODEL_AGREES] = "agrees: ",
                                           [REPORT_MODEL_DIVERGES] = "DIVERGES: ",
                                           [REPORT_MODEL_NOT_JUDGED] = ""};
    const json_t *counts = json_object_get(target, "counts");
    const json_t *judged = json_object_get(target, "end_to_end");

    (void)printf(
        "%" PRIu64 " of %" PRIu64 " instances on %s, %" PRIu64 " blamed, %" PRIu64
        " unsupported, %" PRIu64 " left on the source; %" PRIu64 " cases, %" PRIu64
        " not compared\n",
        count_of(counts, "moved"), count_of(counts, "wanted"), report_markup_string(target, "name"),
        count_of(counts, "blamed"), count_of(counts, "unsupported_instances"),
        count_of(counts, "wanted") - count_of(counts, "moved"), count_of(counts, "cases"),
        count_of(counts, "unsupported") + count_of(counts, "skipped") + count_of(counts, "stale"));
    report_selection_print(target);
    if (!report_driver_is_wrong(target)) {
        print_search(target, is_verbose);
    }
    (void)printf("end to end: %s%s\n", prefixes[report_verdict_model(target)],
                 report_markup_string(judged, "sentence"));
}

// Before any list: what most of a target's failures have in common.
static void print_common(const json_t *target)
{
    const char *common = report_markup_string(target, "common");

    if (*common != '\0') {
        (void)printf("most of it fails: %s\n", common);
    }
}

static void print_times(const json_t *target, int is_coloured)
{
    (void)printf("\nMicroseconds of a call on average; 'in a prompt' is under the final plan:\n");
    report_list_print_lines(&report_items_times, json_object_get(target, "ops"), is_coloured);
    (void)printf("\n");
}

static tapml_status print_verdict(const json_t *target, int is_coloured)
{
    struct text text;

    text_init(&text);
    report_verdict_print(target, is_coloured, &text);
    return text_print(&text);
}

tapml_status report_print(const json_t *target, const struct report_options *options)
{
    const int is_coloured = terminal_wants_colour(STDOUT_FILENO);
    const int is_verbose = options->is_verbose;
    const char *activations = report_markup_string(target, "activations");
    const int is_reduced = activations[0] != '\0' && strcmp(activations, "f32") != 0;

    (void)printf("%s", options->is_later ? "\n" : "");
    TAPML_TRY(print_verdict(target, is_coloured));
    (void)printf("\n%s = %s:%s (%s), plugin %s %s%s%s\n", report_markup_string(target, "name"),
                 report_markup_string(target, "component"), report_markup_string(target, "device"),
                 report_markup_string(target, "device_name"),
                 report_markup_string(target, "plugin"),
                 report_markup_string(target, "plugin_version"), is_reduced ? ", activations " : "",
                 is_reduced ? activations : "");
    TAPML_TRY(report_driver_print(target, options->dir));
    if (report_markup_string(target, "ring")[0] != '\0') {
        (void)printf("%s\n", report_markup_string(target, "ring"));
    }
    if (report_markup_string(target, "tuning")[0] != '\0') {
        (void)printf("%s\n", report_markup_string(target, "tuning"));
    }
    print_common(target);
    report_list_print_lines(&report_items_ops, json_object_get(target, "ops"), is_coloured);
    report_declared_print(target, is_coloured);
    if (is_verbose) {
        print_times(target, is_coloured);
    }
    print_blamed(target);
    TAPML_TRY(print_bundles(target, options->dir));
    if (report_markup_string(target, "nonfinite")[0] != '\0') {
        (void)printf("not finite: %s\n", report_markup_string(target, "nonfinite"));
    }
    TAPML_TRY(print_refusals(target));
    print_derived(target);
    TAPML_TRY(print_comparers(target));
    TAPML_TRY(report_invariance_print(target));
    print_summary(target, is_verbose);
    return TAPML_OK;
}

tapml_status report_print_end(const json_t *report, const char *dir)
{
    struct text text;

    text_init(&text);
    report_usage_print(report, &text);
    report_verdict_print_end(report, dir, terminal_wants_colour(STDOUT_FILENO), &text);
    return text_print(&text);
}

tapml_status report_print_target(struct store *store,
                                 const char *name,
                                 const struct report_options *options,
                                 int *io_is_wrong)
{
    struct report_rows rows;
    json_t *target = NULL;

    TAPML_TRY(report_rows_read(store, name, &rows));
    const int is_wrong = report_rows_is_wrong(&rows);
    tapml_status status = report_target_make(&rows, &target);

    report_rows_release(&rows);
    TAPML_TRY(status);
    status = report_print(target, options);
    json_decref(target);
    TAPML_TRY(status);
    *io_is_wrong = *io_is_wrong || is_wrong;
    return TAPML_OK;
}

static void print_failures(const struct verdict_list *list, size_t failures_max)
{
    size_t shown = 0, failed = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];

        if (verdict->kind == VERDICT_PASS) {
            continue;
        }
        failed++;
        if (shown < failures_max) {
            sentence_print("case %" PRId64 " %s %s %s: %s: %s\n", verdict->case_id,
                           verdict->instance, verdict->phase, verdict->shape_class,
                           verdict_name(verdict->kind), verdict->reason);
            shown++;
        }
    }
    if (failed > shown) {
        (void)printf("and %zu more\n", failed - shown);
    }
}

static tapml_status print_measures(const struct verdict_list *list)
{
    struct report_measures measures;
    struct text text;

    TAPML_TRY(report_measures_make(list, &measures));
    text_init(&text);
    report_measures_print(&measures, &text);
    report_measures_release(&measures);
    return text_print(&text);
}

tapml_status report_print_verdicts(const struct verdict_list *list, size_t failures_max)
{
    struct report_lines lines;

    report_lines_init(&lines);
    const tapml_status status = report_lines_add_verdicts(&lines, list);

    int width = 24;

    for (size_t i = 0; i < lines.count; i++) {
        width = terminal_widen(width, lines.items[i].op_name);
    }
    (void)printf("%-*s %6s %6s %6s %12s %22s %10s\n", width, "operator", "cases", "right", "wrong",
                 "not compared", "margin (wrong above 1)", "us a call");
    for (size_t i = 0; i < lines.count; i++) {
        const struct report_line *line = &lines.items[i];

        sentence_print("%-*s %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %12" PRIu64 " %22.3g %10.1f\n",
                       width, line->op_name, line->cases, line->passed, line->failed,
                       line->unsupported + line->skipped + line->stale, line->margin,
                       average_us(line->target_ns, line->cases));
    }
    print_failures(list, failures_max);
    report_lines_release(&lines);
    return status == TAPML_OK ? print_measures(list) : status;
}
