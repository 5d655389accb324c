// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/invariances.h"

#include "exec/place.h"
#include "run/progress.h"
#include "run/setup.h"

#include <stdio.h>

enum { PHASE_TEXT = 160 };

struct invariances {
    const struct invariances_options *options;
    struct place *second; // Own; or NULL.
    struct progress progress;
};

// A place with the same settings has a device and a queue of its own: in this process where the
// target is here, else in a worker process beside that of the target.
static tapml_status open_second(void *user, struct backend **out_backend)
{
    struct invariances *invariances = user;
    const struct invariances_options *options = invariances->options;
    struct place *place = NULL;

    TAPML_TRY(place_create(&options->target->settings, &place));
    const tapml_status status = setup_open_place(options->setup, place);

    if (status != TAPML_OK) {
        place_destroy(place);
        return status;
    }
    invariances->second = place;
    *out_backend = place->backend;
    return TAPML_OK;
}

static tapml_status show(void *user, size_t done, size_t all)
{
    struct invariances *invariances = user;

    return progress_show(&invariances->progress, done, all);
}

static tapml_status judge(struct invariances *invariances, const char *phase)
{
    const struct invariances_options *options = invariances->options;
    struct verdict_options verdicts = *options->verdicts;
    struct invariance_counts counts = {.all = 0};

    verdicts.comparers = NULL; // They have measured.
    verdicts.outlook = NULL;
    verdicts.progress = NULL;
    progress_begin(&invariances->progress, phase, 0);
    invariances->progress.unit = "axes of operators";
    invariances->progress.lock = options->lock;
    TAPML_TRY(invariance_judge(&(struct invariance_options){.verdicts = &verdicts,
                                                            .list = options->list,
                                                            .settings = options->settings,
                                                            .open_second = open_second,
                                                            .progress = show,
                                                            .user = invariances},
                               &counts));
    if (counts.all > 0) {
        progress_end(&invariances->progress,
                     "%zu axes of operators, %zu of them now, %zu differ within limits, %zu wrong",
                     counts.all, counts.tried, counts.differ, counts.wrong);
    }
    return TAPML_OK;
}

tapml_status invariances_judge(const struct invariances_options *options)
{
    struct invariances invariances = {.options = options};
    char phase[PHASE_TEXT];

    (void)snprintf(phase, sizeof(phase), "invariance on %s", options->target->settings.name);
    const tapml_status status = judge(&invariances, phase);

    place_destroy(invariances.second);
    return status;
}
