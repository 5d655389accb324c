// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/timelines.h"

#include "base/arena.h"

#include <string.h>

static tapml_status
open_one(const struct options *options, const char *option, struct timeline **out_timeline)
{
    const char *path = options_get(options, option);

    if (path == NULL) {
        return TAPML_OK;
    }
    const tapml_status status = timeline_create(path, out_timeline);

    return status == TAPML_OK ? TAPML_OK : status_explain(status, "%s", option);
}

tapml_status timelines_split(struct options *io_options, const char *name, struct arena *arena)
{
    for (size_t i = 0; i < io_options->given_count; i++) {
        const char *option = io_options->given[i].spec->name;
        const char **file = &io_options->given[i].value;

        if (strcmp(option, "--timeline") == 0 || strcmp(option, "--trace-link") == 0) {
            *file = arena_format(arena, "%s.%s", *file, name);
        }
        if (*file == NULL) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

tapml_status timelines_open(const struct options *options, struct timelines *out)
{
    struct timelines made = {0};
    struct timeline_track *track = NULL;
    tapml_status status = open_one(options, "--timeline", &made.run);

    if (status == TAPML_OK) {
        status = open_one(options, "--trace-link", &made.link);
    }
    if (status == TAPML_OK) {
        status = timeline_track(made.run, "tapml-host", "stages", &track);
    }
    if (status != TAPML_OK) {
        timelines_close(&made);
        return status;
    }
    if (track != NULL) {
        timeline_enter(track);
        timeline_stage("open");
    }
    *out = made;
    return TAPML_OK;
}

// The thread draws no more.
static void leave(const struct timelines *timelines)
{
    if (timelines->run != NULL) {
        timeline_stage(NULL);
        timeline_enter(NULL);
    }
}

tapml_status timelines_finish(struct timelines *timelines)
{
    leave(timelines);
    if (timelines->run != NULL) {
        TAPML_TRY(timeline_finish(timelines->run));
    }
    return timelines->link != NULL ? timeline_finish(timelines->link) : TAPML_OK;
}

void timelines_close(struct timelines *timelines)
{
    leave(timelines);
    timeline_destroy(timelines->run);
    timeline_destroy(timelines->link);
    *timelines = (struct timelines){0};
}
