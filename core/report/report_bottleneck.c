// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_bottleneck.h"

#include "base/arena.h"
#include "choose/bottleneck.h"
#include "report/report_cells.h"
#include "report/report_list.h"
#include "report/report_markup.h"
#include "store/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(table_) (sizeof(table_) / sizeof(*(table_)))

enum { SECTION_TEXT = 96 };

// -- Its rows ------------------------------------------------------------------------------------

static tapml_status
read_rows(struct store *store, const char *name, struct arena *arena, struct bottleneck_rows *out)
{
    struct stage_row *rows = NULL;

    out->name = name;
    TAPML_TRY(stage_list(store, name, arena, &rows, &out->count));
    out->rows = rows;
    return TAPML_OK;
}

static tapml_status read_run(struct store *store, struct arena *arena, struct bottleneck_run *out)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(read_rows(store, STAGE_RUN, arena, &out->own));
    TAPML_TRY(target_list(store, arena, &targets, &count));
    for (size_t i = 0; i < count && out->target_count < BOTTLENECK_TARGETS_MAX; i++) {
        TAPML_TRY(read_rows(store, targets[i].name, arena, &out->targets[out->target_count]));
        out->target_count += out->targets[out->target_count].count > 0;
    }
    return TAPML_OK;
}

// -- Sentences -----------------------------------------------------------------------------------

static double seconds(uint64_t ns)
{
    return (double)ns * 1e-9;
}

// What somebody who reads "device" wants to know.
static const char *about(const struct bottleneck *found)
{
    static const struct {
        const char *stage, *about;
    } table[] = {
        {"read", "cases and results are read from the store"},
        {"decode", "contents of the store are unpacked"},
        {"prepare", "buffers of cases are drawn before they are called"},
        {"upload", "bytes go to the device"},
        {"launch", "calls wait for their way to the device and back"},
        {"device", "the device is at work, and the host has nothing else to do"},
        {"fetch", "bytes come back from the device"},
        {"compare", "outputs are compared"},
        {"comparers", "comparers of plugins measure outputs"},
        {"calibrate", "the reference computes limits"},
        {"record", "results and cases are written to the store"},
        {"source", "the source computes"},
        {"turns", "targets wait for each other"},
        {"offload", "operators are moved, and the model is run with them"},
        {"derive", "cases are made up around those of the run"},
        {"driver", "the driver is checked"},
        {"measure", "a prompt is measured"},
        {"invariance", "results are asked whether they depend on what must not count"},
        {"carve", "calls of the source are recorded"},
        {"open", "plugins and devices are opened"},
        {"load", "the model is loaded"},
    };
    size_t at = 0;

    while (at < COUNT(table) && strcmp(table[at].stage, found->stage) != 0) {
        at++;
    }
    return at < COUNT(table) ? table[at].about : "a phase of the run that has no stages";
}

// "read: cases and results are read from the store: 3.20 of 4.00 s (80 %), bound by waiting"
static void print_sentence(const struct bottleneck *found, struct text *out)
{
    const double share =
        found->elapsed_ns > 0 ? 100 * (double)found->time_ns / (double)found->elapsed_ns : 0;
    const int is_part =
        found->remedy != BOTTLENECK_SIDE_BY_SIDE || found->bound != BOTTLENECK_WAITING;

    text_format(out, "%s%s%s: %s, %.2f of %.2f s (%.0f %%)", found->stage,
                *found->target != '\0' ? " of " : "", found->target, about(found),
                seconds(found->time_ns), seconds(found->elapsed_ns), share);
    if (is_part && strcmp(found->phase, found->stage) != 0) {
        text_format(out, ", most of it in the phase '%s'", found->phase);
    }
    text_format(out, "; its bound: %s", bottleneck_bound_name(found->bound));
}

static void print_remedy(const struct bottleneck *found, struct text *out)
{
    switch (found->remedy) {
    case BOTTLENECK_AHEAD:
        text_format(out, "set [check] ahead = %" PRId64, found->amount);
        break;
    case BOTTLENECK_CACHE:
        text_format(out, "set [run] cache = %" PRId64, found->amount);
        break;
    case BOTTLENECK_SIDE_BY_SIDE:
        text_append(out, "give --side-by-side");
        break;
    case BOTTLENECK_NO_COMPARERS:
        text_append(out, "leave out [run] comparers, on which no verdict depends");
        break;
    case BOTTLENECK_NO_BUDGET:
        text_format(out, "leave out [target.%s] budget, if the device has the memory",
                    found->target);
        break;
    case BOTTLENECK_NOTHING:
        break;
    }
}

