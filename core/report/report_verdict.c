// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_verdict.h"

#include "report/report_driver.h"
#include "report/report_invariance.h"
#include "report/report_markup.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_SHOWN = 4 };

static int64_t count_of(const json_t *target, const char *key)
{
    return report_markup_count(json_object_get(target, "counts"), key);
}

static const json_t *judged_of(const json_t *target)
{
    return json_object_get(target, "end_to_end");
}

enum report_verdict report_verdict_of(const json_t *target)
{
    const json_t *judged = judged_of(target);

    const char *verdict = report_markup_string(target, "verdict");

    return strcmp(verdict, "right") == 0                            ? REPORT_RIGHT
           : strcmp(verdict, "incomplete") == 0                     ? REPORT_STALE
           : report_driver_is_wrong(target)                         ? REPORT_DRIVER
           : json_array_size(json_object_get(target, "blamed")) > 0 ? REPORT_OPS
           : json_is_false(json_object_get(judged, "agrees"))       ? REPORT_DIVERGES
           : report_markup_string(judged, "unexplained")[0] != '\0' ? REPORT_UNEXPLAINED
           : count_of(target, "derived_failed") > 0                 ? REPORT_DERIVED
           : report_invariance_count_wrong(target) > 0              ? REPORT_VARIES
                                                                    : REPORT_LACKS;
}

enum report_model report_verdict_model(const json_t *target)
{
    const json_t *agrees = json_object_get(judged_of(target), "agrees");

    return report_driver_is_wrong(target) || json_is_null(agrees) ? REPORT_MODEL_NOT_JUDGED
           : json_is_true(agrees)                                 ? REPORT_MODEL_AGREES
                                                                  : REPORT_MODEL_DIVERGES;
}

const char *report_verdict_model_name(enum report_model model)
{
    static const char *const names[] = {[REPORT_MODEL_AGREES] = "agrees",
                                        [REPORT_MODEL_DIVERGES] = "diverges",
                                        [REPORT_MODEL_NOT_JUDGED] = "not judged"};

    return names[model];
}

static int is_blamed(const json_t *target, const char *op)
{
    const json_t *blamed = json_object_get(target, "blamed");

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        if (strcmp(report_markup_string(json_array_get(blamed, i), "op"), op) == 0) {
            return 1;
        }
    }
    return 0;
}

static int fails_in_derived(const json_t *op)
{
    const char *key = NULL;
    json_t *kind = NULL;

    json_object_foreach(json_object_get(op, "derived"), key, kind)
    {
        if (report_markup_count(kind, "failed") > 0) {
            return 1;
        }
    }
    return 0;
}

size_t report_verdict_ops(const json_t *target,
                          enum report_verdict verdict,
                          const char *names[REPORT_VERDICT_OPS])
{
    const json_t *ops = json_object_get(target, "ops");
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(ops) && count < REPORT_VERDICT_OPS; i++) {
        const json_t *op = json_array_get(ops, i);
        const char *name = report_markup_string(op, "op");

        if (verdict == REPORT_OPS ? is_blamed(target, name) : fails_in_derived(op)) {
            names[count++] = catalogue_shorten(name);
        }
    }
    return count;
}

// -- A line for a target -----------------------------------------------------------------------

