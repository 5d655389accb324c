// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/target_progress.h"

#include "run/target_health.h"

#include <stdio.h>

void target_progress_begin(struct target_progress *progress, const char *what, const char *unit)
{
    (void)snprintf(progress->phase, sizeof(progress->phase), "%s %s", what, progress->name);
    progress_begin(&progress->progress, progress->phase, 0);
    progress->progress.unit = unit;
    progress->progress.lock = progress->lock;
}

tapml_status target_progress_cases(void *user, size_t done, size_t all)
{
    struct target_progress *progress = user;

    outlook_print(&progress->outlook, progress->note);
    progress->progress.note = progress->note;
    TAPML_TRY(target_health_look(progress->health));
    TAPML_TRY(done == all ? place_usage_end_cases(progress->usage) : TAPML_OK);
    return progress_show(&progress->progress, done, all);
}

tapml_status target_progress_limits(void *user, size_t done, size_t all)
{
    struct target_progress *progress = user;

    return progress_show(&progress->progress, done, all);
}

tapml_status target_progress_derived(void *user, size_t done, size_t all)
{
    struct target_progress *progress = user;

    if (done == 1) {
        target_progress_begin(progress, "derive on", "kept cases");
        progress->progress.skipped = 1; // It was made before the clock was set.
    }
    TAPML_TRY(target_health_look(progress->health));
    return progress_show(&progress->progress, done, all);
}

tapml_status target_progress_step(void *user, const struct loop_progress *step)
{
    struct target_progress *progress = user;

    (void)snprintf(progress->phase, sizeof(progress->phase), "%s on %s", step->step,
                   progress->name);
    progress->progress.skipped = step->skipped;
    progress->judged = step->done;
    progress->judged_all = step->all;
    return progress_show(&progress->progress, progress->judged, progress->judged_all);
}

tapml_status target_progress_judged(void *user, size_t done, size_t all)
{
    struct target_progress *progress = user;
    const size_t judged = progress->judged + done;

    (void)all;
    return progress_show(&progress->progress,
                         judged < progress->judged_all ? judged : progress->judged_all,
                         progress->judged_all);
}
