// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/isolation.h"
#include "config/run_file.h"
#include "report/report.h"
#include "run/bundles.h"
#include "run/case_weights.h"
#include "run/driver_bundle.h"
#include "run/driver_listing.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/recorded_on.h"
#include "run/run_lock.h"
#include "run/setup.h"
#include "run/shard_cases.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/comparers.h"
#include "verify/first_limits.h"
#include "verify/verdicts.h"

#include <stdio.h>
#include <string.h>

enum { FAILURES_SHOWN = 20 };

static const struct options_spec specs[] = {
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE"},
    {"--case", "ID", "one case alone"},
    {"--repeat", "N",
     "number of replays, for cases that fail only sometimes; by default what a bundle says, or 1"},
    SHARD_OPTION,
    SHARD_INTO_OPTION,
    {"--bisect", NULL,
     "for `git bisect run`: exit code 125 where neither right nor wrong can be told"},
    {"--config", "FILE", "the INI file of a run, for the options of components"},
    {"--target", "NAME", "a target of --config with its injected faults, instead of --backend"},
    {"--isolation", "always|never|loopback", "always, in a worker process, by default"},
    SETUP_DEADLINE_OPTION,
    {"--activations", "f32|f16", "f32 by default; a bundle and a target have their own"},
    {"--comparer", "ID",
     "a comparer of a plugin measures the outputs too; may be given several times"},
    {"--model", "PATH", "the weights' folder, a name or a GGUF file; by default those of the run"},
    TIMELINES_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_replay_manual = {
    .usage = "tapml-host replay STORE --backend B [--case ID]",
    .about = "Replays the cases of a store (a run's run.tapmlrun, or a bundle, "
             "FAULT-1.tapmlrun) on a backend. Of the bundle of a driver, its check is made "
             "again.",
    .specs = specs,
};

enum { REPEAT_MAX = 1000000 };

// A replay on its way.
struct replaying {
    const struct options *options;
    struct run_config config; // Of --config.
    struct setup setup;
    struct store *store;
    struct case_shard shard;        // None, or
    struct shard_cases shard_cases; // what it has,
    struct run_lock *lock;          // in a folder of its own.
    struct checkpoint *checkpoint;
    struct place *place;
    struct comparers *comparers;
    size_t bad;    // Cases of the worst repetition,
    size_t passed; // and those that ran and are right.
};

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

static size_t count_bad(const struct verdict_list *list)
{
    size_t bad = 0;

    for (size_t i = 0; i < list->count; i++) {
        bad += list->items[i].kind == VERDICT_FAIL || list->items[i].kind == VERDICT_ERROR;
    }
    return bad;
}

static size_t count_passed(const struct verdict_list *list)
{
    size_t passed = 0;

    for (size_t i = 0; i < list->count; i++) {
        passed += list->items[i].kind == VERDICT_PASS;
    }
    return passed;
}

// A target as its run opens it, isolated or not and with the faults injected there; else the
// backend that is asked for.
static tapml_status read_settings(struct replaying *replaying, struct place_settings *out_settings)
{
    const char *name = options_get(replaying->options, "--target");

    *out_settings = (struct place_settings){
        .name = "target",
        .backend = options_get(replaying->options, "--backend"),
        .isolation = {.mode = PLACE_ISOLATION_ALWAYS, .deadline_s = ISOLATION_DEADLINE_S}};
    if (name != NULL) {
        return run_config_find_target(&replaying->config, name, out_settings);
    }
    if (out_settings->backend == NULL) {
        TAPML_TRY(setup_default_backend(&replaying->setup, &out_settings->backend));
    }
    return setup_read_isolation(replaying->options, &out_settings->isolation);
}

// The activation dtype: as a bundle failed, else as a target has them, else as is asked.
static tapml_status read_activations(const struct replaying *replaying,
                                     enum activation *out_activation)
{
    const char *name = options_get(replaying->options, "--target");
    struct place_settings target;
    const int is_bundle = bundle_is(replaying->store);

    TAPML_TRY(setup_read_activations(replaying->options, out_activation));
    if (options_get(replaying->options, "--activations") != NULL && (is_bundle || name != NULL)) {
        return status_fail(
            TAPML_INVALID,
            "--activations and %s exclude each other: the latter has its own activations",
            is_bundle ? "a bundle" : "--target");
    }
    if (is_bundle) {
        const char *said = metadata_get(replaying->store, BUNDLE_METADATA_ACTIVATIONS);

        if (said != NULL) {
            return activation_read(BUNDLE_METADATA_ACTIVATIONS, said, out_activation);
        }
    } else if (name != NULL) {
        TAPML_TRY(run_config_find_target(&replaying->config, name, &target));
        *out_activation = target.activation;
    }
    return TAPML_OK;
}

static tapml_status open_place(struct replaying *replaying)
{
    struct place_settings settings;

    TAPML_TRY(read_settings(replaying, &settings));
    TAPML_TRY(read_activations(replaying, &settings.activation));
    TAPML_TRY(setup_add_place(&replaying->setup, &settings, &replaying->place));
    return setup_open_place(&replaying->setup, replaying->place);
}

// A bundle says what it is, and shows what is wrong element by element.
static tapml_status print_bundle(struct replaying *replaying, const struct verdict_list *list)
{
    bundles_describe(replaying->store, list);
    return list->count == 1 && list->items[0].kind == VERDICT_FAIL
               ? bundles_print_elements(replaying->store, replaying->setup.registry,
                                        replaying->place->backend)
               : TAPML_OK;
}

static tapml_status print(struct replaying *replaying, const struct verdict_list *list)
{
    struct text text;

    TAPML_TRY(report_print_verdicts(list, FAILURES_SHOWN));
    text_init(&text);
    recorded_on_print(replaying->store, backend_info(replaying->place->backend), &text);
    TAPML_TRY(text_print(&text));
    return bundle_is(replaying->store) ? print_bundle(replaying, list) : TAPML_OK;
}

// Replays until something fails, `repeat` times at most, and prints the last repetition.
static tapml_status
replay_all(struct replaying *replaying, struct verdict_options *options, int64_t repeat)
{
    tapml_status status = TAPML_OK;
    struct verdict_list list;
    struct progress progress;

    progress_begin(&progress, "replay", 0);
    options->user = &progress;
    TAPML_TRY(verdicts_make(options, &list));
    int64_t times = 1;

    for (; times < repeat && count_bad(&list) == 0; times++) {
        verdict_list_release(&list);
        TAPML_TRY(verdicts_make(options, &list));
    }
    replaying->bad = count_bad(&list);
    replaying->passed = count_passed(&list);
    progress_end(&progress, "%zu cases, %zu failed%s", list.count, replaying->bad,
                 times > 1 ? " in the last repetition" : "");
    status = print(replaying, &list);
    verdict_list_release(&list);
    return status;
}

// A bundle says how often it has to be replayed; it comes from someone else.
static int64_t default_repeat(const struct replaying *replaying)
{
    const char *said =
        bundle_is(replaying->store) ? metadata_get(replaying->store, BUNDLE_METADATA_REPEAT) : NULL;
    int64_t repeat = 1;
    const int is_number = said != NULL && text_parse_i64(said, &repeat) == TAPML_OK;

    return is_number && repeat >= 1 && repeat <= REPEAT_MAX ? repeat : 1;
}

static tapml_status replay(struct replaying *replaying)
{
    const struct options *options = replaying->options;
    const char *comparers = NULL;
    int64_t case_id = 0;
    int64_t repeat = 1;

    TAPML_TRY(options_i64(options, "--case", 0, 1, INT64_MAX, &case_id));
    TAPML_TRY(options_i64(options, "--repeat", default_repeat(replaying), 1, REPEAT_MAX, &repeat));
    TAPML_TRY(case_weights_open(&replaying->setup, replaying->store,
                                options_get(options, "--model"), &replaying->checkpoint));
    TAPML_TRY(open_place(replaying));
    TAPML_TRY(setup_take_names(&replaying->setup, options, "--comparer", &comparers));
    TAPML_TRY(comparers_create(replaying->setup.registry, comparers, &replaying->comparers));
    struct verdict_options verdicts = {.registry = replaying->setup.registry,
                                       .store = replaying->store,
                                       .target = replaying->place->settings.backend,
                                       .backend = replaying->place->backend,
                                       .checkpoint = replaying->checkpoint,
                                       .comparers = replaying->comparers,
                                       .ids = case_id != 0 ? &case_id : NULL,
                                       .id_count = 1,
                                       .fresh = replaying->shard.count == 0,
                                       .progress = show};

    if (replaying->shard_cases.whole != NULL) {
        struct verdict_options limits = verdicts;

        limits.progress = NULL;
        TAPML_TRY(first_limits_settle(&limits, replaying->shard_cases.whole));
    }
    return replay_all(replaying, &verdicts, repeat);
}

// A driver has neither cases nor weights.
static tapml_status refuse_cases(const struct options *options)
{
    static const char *const others[] = {"--case", "--model"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (options_get(options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s is for cases, and '%s' is the bundle of a driver",
                               others[i], options->plain[0]);
        }
    }
    return TAPML_OK;
}

// Makes the check of a driver's bundle again until it fails, `repeat` times at most.
static tapml_status
check_driver(struct replaying *replaying, size_t check, uint64_t seed, int64_t repeat)
{
    struct driver_result result = {.outcome = DRIVER_PASSED};

    driver_listing_begin(replaying->place->backend, seed);
    for (int64_t i = 0; i < repeat && result.outcome != DRIVER_FAILED; i++) {
        TAPML_TRY(interrupt_check());
        TAPML_TRY(driver_check_run(driver_check_backend(replaying->place),
                                   registry_catalogue(replaying->setup.registry), check, seed,
                                   &result));
    }
    driver_listing_check(check, &result);
    replaying->bad = result.outcome == DRIVER_FAILED;
    replaying->passed = result.outcome == DRIVER_PASSED;
    bundles_describe(replaying->store, NULL);
    return TAPML_OK;
}

static tapml_status replay_driver(struct replaying *replaying)
{
    int64_t repeat = 1;
    size_t check = 0;
    uint64_t seed = 0;

    TAPML_TRY(refuse_cases(replaying->options));
    TAPML_TRY(options_i64(replaying->options, "--repeat", 1, 1, REPEAT_MAX, &repeat));
    TAPML_TRY(driver_bundle_read(replaying->store, &check, &seed));
    TAPML_TRY(open_place(replaying));
    return check_driver(replaying, check, seed, repeat);
}

// What a shard cannot do: it has some cases of a store that is only read.
static tapml_status check_shard(const struct options *options)
{
    static const char *const others[] = {"--case", "--repeat", "--bisect"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (options_get(options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID, "--shard and %s exclude each other", others[i]);
        }
    }
    return TAPML_OK;
}

static tapml_status open_own(struct replaying *replaying, const char *folder)
{
    char *path = file_join(folder, "run.tapmlrun");
    tapml_status status = path != NULL ? file_make_folder(folder) : status_no_memory();

    if (status == TAPML_OK) {
        status = run_lock_take(folder, &replaying->lock);
    }
    if (status == TAPML_OK) {
        status = store_open(path, 1, &replaying->store);
    }
    alloc_free(path);
    return status;
}

// The store of a shard takes the place of the one that is given.
static tapml_status take_share(struct replaying *replaying)
{
    const char *path = replaying->options->plain[0];
    const char *into = options_get(replaying->options, "--into");
    char *beside = into == NULL ? file_folder(path) : NULL;
    const char *folder = into != NULL || beside != NULL
                             ? shard_cases_folder(&replaying->shard, into != NULL ? into : beside,
                                                  replaying->setup.arena)
                             : NULL;
    char sentence[SHARD_CASES_TEXT];

    alloc_free(beside);
    TAPML_TRY(folder != NULL ? open_own(replaying, folder) : status_no_memory());
    TAPML_TRY(
        shard_cases_take(&replaying->shard, path, NULL, replaying->store, &replaying->shard_cases));
    shard_cases_print(&replaying->shard_cases, sentence);
    log_say("%s", sentence);
    return TAPML_OK;
}

// The store first: a file that is no store is reported before plugins are searched for.
static tapml_status open_files(struct replaying *replaying)
{
    const struct options *options = replaying->options;
    const char *config = options_get(options, "--config");

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "one store expected, %zu given", options->plain_count);
    }
    if (config != NULL) {
        TAPML_TRY(run_file_load(config, &replaying->config));
    }
    TAPML_TRY(shard_take(options, &replaying->shard));
    return replaying->shard.count > 0 ? check_shard(options)
                                      : store_open(options->plain[0], 0, &replaying->store);
}