// Why there is nothing to set, and what else there is.
static const char *explain_nothing(const struct bottleneck *found)
{
    const enum stages_kind kind = stages_find(found->stage);

    return found->bound == BOTTLENECK_DEVICE && kind == STAGES_SOURCE
               ? "the source itself is the bound: no key makes it faster. Fewer prompts and "
                 "[run] decode make its work less; cases that are carved are not carved again"
           : found->bound == BOTTLENECK_DEVICE
               ? "the device itself is the bound: nothing is to be set. [select] budget runs fewer "
                 "cases, and --shard shares them among machines"
           : kind == STAGES_READ || kind == STAGES_RECORD
               ? "no key makes the disk faster; [run] dir may be a folder of another one"
           : kind == STAGES_CALIBRATE
               ? "no key makes it less; limits that the store has are not computed again"
               : "no key helps; [select] budget runs fewer cases";
}

static void print_advice(const struct bottleneck *found, struct text *out)
{
    text_format(out, "without it the run would take %.2f s", seconds(found->without_ns));
    if (found->remedy == BOTTLENECK_NOTHING) {
        text_format(out, "; %s", explain_nothing(found));
        return;
    }
    text_append(out, "; ");
    print_remedy(found, out);
    text_format(out, ": the run would take %.2f s%s", seconds(found->remedied_ns),
                found->is_guess ? ", which is a guess: what decides it was not measured" : "");
}

// -- The document --------------------------------------------------------------------------------

static void put_text(struct report_maker *part,
                     const char *name,
                     const struct bottleneck *found,
                     void (*print)(const struct bottleneck *found, struct text *out))
{
    struct text text;

    text_init(&text);
    print(found, &text);
    report_maker_text(part, name, text.data);
    part->failed |= text.failed;
    text_release(&text);
}

// The key that it sets, or whose value goes; or the option that is given.
static void put_change(struct report_maker *remedy, const struct bottleneck *found)
{
    char section[SECTION_TEXT], value[REPORT_MARKUP_SHORT];
    const int is_set = found->remedy == BOTTLENECK_AHEAD || found->remedy == BOTTLENECK_CACHE;

    if (found->remedy == BOTTLENECK_SIDE_BY_SIDE) {
        report_maker_text(remedy, "option", "--side-by-side");
        return;
    }
    (void)snprintf(section, sizeof(section), "%s%.80s",
                   found->remedy == BOTTLENECK_AHEAD       ? "check"
                   : found->remedy == BOTTLENECK_NO_BUDGET ? "target."
                                                           : "run",
                   found->remedy == BOTTLENECK_NO_BUDGET ? found->target : "");
    (void)snprintf(value, sizeof(value), "%" PRId64, found->amount);
    report_maker_text(remedy, "section", section);
    report_maker_text(remedy, "key",
                      found->remedy == BOTTLENECK_AHEAD          ? "ahead"
                      : found->remedy == BOTTLENECK_CACHE        ? "cache"
                      : found->remedy == BOTTLENECK_NO_COMPARERS ? "comparers"
                                                                 : "budget");
    if (is_set) {
        report_maker_text(remedy, "value", value);
    }
}

static void put_remedy(struct report_maker *part, const struct bottleneck *found)
{
    struct report_maker remedy = report_maker_begin();

    if (found->remedy == BOTTLENECK_NOTHING) {
        json_decref(remedy.object);
        return;
    }
    put_text(&remedy, "sentence", found, print_remedy);
    put_change(&remedy, found);
    report_maker_count(&remedy, "predicted_ns", found->remedied_ns);
    report_maker_put(&remedy, "is_guess", json_boolean(found->is_guess));
    report_maker_part(part, "remedy", &remedy);
}

static void put_found(struct report_maker *part, const struct bottleneck *found)
{
    report_maker_text(part, "stage", found->stage);
    report_maker_text(part, "target", found->target);
    report_maker_text(part, "phase", found->phase);
    report_maker_text(part, "bound", bottleneck_bound_name(found->bound));
    report_maker_count(part, "elapsed_ns", found->elapsed_ns);
    report_maker_count(part, "time_ns", found->time_ns);
    report_maker_count(part, "without_ns", found->without_ns);
    put_remedy(part, found);
    put_text(part, "sentence", found, print_sentence);
    put_text(part, "advice", found, print_advice);
}

static void put_stages(struct report_maker *part, const struct bottleneck_rows *rows, json_t *array)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct stage_row *row = &rows->rows[i];
        struct report_maker item = report_maker_begin();

        report_maker_text(&item, "target", rows->name);
        report_maker_text(&item, "phase", row->phase);
        report_maker_text(&item, "stage", row->stage);
        report_maker_count(&item, "visits", row->visits);
        report_maker_count(&item, "bytes", row->bytes);
        report_maker_count(&item, "wall_ns", row->wall_ns);
        report_maker_count(&item, "waiting_ns", row->waiting_ns);
        report_maker_append(part, array, &item);
    }
}