// "rope, silu and 3 more kinds of operators". Returns how many.
static size_t print_ops(const json_t *target, enum report_verdict verdict, struct text *out)
{
    const char *names[REPORT_VERDICT_OPS];
    const size_t count = report_verdict_ops(target, verdict, names);
    const size_t shown = count <= NAMES_SHOWN ? count : NAMES_SHOWN - 1;

    for (size_t i = 0; i < shown; i++) {
        text_format(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", names[i]);
    }
    if (shown < count) {
        text_format(out, " and %zu more kinds of operators", count - shown);
    }
    return count;
}

static void print_right(const json_t *target, const char *name, struct text *out)
{
    const int64_t moved = count_of(target, "moved"), wanted = count_of(target, "wanted");
    const int64_t all = count_of(target, "instances");

    if (moved == 0 && wanted > 0) {
        text_format(out,
                    "%s: nothing was wrong and nothing shown to be right, all %" PRId64
                    " instances that were to move stay on the source",
                    name, wanted);
    } else if (moved < wanted) {
        text_format(out,
                    "%s: %" PRId64 " instances right, the other %" PRId64
                    " that were to move stay on the source",
                    name, moved, wanted - moved);
    } else {
        text_format(out, "%s: all %" PRId64 " instances%s right", name, moved,
                    wanted < all ? " that the plan moves are" : "");
    }
}

// Whether nothing is right, of more kinds than are likely to be wrong each by itself.
static int is_wrong_throughout(const json_t *target)
{
    enum { KINDS_MIN = 4 };
    const char *names[REPORT_VERDICT_OPS];

    return count_of(target, "moved") == 0 &&
           report_verdict_ops(target, REPORT_OPS, names) >= KINDS_MIN;
}

// A reason may begin with where it was seen, which the sentence has said by then.
static const char *skip_place(const char *reason, const char *instance)
{
    const size_t length = strlen(instance);
    const int is_said = length > 0 && strncmp(reason, instance, length) == 0 &&
                        strncmp(reason + length, ": ", 2) == 0;

    return is_said ? reason + length + 2 : reason;
}

static void print_blamed(const json_t *target, const char *name, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");
    const json_t *first = json_array_get(blamed, 0);

    if (is_wrong_throughout(target)) {
        text_format(out,
                    "nothing that runs on %s is right: %zu instances fail; look for one cause "
                    "below them: ",
                    name, json_array_size(blamed));
    }
    const size_t count = print_ops(target, REPORT_OPS, out);
    const char *instance = report_markup_string(first, "instance");

    text_format(out, " %s wrong on %s: first at %s: %s", count == 1 ? "is" : "are", name, instance,
                skip_place(report_markup_string(first, "reason"), instance));
}

static void print_sentence(const json_t *target, struct text *out)
{
    const char *name = report_markup_string(target, "name");

    switch (report_verdict_of(target)) {
    case REPORT_RIGHT:
        print_right(target, name, out);
        break;
    case REPORT_DRIVER:
        text_format(out, "the driver of %s is wrong: %s", name,
                    report_markup_string(json_object_get(target, "driver_check"), "sentence"));
        break;
    case REPORT_OPS:
        print_blamed(target, name, out);
        break;
    case REPORT_DIVERGES:
        text_format(out, "%s diverges from the source: %s", name,
                    report_markup_string(judged_of(target), "sentence"));
        break;
    case REPORT_UNEXPLAINED:
        text_format(out, "%s diverged from the source %s, and no operator could be blamed", name,
                    report_markup_string(judged_of(target), "unexplained"));
        break;
    case REPORT_DERIVED:
        text_format(out, " fail%s on %s in cases made up around this run",
                    print_ops(target, REPORT_DERIVED, out) == 1 ? "s" : "", name);
        break;
    case REPORT_VARIES:
        text_format(out, "%s is not invariant: ", name);
        report_invariance_print_first(target, out);
        break;
    case REPORT_LACKS:
        text_format(out, "%s lacks %" PRId64 " instances that it was asked to run", name,
                    count_of(target, "unsupported_instances"));
        break;
    case REPORT_STALE:
        text_format(out,
                    "%s: %" PRId64 " of %" PRId64 " results are stale, the next start replays them",
                    name, count_of(target, "stale"), count_of(target, "cases"));
        break;
    }
}

void report_verdict_print(const json_t *target, int is_coloured, struct text *out)
{
    const int is_right = report_verdict_of(target) == REPORT_RIGHT;

    text_append(out, is_coloured ? (is_right ? "\033[1;32m" : "\033[1;31m") : "");
    print_sentence(target, out);
    text_append(out, is_coloured ? "\033[0m\n" : "\n");
}

// -- The end -----------------------------------------------------------------------------------

int report_verdict_is_unfinished(const json_t *given_up)
{
    return json_is_true(json_object_get(given_up, "unfinished"));
}

int report_verdict_print_repeat(const json_t *blamed, const char *dir, struct text *out)
{
    const json_t *bundle = json_object_get(blamed, "bundle");

    return report_markup_command(report_markup_string(bundle, "command"),
                                 report_markup_string(bundle, "file"), dir, out);
}

static int print_first_repeat(const json_t *target, const char *dir, struct text *out)
{
    const json_t *blamed = json_object_get(target, "blamed");

    for (size_t i = 0; i < json_array_size(blamed); i++) {
        if (report_verdict_print_repeat(json_array_get(blamed, i), dir, out)) {
            return 1;
        }
    }
    return 0;
}

static void print_wrong(const json_t *target, const char *dir, struct text *out)
{
    if (report_driver_is_wrong(target)) {
        report_driver_print_repeat(target, dir, out);
    } else if (!print_first_repeat(target, dir, out)) {
        text_append(out, "tapml-host report ");
        text_append_shell(out, dir);
        text_append(out, " --verbose");
    }
}

// An encoder has no tokens to go on with.
static void
print_generate(const json_t *report, const json_t *target, const char *dir, struct text *out)
{
    const int is_encoder = report_markup_count(json_object_get(report, "run"), "decode") == 0;
    struct text plan;

    text_init(&plan);
    text_format(&plan, "%s/plan-%s.txt", dir, report_markup_string(target, "name"));
    text_append(out, "tapml-host generate --plan ");
    text_append_shell(out, plan.data);
    text_append(out, is_encoder ? " --pool mean" : "");
    text_append(out, report_markup_string(json_object_get(report, "run"), "arguments"));
    text_append(out, json_is_true(json_object_get(json_object_get(report, "run"), "no_text"))
                         ? " --ids IDS"
                         : " --prompt TEXT");
    out->failed |= plan.failed;
    text_release(&plan);
}

static void print_again(const json_t *given_up, struct text *out)
{
    if (report_verdict_is_unfinished(given_up)) {
        text_append(out, "the same run again, which goes on where it was");
    } else {
        text_format(out, "the same run again, when %s is there",
                    report_markup_string(given_up, "name"));
    }
}

// What is wrong comes before what was not there, and that before what is right.
static void print_next(const json_t *report, const char *dir, struct text *out)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");
    int is_stale = 0;

    for (size_t i = 0; i < json_array_size(targets); i++) {
        const enum report_verdict verdict = report_verdict_of(json_array_get(targets, i));

        is_stale |= verdict == REPORT_STALE;
        if (verdict != REPORT_RIGHT && verdict != REPORT_STALE) {
            print_wrong(json_array_get(targets, i), dir, out);
            return;
        }
    }
    if (is_stale) {
        text_append(out, "the same run again, which replays what is stale");
    } else if (json_array_size(given_up) > 0) {
        print_again(json_array_get(given_up, 0), out);
    } else if (json_array_size(targets) > 0 &&
               report_verdict_model(json_array_get(targets, 0)) == REPORT_MODEL_NOT_JUDGED) {
        text_append(out, "the model itself, run there by whoever has it");
    } else if (json_array_size(targets) > 0) {
        print_generate(report, json_array_get(targets, 0), dir, out);
    } else {
        text_append(
            out, "the same run again for a target: with a section [target.NAME], without --carve");
    }
}

