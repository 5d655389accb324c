// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_time.h"

#include "report/report_markup.h"

#include <inttypes.h>
#include <string.h>

// The drawing, in its own units: names, bars, times.
enum { LEFT = 250, RIGHT = 800, WIDTH = 960, ROW = 22, BAR = 14 };

enum { STAGES = 8, MOVED = 3, SHADOWED = 4 };

// Where a stage runs.
enum stage_place { ON_SOURCE, ON_TARGET, ON_BOTH };

struct time_stage {
    const char *name;
    const char *begin; // Of the names of its steps; NULL: it has none.
    enum stage_place place;
    int64_t time_ns;
};

static int64_t sum_of(const json_t *items, const char *key)
{
    int64_t sum = 0;

    for (size_t i = 0; i < json_array_size(items); i++) {
        sum += report_markup_count(json_array_get(items, i), key);
    }
    return sum;
}

static int64_t sum_steps(const json_t *steps, const char *begin)
{
    int64_t sum = 0;

    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);

        if (strncmp(report_markup_string(step, "step"), begin, strlen(begin)) == 0) {
            sum += report_markup_count(step, "time_ns");
        }
    }
    return sum;
}

// The stages, with the time of all. Searches and proofs are a part of the steps that need them, and
// where kinds of operators are moved, the prompt in the shadow is one of the last step.
static int64_t
measure(const json_t *report, const json_t *target, struct time_stage stages[static STAGES])
{
    const json_t *steps = json_object_get(target, "steps");
    int64_t whole_ns = 0;

    stages[0].time_ns = report_markup_count(json_object_get(report, "carving"), "time_ns");
    stages[1].time_ns = sum_of(json_object_get(target, "instances"), "replay_ns");
    stages[STAGES - 1].time_ns = sum_of(json_object_get(target, "ops"), "run_ns");
    for (size_t i = 0; i < STAGES; i++) {
        const int is_inside = i == SHADOWED && stages[MOVED].time_ns > 0;

        if (stages[i].begin != NULL && !is_inside) {
            stages[i].time_ns = sum_steps(steps, stages[i].begin);
        }
        whole_ns += stages[i].time_ns;
    }
    return whole_ns;
}

// A bar begins where the one before it ends.
static void print_stage(const struct time_stage *stage,
                        const char *target,
                        int64_t before_ns,
                        int64_t whole_ns,
                        struct text *out)
{
    static const char *const classes[] = {"source", "right", "other"};
    const char *place = stage->place == ON_SOURCE ? "source"
                        : stage->place == ON_BOTH ? "both"
                                                  : target;
    const double unit = (RIGHT - LEFT) / (double)whole_ns;
    struct report_markup_shorts s;

    REPORT_MARKUP(out, "<title>{} on {}: {}</title><text x=\"0\" y=\"11\">{}, {}</text>",
                  stage->name, place, report_markup_time(stage->time_ns, s.a), stage->name, place);
    text_format(out,
                "<rect class=\"%s\" x=\"%.1f\" width=\"%.1f\" height=\"%d\"/>"
                "<text x=\"%d\" y=\"11\">%.1f %%, ",
                classes[stage->place], LEFT + unit * (double)before_ns,
                unit * (double)stage->time_ns, BAR, RIGHT + 10,
                100 * (double)stage->time_ns / (double)whole_ns);
    REPORT_MARKUP(out, "{}</text>", report_markup_time(stage->time_ns, s.a));
}

static void print_stages(const struct time_stage *stages,
                         const char *target,
                         int64_t whole_ns,
                         struct text *out)
{
    int64_t before_ns = 0;
    int row = 0;

    for (size_t i = 0; i < STAGES; i++) {
        if (stages[i].time_ns > 0) {
            text_format(out, "<g transform=\"translate(0 %d)\">", ROW * row++);
            print_stage(&stages[i], target, before_ns, whole_ns, out);
            text_append(out, "</g>\n");
            before_ns += stages[i].time_ns;
        }
    }
}

static int count_rows(const struct time_stage *stages)
{
    int rows = 0;

    for (size_t i = 0; i < STAGES; i++) {
        rows += stages[i].time_ns > 0;
    }
    return rows;
}

void report_html_time_print(const json_t *report, const json_t *target, struct text *out)
{
    struct time_stage stages[STAGES] = {
        {.name = "calls carved", .place = ON_SOURCE},
        {.name = "kept cases", .place = ON_TARGET},
        {.name = "driver checked", .begin = "driver check", .place = ON_TARGET},
        {.name = "operators moved", .begin = "move ", .place = ON_BOTH},
        {.name = "calls judged", .begin = "shadow", .place = ON_BOTH},
        {.name = "calls judged", .begin = "cumulative", .place = ON_BOTH},
        {.name = "whole model judged", .begin = "final", .place = ON_BOTH},
        {.name = "one prompt measured", .place = ON_TARGET},
    };
    const int64_t whole_ns = measure(report, target, stages);

    if (whole_ns <= 0) {
        return;
    }
    text_append(out,
                "<h2>Where the run's time went</h2>\n<p class=\"soft\">Calls and steps that were "
                "timed, stage by stage, with the place that they ran on. Loading, calibrating and "
                "comparing are not among them: <code>--timeline</code> draws those too.</p>\n"
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Time by "
                "stage\">");
    text_format(out,
                "<svg class=\"plot\" viewBox=\"-8 -4 %d %d\" role=\"img\" aria-label=\"Share of "
                "the time by stage and place\">\n",
                WIDTH, ROW * count_rows(stages) + 8);
    print_stages(stages, report_markup_string(target, "name"), whole_ns, out);
    text_append(out, "</svg></div>\n");
}