static void put_run(const struct bottleneck_run *run, struct report_maker *report)
{
    struct report_maker part = report_maker_begin();
    struct bottleneck found;
    json_t *stages = json_array();

    if (!bottleneck_find(run, &found)) {
        json_decref(part.object);
        json_decref(stages);
        return;
    }
    put_found(&part, &found);
    put_stages(&part, &run->own, stages);
    for (size_t i = 0; i < run->target_count; i++) {
        put_stages(&part, &run->targets[i], stages);
    }
    report_maker_put(&part, "stages", stages);
    report_maker_part(report, "bottleneck", &part);
}

tapml_status report_bottleneck_put(struct store *store, struct report_maker *report)
{
    struct bottleneck_run run = {.target_count = 0};
    struct arena *arena = arena_create();
    const tapml_status status = arena != NULL ? read_run(store, arena, &run) : status_no_memory();

    if (status == TAPML_OK) {
        put_run(&run, report);
    }
    arena_destroy(arena);
    return status;
}

// -- The views -----------------------------------------------------------------------------------

static int is_time(const json_t *item)
{
    return strcmp(report_markup_string(item, "phase"), STAGE_PIPELINE) != 0;
}

static void print_row_html(const json_t *item, struct text *out)
{
    const char *target = report_markup_string(item, "target");

    REPORT_MARKUP(out, "<tr><td><bdi>{}</bdi></td><td>{}</td><td>{}</td>",
                  *target != '\0' ? target : "the run", report_markup_string(item, "phase"),
                  report_markup_string(item, "stage"));
    report_cells_count(item, "visits", out);
    report_cells_count(item, "bytes", out);
    report_cells_time(item, "wall_ns", out);
    report_cells_time(item, "waiting_ns", out);
    text_append(out, "</tr>\n");
}

void report_bottleneck_print_html(const json_t *report, struct text *out)
{
    const json_t *part = json_object_get(report, "bottleneck");
    const json_t *stages = json_object_get(part, "stages");

    if (part == NULL) {
        return;
    }
    REPORT_MARKUP(out,
                  "<section><h2>What the run waits for most</h2>\n<p><b>{}.</b> {}.</p>\n"
                  "<details class=\"all\"><summary>The time of every stage</summary>\n"
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Stages\">"
                  "<table class=\"sorted\"><thead><tr><th>of</th><th>phase</th><th>stage</th>"
                  "<th class=\"num\">visits</th><th class=\"num\">bytes</th>"
                  "<th class=\"num\">time</th><th class=\"num\">of it waiting</th></tr></thead>"
                  "<tbody>\n",
                  report_markup_string(part, "sentence"), report_markup_string(part, "advice"));
    for (size_t i = 0; i < json_array_size(stages); i++) {
        if (is_time(json_array_get(stages, i))) {
            print_row_html(json_array_get(stages, i), out);
        }
    }
    text_append(out, "</tbody></table></div></details></section>\n");
}

static void print_row(const json_t *item, struct text *out)
{
    const char *target = report_markup_string(item, "target");

    text_format(out, "%-12.12s %-12s %-10s %8" PRId64 " %13" PRId64 " %9.3f %9.3f\n",
                *target != '\0' ? target : "the run", report_markup_string(item, "phase"),
                report_markup_string(item, "stage"), report_markup_count(item, "visits"),
                report_markup_count(item, "bytes"),
                seconds((uint64_t)report_markup_count(item, "wall_ns")),
                seconds((uint64_t)report_markup_count(item, "waiting_ns")));
}

void report_bottleneck_print(const json_t *report, struct text *out)
{
    const json_t *part = json_object_get(report, "bottleneck");
    const json_t *stages = json_object_get(part, "stages");

    if (part == NULL) {
        text_append(out, "\nbottleneck: the store does not say where the time of this run went\n");
        return;
    }
    text_format(out, "\n%-12s %-12s %-10s %8s %13s %9s %9s\n", "of", "phase", "stage", "visits",
                "bytes", "s", "waiting");
    for (size_t i = 0; i < json_array_size(stages); i++) {
        if (is_time(json_array_get(stages, i))) {
            print_row(json_array_get(stages, i), out);
        }
    }
    text_format(out, "bottleneck: %s\n%s\n", report_markup_string(part, "sentence"),
                report_markup_string(part, "advice"));
}
