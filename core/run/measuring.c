// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/measuring.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/stages.h"
#include "base/timeline.h"
#include "config/run_config.h"
#include "exec/place.h"
#include "exec/run.h"
#include "exec/timed.h"
#include "exec/trace.h"
#include "run/setup.h"
#include "store/offloaded.h"
#include "store/store.h"
#include "store/timing.h"

#include <stdio.h>

enum { STAGE_TEXT = 160 };

struct measured_target {
    const struct run_judge *judge;
    struct place *place;
};

// Runs one prompt under the final plan with every call counted and timed.
static tapml_status
run_traced(const struct measured_target *target, const struct plan *plan, struct place *traced)
{
    const struct run_judge_options *run = &target->judge->from;
    const struct judge_prompt *prompt = &target->judge->prompts[0];
    struct session *session = NULL;
    int32_t *ids = alloc_array((size_t)run->config->decode + 1, sizeof(*ids));
    int64_t count = 0;

    if (ids == NULL) {
        return status_no_memory();
    }
    tapml_status status = run_judge_session(target->judge, traced, plan, &session);

    if (status == TAPML_OK) {
        status = run_greedy(session,
                            &(struct run_options){.ids = prompt->ids,
                                                  .count = prompt->count,
                                                  .given = &prompt->given,
                                                  .decode = run->config->decode},
                            ids, &count);
    }
    session_destroy(session);
    alloc_free(ids);
    return status;
}

static tapml_status trace_once(const struct measured_target *target,
                               const struct plan *plan,
                               struct place **out_traced,
                               struct trace **out_trace)
{
    const struct place_link link = trace_link(out_trace);

    struct timeline_track *track = NULL;

    TAPML_TRY(timed_track(target->judge->from.setup->timelines.run, &target->place->settings,
                          "device", &track));
    TAPML_TRY(place_wrap(target->place, &target->place->settings, &link, 1, out_traced));
    trace_draw(*out_trace, track);
    return run_traced(target, plan, *out_traced);
}

// The plan was judged right: a worker that ends over it now, for whatever reason, is no reason to
// lose what was found, and it is measured once more. The caller destroys the place, which owns the
// trace.
static tapml_status trace_plan(const struct measured_target *target,
                               const struct plan *plan,
                               struct place **out_traced,
                               struct trace **out_trace)
{
    const tapml_status status = trace_once(target, plan, out_traced, out_trace);

    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    log_line(LOG_WARNING, "measuring on '%s' failed and is repeated once: %s",
             target->place->settings.name, status_message());
    place_destroy(*out_traced);
    *out_traced = NULL;
    return trace_once(target, plan, out_traced, out_trace);
}

static tapml_status write_times(const struct measured_target *target, const struct trace *trace)
{
    struct store *store = target->judge->from.store;

    TAPML_TRY(timing_forget(store, target->place->settings.name));
    for (size_t i = 0; i < trace_count(trace); i++) {
        const struct trace_line *line = trace_at(trace, i);

        TAPML_TRY(timing_write(store, target->place->settings.name,
                               &(struct timing_row){.op = line->op->name,
                                                    .calls = line->calls,
                                                    .launches = line->launches,
                                                    .time_ns = line->time_ns}));
    }
    return offloaded_finish(store, target->place->settings.name);
}

static tapml_status keep_times(const struct measured_target *target, const struct trace *trace)
{
    struct store *store = target->judge->from.store;

    TAPML_TRY(store_begin(store));
    tapml_status status = write_times(target, trace);

    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

tapml_status measuring_run(const struct run_judge *judge, struct place *place, const char *text)
{
    const struct measured_target target = {judge, place};
    struct plan *plan = NULL;
    struct place *traced = NULL;
    struct trace *trace = NULL;
    char stage[STAGE_TEXT];

    TAPML_TRY(plan_parse(text, "the plan of the offload", &plan));
    (void)snprintf(stage, sizeof(stage), "measure on %s", place->settings.name);
    timeline_stage(stage);
    stages_phase(stage);
    tapml_status status = trace_plan(&target, plan, &traced, &trace);

    if (status == TAPML_OK) {
        status = keep_times(&target, trace);
    }
    place_destroy(traced);
    plan_destroy(plan);
    return status;
}
