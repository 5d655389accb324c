// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "config/isolation.h"
#include "config/run_file.h"
#include "run/driver_listing.h"
#include "run/interrupt.h"
#include "run/setup.h"
#include "run/vendor_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--check", "NAME", "one check alone"},
    {"--seed", "N", "of the sizes, offsets and bytes; 1 by default, as in a run"},
    {"--repeat", "N", "number of times, for what fails only sometimes; 1 by default"},
    {"--bundle", "FILE", "writes the first check that fails to FILE, for `replay`"},
    {"--config", "FILE", "the INI file of a run, for the options of components"},
    {"--target", "NAME", "a target of --config with its injected faults, instead of BACKEND"},
    {"--isolation", "always|never|loopback", "always, in a worker process, by default"},
    WORKER_LIMIT_OPTIONS,
    WORKER_FAR_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_check_device_manual = {
    .usage = "tapml-host check-device BACKEND[:DEVICE]",
    .about = "Tests the memory and the queue of a device, without a model.",
    .specs = specs,
};

enum { REPEAT_MAX = 1000000 };

// A check of a device on its way.
struct checking {
    const struct options *options;
    struct run_config config; // Of --config.
    struct setup setup;
    struct place *place;
    int64_t seed, repeat;
    size_t only; // The one check; or all, where it is their number.
    size_t failed, skipped, trials;
    size_t wrong;                 // The first check that has failed, once one has;
    struct driver_result failure; // what it found.
};

static tapml_status find_check(const char *name, size_t *out_index)
{
    const char *names[DRIVER_CHECKS_MAX + 1] = {NULL};
    const size_t count = driver_check_count();

    *out_index = count;
    for (size_t i = 0; name != NULL && i < count; i++) {
        names[i] = driver_check_name(i);
        if (strcmp(names[i], name) == 0) {
            *out_index = i;
        }
    }
    if (name == NULL || *out_index < count) {
        return TAPML_OK;
    }
    const char *near = text_nearest(name, names);

    return status_fail(TAPML_INVALID, "there is no check '%s'%s%s%s", name,
                       near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                       near != NULL ? "'?" : "");
}

// Opens the backend that is asked for, or a target as its run opens it.
static tapml_status open_place(struct checking *checking)
{
    const struct options *options = checking->options;
    const char *name = options_get(options, "--target");
    struct place_settings settings = {
        .name = "target",
        .backend = options->plain_count == 1 ? options->plain[0] : NULL,
        .isolation = {.mode = PLACE_ISOLATION_ALWAYS, .deadline_s = ISOLATION_DEADLINE_S}};

    if (name != NULL) {
        TAPML_TRY(run_config_find_target(&checking->config, name, &settings));
    }
    TAPML_TRY(worker_options_read(options, &settings.isolation));
    TAPML_TRY(setup_add_place(&checking->setup, &settings, &checking->place));
    return setup_open_place(&checking->setup, checking->place);
}

static tapml_status check_once(struct checking *checking, int is_last)
{
    for (size_t i = 0; i < driver_check_count(); i++) {
        struct driver_result result;

        if (checking->only < driver_check_count() && i != checking->only) {
            continue;
        }
        TAPML_TRY(interrupt_check());
        TAPML_TRY(driver_check_run(driver_check_backend(checking->place),
                                   registry_catalogue(checking->setup.registry), i,
                                   (uint64_t)checking->seed, &result));
        if (result.outcome == DRIVER_FAILED && checking->failed++ == 0) {
            checking->wrong = i;
            checking->failure = result;
        }
        checking->skipped += result.outcome == DRIVER_SKIPPED;
        checking->trials += result.trials;
        if (is_last || result.outcome == DRIVER_FAILED) {
            driver_listing_check(i, &result);
        }
    }
    return TAPML_OK;
}

// Up to the first repetition in which something fails.
static tapml_status check_all(struct checking *checking)
{
    driver_listing_begin(checking->place->backend, (uint64_t)checking->seed);
    for (int64_t i = 0; i < checking->repeat && checking->failed == 0; i++) {
        checking->skipped = 0;
        TAPML_TRY(check_once(checking, i == checking->repeat - 1));
    }
    (void)printf("the driver %s: %zu trials, %zu checks failed, %zu skipped\n",
                 checking->failed > 0 ? "is wrong" : "passed", checking->trials, checking->failed,
                 checking->skipped);
    return TAPML_OK;
}

// What failed, as files for others: the bundle, and the program for the vendor beside it.
static tapml_status write_files(const struct checking *checking, const char *path)
{
    const struct driver_bundle_options what = {.path = path,
                                               .place = checking->place,
                                               .check = checking->wrong,
                                               .seed = (uint64_t)checking->seed,
                                               .failure = &checking->failure};
    const char *program = vendor_program_path(path, checking->setup.arena);
    int has_program = 0;

    if (program == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(driver_bundle_write(&what));
    TAPML_TRY(vendor_program_write(&what, checking->setup.registry, program, &has_program));
    (void)printf("bundle: %s%s%s\n", path, has_program ? ", for the vendor: " : "",
                 has_program ? program : "");
    return TAPML_OK;
}

static tapml_status write_bundle(const struct checking *checking)
{
    const char *path = options_get(checking->options, "--bundle");

    return path != NULL && checking->failed > 0 ? write_files(checking, path) : TAPML_OK;
}

static tapml_status read_options(struct checking *checking)
{
    const struct options *options = checking->options;
    const int has_target = options_get(options, "--target") != NULL;
    const char *config = options_get(options, "--config");

    if (options->plain_count != (has_target ? 0 : 1)) {
        return status_fail(TAPML_INVALID, "%s expected, %zu given",
                           has_target ? "no backend beside --target" : "one backend",
                           options->plain_count);
    }
    TAPML_TRY(find_check(options_get(options, "--check"), &checking->only));
    TAPML_TRY(options_i64(options, "--seed", DRIVER_CHECK_SEED, 0, INT64_MAX, &checking->seed));
    TAPML_TRY(options_i64(options, "--repeat", 1, 1, REPEAT_MAX, &checking->repeat));
    return config != NULL ? run_file_load(config, &checking->config) : TAPML_OK;
}

static tapml_status run(const struct command *command, struct checking *checking)
{
    const int has_config = options_get(checking->options, "--config") != NULL;

    TAPML_TRY(read_options(checking));
    TAPML_TRY(setup_open(command->program, checking->options,
                         has_config ? &checking->config.ini : NULL, &checking->setup));
    interrupt_watch();
    TAPML_TRY(open_place(checking));
    TAPML_TRY(check_all(checking));
    return write_bundle(checking);
}

enum outcome command_check_device_main(const struct command *command)
{
    struct options options;
    struct checking checking = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_check_device_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &checking);
    }
    const enum outcome outcome = outcome_report(status);

    setup_close(&checking.setup);
    run_config_release(&checking.config);
    return outcome != OUTCOME_OK ? outcome : checking.failed > 0 ? OUTCOME_WRONG : OUTCOME_OK;
}
