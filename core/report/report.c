// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report.h"

#include "base/alloc.h"
#include "report/report_lines.h"
#include "verify/derive.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static double average_us(uint64_t time_ns, uint64_t count)
{
    return count > 0 ? (double)time_ns / (double)count * 1e-3 : 0;
}

static void print_line(const struct report_target *target, const struct report_line *line)
{
    const struct finding_time *traced = findings_time(target->findings, line->op_name);

    (void)printf("%-24s %5" PRIu32 " %5" PRIu32 " %6zu %6zu %5zu %5zu %9.3g %10.1f %10.1f",
                 line->op_name, line->instances, line->moved, line->cases, line->passed,
                 line->failed, line->unsupported + line->skipped, line->margin,
                 average_us(line->source_ns, line->source_calls),
                 average_us(line->target_ns, line->cases));
    if (traced != NULL && traced->calls > 0) {
        (void)printf(" %9.2f %10.1f\n", (double)traced->launches / (double)traced->calls,
                     average_us(traced->time_ns, traced->calls));
    } else {
        (void)printf(" %9s %10s\n", "-", "-");
    }
}

// What else speaks against the accused: the kind of case, and how often it fails.
static void print_evidence(const struct loop_accusation *accusation)
{
    if (accusation->evidence == TRIAL_DERIVED) {
        (void)printf(" (found by a derived %s case, %s)", accusation->verdict->source,
                     accusation->verdict->label);
    }
    if (accusation->failed < accusation->tried) {
        (void)printf(" (%" PRIu64 " of %" PRIu64 " tries failed)", accusation->failed,
                     accusation->tried);
    }
    (void)printf("\n");
}

static void print_accused(const struct report_target *target)
{
    const struct loop_result *result = target->result;

    for (size_t i = 0; i < result->accused_count; i++) {
        const struct loop_accusation *accusation = &result->accused[i];
        const struct graph_op *op = &target->graph->ops[accusation->op];
        int is_first = 1;

        for (size_t k = 0; k < i && is_first; k++) {
            is_first = target->graph->ops[result->accused[k].op].op != op->op;
        }
        (void)printf("%s %s (%s)%s: %s",
                     accusation->is_alone ? "accused:" : "accused with others:", op->instance,
                     op->op->name, is_first ? ", the first of its op" : "", accusation->reason);
        print_evidence(accusation);
    }
    for (uint32_t i = 0; i < target->graph->op_count; i++) {
        const struct graph_op *op = &target->graph->ops[i];
        const struct finding *finding = findings_find(target->findings, op->instance);

        if (finding != NULL && strcmp(finding->kind, "refused") == 0) {
            (void)printf("refused: %s (%s): %s\n", op->instance, op->op->name, finding->reason);
        }
    }
}

static void print_derived_kind(const struct report_derived *derived)
{
    const struct verdict *failed = derived->first_failed;
    const struct verdict *other = derived->first_not_judged;

    if (failed != NULL) {
        (void)printf("%s fails on derived %s cases, %zu of %zu: %s, around %s (%s): %s\n",
                     derived->op_name, derived->source, derived->failed,
                     derived->cases - derived->not_judged, failed->label, failed->instance,
                     failed->phase, failed->reason);
    }
    if (other != NULL) {
        (void)printf("not judged: %zu derived %s cases of %s, the first is %s: %s\n",
                     derived->not_judged, derived->source, derived->op_name, other->label,
                     other->reason);
    }
}

// Which kind of case found something, and how far beyond the limit it is at most:
// "found: tapml.silu: carved 4 of 9 (margin 30), shape 3 of 12 (margin 1e+03)".
static void print_found(const struct verdict_list *list, const struct report_line *line)
{
    if (line->failed + line->derived_failed == 0) {
        return;
    }
    (void)printf("found: %s: carved %zu of %zu (margin %.3g)", line->op_name, line->failed,
                 line->cases, line->margin);
    for (size_t i = 0; i < list->derived_count; i++) {
        struct report_derived derived;

        if (strcmp(list->derived[i].op_name, line->op_name) == 0 &&
            report_lines_derived(list, i, &derived)) {
            (void)printf(", %s %zu of %zu (margin %.3g)", derived.source, derived.failed,
                         derived.cases - derived.not_judged, derived.margin);
        }
    }
    (void)printf("\n");
}

static void print_derived(const struct verdict_list *list, const struct report_lines *lines)
{
    size_t not_judged = 0;

    if (list->derived_count == 0) {
        return;
    }
    for (size_t i = 0; i < list->derived_count; i++) {
        struct report_derived derived;

        if (report_lines_derived(list, i, &derived)) {
            print_derived_kind(&derived);
            not_judged += derived.not_judged;
        }
    }
    for (size_t i = 0; i < lines->count; i++) {
        print_found(list, &lines->items[i]);
    }
    (void)printf("%zu derived cases (seed %d), %zu failed, %zu not judged\n", list->derived_count,
                 DERIVE_SEED, verdict_count_failed(list->derived, list->derived_count), not_judged);
}

