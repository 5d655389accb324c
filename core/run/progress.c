// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/progress.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stages.h"
#include "base/timeline.h"
#include "run/interrupt.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { BAR_WIDTH = 30, TENTHS = 10 };

static const uint64_t second_ns = 1000000000u;
static const uint64_t terminal_every_ns = 100000000u;
static const uint64_t told_every_ns = 200000000u;

void progress_begin(struct progress *progress, const char *phase, int quiet)
{
    const uint64_t now_ns = clock_now_ns();

    *progress = (struct progress){.unit = "",
                                  .phase = phase,
                                  .begin_ns = now_ns,
                                  .shown_ns = now_ns,
                                  .is_shown = log_is_shown(),
                                  .is_quiet = quiet};
    timeline_stage(phase);
    stages_phase(phase);
}

void progress_print_time(double seconds, char out[PROGRESS_TIME_TEXT])
{
    const double whole = fmin(round(seconds), 1e9);

    if (whole < 60) {
        (void)snprintf(out, PROGRESS_TIME_TEXT, "%.0f s", whole);
    } else if (whole < 3600) {
        (void)snprintf(out, PROGRESS_TIME_TEXT, "%.0f min %.0f s", floor(whole / 60),
                       fmod(whole, 60));
    } else {
        (void)snprintf(out, PROGRESS_TIME_TEXT, "%.0f h %.0f min", floor(whole / 3600),
                       floor(fmod(whole, 3600) / 60));
    }
}

// What is left at the pace of this start so far; NaN where there is no pace yet.
static double left_s(const struct progress *progress, size_t done, size_t all, uint64_t now_ns)
{
    const double spent_s = (double)(now_ns - progress->begin_ns) * 1e-9;

    if (done <= progress->skipped || all < done || spent_s < 1) {
        return NAN;
    }
    return spent_s * (double)(all - done) / (double)(done - progress->skipped);
}

static int is_due(const struct progress *progress, size_t done, size_t all, uint64_t now_ns)
{
    const uint64_t since_ns = now_ns - progress->shown_ns;

    if (progress->is_shown) {
        return since_ns >= terminal_every_ns;
    }
    return since_ns >= 30 * second_ns ||
           (since_ns >= 2 * second_ns && TENTHS * done / all != progress->shown_tenth);
}

static void show(const struct progress *progress, const struct run_lock_phase *published)
{
    const char *note = progress->note;
    char bar[BAR_WIDTH + 1];
    char left[PROGRESS_TIME_TEXT] = "", count[288], line[528]; // Longer ones are cut.

    for (size_t i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < BAR_WIDTH * published->done / published->all ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    if (!isnan(published->left_s)) {
        progress_print_time(published->left_s, left);
    }
    (void)snprintf(count, sizeof(count), "%zu / %zu%s%s%s%s%s%s", published->done, published->all,
                   *published->unit != '\0' ? " " : "", published->unit, *left != '\0' ? ", " : "",
                   left, *left != '\0' ? " left" : "", note != NULL ? note : "");
    if (progress->is_shown) {
        (void)snprintf(line, sizeof(line), "%-24s [%s] %s", published->name, bar, count);
        log_show(line);
    } else {
        log_say("%s: %s", published->name, count);
    }
}

tapml_status progress_show(struct progress *progress, size_t done, size_t all)
{
    const uint64_t now_ns = clock_now_ns();
    const struct run_lock_phase published = {.name = progress->phase,
                                             .unit = progress->unit,
                                             .done = done,
                                             .all = all,
                                             .left_s = left_s(progress, done, all, now_ns)};

    if (!progress->is_quiet && done > 0 && all > 0 && is_due(progress, done, all, now_ns)) {
        show(progress, &published);
        progress->shown_ns = now_ns;
        progress->shown_tenth = TENTHS * done / all;
    }
    if (progress->published_ns == 0 || now_ns - progress->published_ns >= told_every_ns) {
        run_lock_publish(progress->lock, &published);
        progress->published_ns = now_ns;
    }
    return interrupt_check();
}

void progress_end(struct progress *progress, const char *format, ...)
{
    const double spent_s = (double)(clock_now_ns() - progress->begin_ns) * 1e-9;
    char what[1024];
    va_list arguments;

    timeline_stage(NULL);
    stages_phase(NULL);
    if (progress->is_shown) {
        log_hide();
    }
    if (progress->is_quiet) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(what, sizeof(what), format, arguments); // A longer one is cut.
    va_end(arguments);
    log_say("%s: %s (%.1f s)", progress->phase, what, spent_s);
}
