// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A resident member of a pool: the target `gpu` of a run's file is opened once, and replays all
// kept cases of a store so many times, evenly spread over a window of so many seconds, in which it
// is held without work between two runs. bench/cost compares it with members that are opened for
// each run. Prints one line:
//
//   {"open": 0.21, "held": 12.03, "runs": [0.61, 0.58]}
//
// Seconds; `held` ends with the window or, if the runs take longer than that, with the last of
// them.
#include "base/clock.h"
#include "base/text.h"
#include "config/run_file.h"
#include "measure.h"
#include "model/weight_files.h"
#include "run/setup.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/verdicts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS_MAX = 10000, WINDOW_MAX_MS = 3600 * 1000 };

#define TARGET "gpu"

static const struct options_spec specs[] = {
    {"--store", "FILE", "the store of a run, whose results are written anew"},
    {"--config", "FILE", "the INI file of the run, with its target"},
    {"--runs", "N", "how often the cases are replayed"},
    {"--window", "MS", "for how long it is held"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

struct tenant {
    struct options options;
    struct run_config config;
    struct setup setup;
    struct store *store;
    struct checkpoint *checkpoint;
    struct place *place;
    double begin_s; // When its opening began.
};

static double now_s(void)
{
    return (double)clock_now_ns() * 1e-9;
}

static tapml_status needed(const struct options *options, const char *name, const char **out_value)
{
    *out_value = options_get(options, name);
    return *out_value != NULL ? TAPML_OK : status_fail(TAPML_INVALID, "no %s", name);
}

static tapml_status open_all(struct tenant *tenant, const char *program)
{
    const char *store = NULL, *config = NULL;
    struct place_settings settings;

    TAPML_TRY(needed(&tenant->options, "--store", &store));
    TAPML_TRY(needed(&tenant->options, "--config", &config));
    TAPML_TRY(run_file_load(config, &tenant->config));
    TAPML_TRY(store_open(store, 0, &tenant->store));
    TAPML_TRY(setup_open(program, &tenant->options, &tenant->config.ini, &tenant->setup));
    TAPML_TRY(weight_files_open(tenant->config.model, &tenant->checkpoint));
    TAPML_TRY(run_config_find_target(&tenant->config, TARGET, &settings));
    TAPML_TRY(setup_add_place(&tenant->setup, &settings, &tenant->place));
    tenant->begin_s = now_s();
    return setup_open_place(&tenant->setup, tenant->place);
}

static tapml_status replay(const struct tenant *tenant)
{
    struct verdict_list list;

    TAPML_TRY(verdicts_make(&(struct verdict_options){.registry = tenant->setup.registry,
                                                      .store = tenant->store,
                                                      .target = TARGET,
                                                      .backend = tenant->place->backend,
                                                      .checkpoint = tenant->checkpoint,
                                                      .fresh = 1},
                            &list));
    verdict_list_release(&list);
    return TAPML_OK;
}

static void sleep_until(double moment_s)
{
    const double left_s = moment_s - now_s();

    if (left_s > 0) {
        const struct timespec time = {.tv_sec = (time_t)left_s,
                                      .tv_nsec = (long)(1e9 * fmod(left_s, 1))};

        (void)nanosleep(&time, NULL);
    }
}

static tapml_status run(struct tenant *tenant, const char *program)
{
    int64_t runs = 0, window_ms = 0;

    TAPML_TRY(options_i64(&tenant->options, "--runs", 1, 1, RUNS_MAX, &runs));
    TAPML_TRY(options_i64(&tenant->options, "--window", 0, 0, WINDOW_MAX_MS, &window_ms));
    TAPML_TRY(open_all(tenant, program));
    const double window_s = (double)window_ms * 1e-3, open_s = now_s() - tenant->begin_s;
    struct text times;

    text_init(&times);
    for (int64_t i = 0; i < runs; i++) {
        sleep_until(tenant->begin_s + open_s + window_s * (double)i / (double)runs);
        const double begin_s = now_s();
        const tapml_status status = replay(tenant);

        if (status != TAPML_OK) {
            text_release(&times);
            return status;
        }
        text_format(&times, "%s%.6f", i > 0 ? ", " : "", now_s() - begin_s);
    }
    sleep_until(tenant->begin_s + window_s);
    (void)printf("{\"open\": %.6f, \"held\": %.6f, \"runs\": [%s]}\n", open_s,
                 now_s() - tenant->begin_s, times.data);
    text_release(&times);
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    char program[4096];
    struct tenant tenant = {.store = NULL};

    measure_program(argv[0], program, sizeof(program));
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &tenant.options);

    status = status == TAPML_OK ? run(&tenant, program) : status;
    if (status != TAPML_OK) {
        (void)fprintf(stderr, "%s\n", status_message());
    }
    setup_close(&tenant.setup);
    checkpoint_close(tenant.checkpoint);
    store_close(tenant.store);
    run_config_release(&tenant.config);
    return status == TAPML_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
