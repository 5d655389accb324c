// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/place_usage.h"

#include "base/clock.h"
#include "config/run_config.h"
#include "device/backend.h"
#include "store/store.h"
#include "verify/verdict.h"

#include <stdio.h>

enum { DEVICE_TEXT = 256, DRIVER_TEXT = 512 };

static const uint64_t SECOND_NS = 1000000000;

void place_usage_begin(struct place_usage *usage,
                       struct store *store,
                       const struct place *place,
                       const struct run_config *config,
                       int is_member)
{
    const struct timed_figures figures = timed_figures(place);
    const uint64_t open_ns = figures.begun_ns + figures.open_ns;

    *usage = (struct place_usage){.store = store,
                                  .place = place,
                                  .rate = run_config_rate(config, place->settings.name),
                                  .jobs_ns = is_member ? open_ns : clock_now_ns()};
}

tapml_status place_usage_begin_cases(struct place_usage *usage, const struct verdict_list *verdicts)
{
    usage->verdicts = verdicts;
    TAPML_TRY(usage_count_results(usage->store, usage->place->settings.name, &usage->results,
                                  &usage->calls_ns));
    TAPML_TRY(usage_count_limits(usage->store, &usage->limits));
    usage->begin_ns = clock_now_ns();
    usage->before_ns = usage->begin_ns - usage->jobs_ns;
    usage->begin = timed_figures(usage->place);
    usage->end_ns = 0;
    return TAPML_OK;
}

tapml_status place_usage_end_cases(struct place_usage *usage)
{
    if (usage->begin_ns == 0) { // A look ahead, of what there is by now.
        return TAPML_OK;
    }
    usage->end_ns = clock_now_ns();
    usage->end = timed_figures(usage->place);
    return usage_count_limits(usage->store, &usage->end_limits);
}

static int64_t bytes_of(const struct timed_figures *figures)
{
    return (int64_t)(figures->sent + figures->received);
}

// What was replayed has its results in the store by now.
static tapml_status settle_cases(struct place_usage *usage)
{
    struct usage_cases *cases = &usage->cases;
    int64_t results = 0, calls_ns = 0;

    if (usage->end_ns == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(usage_count_results(usage->store, usage->place->settings.name, &results, &calls_ns));
    *cases = (struct usage_cases){
        .count = results - usage->results,
        .limits = usage->end_limits - usage->limits,
        .whole_ns = (int64_t)(usage->end_ns - usage->begin_ns),
        .busy_ns = (int64_t)(usage->end.busy_ns - usage->begin.busy_ns),
        .calls_ns = calls_ns - usage->calls_ns,
        .bytes = bytes_of(&usage->end) - bytes_of(&usage->begin),
        .firsts = (int64_t)usage->verdicts->firsts,
        .firsts_ns = (int64_t)usage->verdicts->firsts_ns,
    };
    if (cases->count <= 0) { // An earlier start had them all.
        *cases = (struct usage_cases){.count = 0};
    }
    usage->begin_ns = usage->end_ns = 0;
    return TAPML_OK;
}

static int64_t start_of(const struct place_usage *usage, const struct timed_figures *figures)
{
    const uint64_t more_ns = usage->before_ns > 0 ? usage->before_ns : figures->first_ns;

    return more_ns > 0 ? (int64_t)(figures->open_ns + more_ns) : -1;
}

static tapml_status write_row(const struct place_usage *usage, const struct timed_figures *figures)
{
    const struct backend_info *info = backend_info(usage->place->backend);
    const uint64_t held_ns = clock_now_ns() - figures->begun_ns;
    char device[DEVICE_TEXT], driver[DRIVER_TEXT];

    (void)snprintf(device, sizeof(device), "%.120s:%.120s", info->component, info->device);
    (void)snprintf(driver, sizeof(driver), "%.250s, %.250s", info->device_name, info->driver);
    return usage_write(usage->store, &(struct usage_row){
                                         .place = usage->place->settings.name,
                                         .device = device,
                                         .driver = driver,
                                         .rate = usage->rate,
                                         .began_s = clock_wall_s() - (int64_t)(held_ns / SECOND_NS),
                                         .start_ns = start_of(usage, figures),
                                         .held_ns = (int64_t)held_ns,
                                         .busy_ns = (int64_t)figures->busy_ns,
                                         .bytes = bytes_of(figures),
                                         .cases = usage->cases,
                                     });
}

tapml_status place_usage_note(struct place_usage *usage)
{
    const struct timed_figures figures = timed_figures(usage->place);

    if (figures.begun_ns == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(store_begin(usage->store));
    tapml_status status = settle_cases(usage);

    status = status == TAPML_OK ? write_row(usage, &figures) : status;
    status = status == TAPML_OK ? store_commit(usage->store) : status;
    if (status != TAPML_OK) {
        store_rollback(usage->store);
    }
    return status;
}