// What it took to find the accused, and how sure it is.
static void print_localising(const struct loop_result *result)
{
    const struct loop_cost *cost = &result->cost;
    const double carving = cost->carving > 0 ? (double)cost->carving : 1;

    (void)printf("localising: %" PRIu64
                 " op executions, %.2f times the carving run (replays %" PRIu64
                 ", watched runs %" PRIu64 ", search %" PRIu64 ", repeats %" PRIu64
                 ", proof %" PRIu64 "); moves: %.2f times, calibration: %" PRIu64 " apart\n",
                 cost->localising, (double)cost->localising / carving, cost->replays,
                 cost->search.looks, cost->search.search, cost->search.repeats, cost->search.proof,
                 (double)cost->moves / carving, cost->calibrating);
    if (cost->watched > 0) {
        (void)printf("watched runs at any rate: %.2f times the carving run\n",
                     (double)cost->watched / carving);
    }
    if (result->checks > 0) {
        (void)printf("every suspect was tried %" PRIu64
                     " times: what fails in one of five calls is missed with a chance of %.2g, in "
                     "one of fifty of %.2g\n",
                     result->checks, pow(0.8, (double)result->checks),
                     pow(0.98, (double)result->checks));
    }
    if (result->accused_count > 0 && result->proof_runs > 0) {
        (void)printf("%s: with the accused on the source the model %s, in %u run%s",
                     result->judged.agrees ? "proved" : "not proved",
                     result->judged.agrees ? "agrees" : "departs", result->proof_runs,
                     result->proof_runs > 1 ? "s" : "");
        if (result->judged.agrees && result->proof_miss > 0) {
            (void)printf("; with one of them there that fails sometimes, that has a chance of %.2g",
                         result->proof_miss);
        }
        (void)printf("\n");
    }
    if (result->unexplained != NULL) {
        (void)printf("unexplained: the model departed %s; no call of any op was found to fail, so "
                     "nobody is accused of it\n",
                     result->unexplained);
    }
}

static void print_summary(const struct report_target *target, const struct report_lines *lines)
{
    const struct loop_result *result = target->result;
    size_t cases = 0, skipped = 0;

    for (size_t i = 0; i < lines->count; i++) {
        cases += lines->items[i].cases;
        skipped += lines->items[i].unsupported + lines->items[i].skipped;
    }
    (void)printf("%" PRIu32 " of %" PRIu32 " instances on %s, %zu accused, %" PRIu32
                 " refused, %" PRIu32 " left on the source; %zu cases, %zu not compared\n",
                 result->moved_count - result->refused_count, result->wanted_count, target->name,
                 result->accused_count, result->refused_count,
                 result->wanted_count - result->moved_count + result->refused_count, cases,
                 skipped);
    print_localising(result);
    (void)printf("end to end: %s: %s\n", result->judged.agrees ? "agrees" : "DEPARTS",
                 result->judged.sentence);
}

static tapml_status gather(const struct report_target *target, struct report_lines *lines)
{
    enum report_place *places = alloc_array(target->graph->op_count + 1, sizeof(*places));

    if (places == NULL) {
        return status_no_memory();
    }
    tapml_status status = report_lines_add_run(lines,
                                               &(struct report_lines_run){
                                                   .graph = target->graph,
                                                   .store = target->store,
                                                   .target = target->name,
                                                   .result = target->result,
                                                   .findings = target->findings,
                                               },
                                               places);
    alloc_free(places);
    return status == TAPML_OK ? report_lines_add_verdicts(lines, target->verdicts) : status;
}

static tapml_status print_all(const struct report_target *target, struct report_lines *lines)
{
    TAPML_TRY(gather(target, lines));
    (void)printf("\n%s = %s:%s (%s), plugin %s %s%s\n", target->name, target->info->component,
                 target->info->device, target->info->device_name, target->info->plugin,
                 target->info->plugin_version, target->info->is_narrow ? ", activations f16" : "");
    (void)printf("%-24s %5s %5s %6s %6s %5s %5s %9s %10s %10s %9s %10s\n", "op", "inst", "moved",
                 "cases", "pass", "fail", "none", "margin", "source us", "replay us", "launches",
                 "in run us");
    for (size_t i = 0; i < lines->count; i++) {
        print_line(target, &lines->items[i]);
    }
    print_accused(target);
    print_derived(target->verdicts, lines);
    print_summary(target, lines);
    return TAPML_OK;
}

tapml_status report_print(const struct report_target *target)
{
    struct report_lines lines;

    report_lines_init(&lines);
    const tapml_status status = print_all(target, &lines);

    report_lines_release(&lines);
    return status;
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
            (void)printf("case %" PRId64 " %s %s %s: %s: %s\n", verdict->case_id, verdict->instance,
                         verdict->phase, verdict->shape_class, verdict_name(verdict->kind),
                         verdict->reason);
            shown++;
        }
    }
    if (failed > shown) {
        (void)printf("and %zu more\n", failed - shown);
    }
}

tapml_status report_print_verdicts(const struct verdict_list *list, size_t failures_max)
{
    struct report_lines lines;

    report_lines_init(&lines);
    const tapml_status status = report_lines_add_verdicts(&lines, list);

    (void)printf("%-24s %6s %6s %6s %6s %10s %10s\n", "op", "cases", "pass", "fail", "none",
                 "margin", "us");
    for (size_t i = 0; i < lines.count; i++) {
        const struct report_line *line = &lines.items[i];

        (void)printf("%-24s %6zu %6zu %6zu %6zu %10.3g %10.1f\n", line->op_name, line->cases,
                     line->passed, line->failed, line->unsupported + line->skipped, line->margin,
                     average_us(line->target_ns, line->cases));
    }
    print_failures(list, failures_max);
    report_lines_release(&lines);
    return status;
}