static tapml_status run(const struct command *command, struct replaying *replaying)
{
    const int has_config = options_get(replaying->options, "--config") != NULL;

    TAPML_TRY(open_files(replaying));
    TAPML_TRY(setup_open(command->program, replaying->options,
                         has_config ? &replaying->config.ini : NULL, &replaying->setup));
    interrupt_watch();
    TAPML_TRY(replaying->shard.count > 0 ? take_share(replaying) : TAPML_OK);
    TAPML_TRY(driver_bundle_is(replaying->store) ? replay_driver(replaying) : replay(replaying));
    return timelines_finish(&replaying->setup.timelines);
}

static void replaying_release(struct replaying *replaying)
{
    comparers_destroy(replaying->comparers);
    shard_cases_release(&replaying->shard_cases);
    setup_close(&replaying->setup);
    checkpoint_close(replaying->checkpoint);
    store_close(replaying->store);
    run_lock_release(replaying->lock);
    run_config_release(&replaying->config);
}

// What the program ends with. A bisection goes on where a commit does not build a backend that runs
// the case, and ends where somebody interrupts it.
static enum outcome conclude(const struct replaying *replaying, enum outcome outcome)
{
    const int is_bisecting = options_get(replaying->options, "--bisect") != NULL;
    const int is_known = outcome == OUTCOME_OK && replaying->bad + replaying->passed > 0;

    if (is_bisecting && !is_known && outcome != OUTCOME_INTERRUPTED) {
        return OUTCOME_UNKNOWN;
    }
    // A shard has done its part, whatever came of it: engines take another code for its failure.
    const int is_wrong = replaying->bad > 0 && replaying->shard.count == 0;

    return outcome != OUTCOME_OK ? outcome : is_wrong ? OUTCOME_WRONG : OUTCOME_OK;
}

enum outcome command_replay_main(const struct command *command)
{
    struct options options;
    struct replaying replaying = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_replay_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &replaying);
    }
    const enum outcome outcome = conclude(&replaying, outcome_report(status));

    if (replaying.lock != NULL) {
        run_lock_end(replaying.lock, (int)outcome, status == TAPML_OK ? "" : status_message());
    }

    replaying_release(&replaying);
    return outcome;
}