void report_verdict_print_end(const json_t *report,
                              const char *dir,
                              int is_coloured,
                              struct text *out)
{
    const json_t *targets = json_object_get(report, "targets");
    const json_t *given_up = json_object_get(report, "given_up");
    const json_t *carving = json_object_get(report, "carving");

    const char *nonfinite = report_markup_string(json_object_get(report, "source"), "nonfinite");
    const char *policy = report_markup_string(json_object_get(report, "run"), "policy");

    text_append(out, "\n");
    if (*nonfinite != '\0') {
        text_format(out, "not finite on the source itself: %s\n", nonfinite);
    }
    for (size_t i = 0; i < json_array_size(targets); i++) {
        report_verdict_print(json_array_get(targets, i), is_coloured, out);
    }
    for (size_t i = 0; i < json_array_size(given_up); i++) {
        const json_t *target = json_array_get(given_up, i);

        text_format(out, "%s%s%s: %s%s\n", is_coloured ? "\033[1;33m" : "",
                    report_markup_string(target, "name"),
                    report_verdict_is_unfinished(target) ? "" : " was given up",
                    report_markup_string(target, "reason"), is_coloured ? "\033[0m" : "");
    }
    if (json_array_size(targets) + json_array_size(given_up) == 0) {
        text_format(out, "carved: %" PRId64 " cases of %" PRId64 " prompts, for any target\n",
                    report_markup_count(carving, "cases"), report_markup_count(carving, "prompts"));
    }
    if (*policy != '\0') {
        text_format(out, "policy: what was moved had the order of %s\n", policy);
    }
    text_format(out, "report: %s/report.html\nnext: ", dir);
    print_next(report, dir, out);
    text_append(out, "\n");
}
