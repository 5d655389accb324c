// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "host/progress.h"

#include "base/clock.h"
#include "host/interrupt.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { BAR_WIDTH = 30 };

static const uint64_t terminal_every_ns = 100000000u;
static const uint64_t plain_every_ns = 5000000000u;

void progress_begin(struct progress *progress, const char *phase, int quiet)
{
    *progress = (struct progress){.phase = phase,
                                  .begin_ns = clock_now_ns(),
                                  .shown_ns = clock_now_ns(),
                                  .is_terminal = isatty(STDERR_FILENO),
                                  .is_quiet = quiet};
}

static void show(const struct progress *progress, size_t done, size_t all, double left_s)
{
    char bar[BAR_WIDTH + 1];

    if (!progress->is_terminal) {
        (void)fprintf(stderr, "%s: %zu / %zu, %.0f s left\n", progress->phase, done, all, left_s);
        return;
    }
    for (size_t i = 0; i < BAR_WIDTH; i++) {
        bar[i] = i < BAR_WIDTH * done / all ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    (void)fprintf(stderr, "\r\033[K%-24s [%s] %zu / %zu, %.0f s left", progress->phase, bar, done,
                  all, left_s);
    (void)fflush(stderr);
}

tapml_status progress_show(struct progress *progress, size_t done, size_t all)
{
    const uint64_t now_ns = clock_now_ns();
    const uint64_t every_ns = progress->is_terminal ? terminal_every_ns : plain_every_ns;

    if (!progress->is_quiet && done > 0 && all > 0 && now_ns - progress->shown_ns >= every_ns) {
        const double spent_s = (double)(now_ns - progress->begin_ns) * 1e-9;

        show(progress, done, all, spent_s * (double)(all - done) / (double)done);
        progress->shown_ns = now_ns;
    }
    return interrupt_check();
}

void progress_end(struct progress *progress, const char *format, ...)
{
    const double spent_s = (double)(clock_now_ns() - progress->begin_ns) * 1e-9;
    va_list arguments;

    if (progress->is_quiet) {
        return;
    }
    (void)fprintf(stderr, "%s%s: ", progress->is_terminal ? "\r\033[K" : "", progress->phase);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, " (%.1f s)\n", spent_s);
}
