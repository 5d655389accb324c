// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/replay_devices.h"
#include "config/isolation.h"
#include "config/run_file.h"
#include "report/report.h"
#include "run/bundle_search.h"
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
#include "verify/fault_rule.h"
#include "verify/first_limits.h"
#include "verify/verdicts.h"

#include <stdio.h>
#include <string.h>

enum { FAILURES_SHOWN = 20 };

static const struct options_spec specs[] = {
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE; by default every device that is installed"},
    {"--case", "ID", "one case alone"},
    {"--repeat", "N",
     "number of replays, for cases that fail only sometimes; by default what a bundle says, or 1"},
    {"--ahead", "N",
     "cases on their way to a worker at once, 1 to 16; by default it is tuned while they run"},
    SHARD_OPTION,
    SHARD_INTO_OPTION,
    {"--bisect", NULL,
     "for `git bisect run`: exit code 125 where neither right nor wrong can be told"},
    {"--config", "FILE", "the INI file of a run, for the options of components"},
    {"--target", "NAME", "a target of --config with its injected faults, instead of --backend"},
    {"--isolation", "always|never|loopback", "always, in a worker process, by default"},
    WORKER_LIMIT_OPTIONS,
    WORKER_FAR_OPTIONS,
    {"--activations", "f32|f16", "f32 by default; a bundle and a target have their own"},
    {"--comparer", "ID",
     "a comparer of a plugin measures the outputs too; may be given several times"},
    SETUP_COMPONENT_OPTION,
    {"--model", "PATH", "the weights' folder, a name or a GGUF file; by default those of the run"},
    {"--verbose", NULL, "prints what each stage of the replay has taken, too"},
    TIMELINES_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_replay_manual = {
    .usage = "tapml-host replay STORE --backend B [--case ID]\n"
             "tapml-host replay STORE [TAG=GLOB ...]",
    .about = "Replays the cases of a store (a run's run.tapmlrun, a pack, or a bundle, "
             "FAULT-1.tapmlrun) on a backend. Of the bundle of a driver, its check is made "
             "again. STORE is a file, or the id of a bundle or pack that 'tapml-host find' "
             "finds.\n"
             "Without --backend and --target it is replayed on every installed device whose tags "
             "meet all TAG=GLOB (component=cpu, device_name=*RTX*, driver=24.*), and each is "
             "named with its verdict. Devices that are missing are told. Ends with 1 if something "
             "is wrong on any, else with 3 if one that is there could not be tried.",
    .specs = specs,
};

enum { REPEAT_MAX = 1000000 };

// A replay on its way, from one device to the next.
struct replaying {
    const struct options *options;
    struct run_config config; // Of --config.
    struct setup setup;
    const char *path; // Of the store, in `arena` if it was found by an id.
    struct arena *arena;
    struct store *store;
    struct case_shard shard;        // None, or
    struct shard_cases shard_cases; // what it has,
    struct run_lock *lock;          // in a folder of its own.
    struct checkpoint *checkpoint;
    struct place *place; // Own: the one where it is replayed now.
    struct comparers *comparers;
    struct bundle_condition conditions[OPTIONS_MAX]; // Of devices.
    size_t condition_count;
    tapml_status (*replay_here)(struct replaying *replaying, struct replay_device_result *out);
    int64_t repeat, case_id; // 0: all cases.
    int64_t ahead;           // 0: tuned.
    size_t check;            // Of a driver's bundle,
    uint64_t seed;           // and what it was made with.
    int is_described;        // What a bundle is was printed.
    size_t bad, passed;      // As struct replay_device_result, over all devices,
    size_t failed;           // and devices on which nothing could be tried.
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

// A target as its run opens it, isolated or not and with the faults injected there; else `backend`.
static tapml_status
read_settings(struct replaying *replaying, const char *backend, struct place_settings *out_settings)
{
    const char *name = options_get(replaying->options, "--target");

    *out_settings = (struct place_settings){
        .name = "target",
        .backend = backend,
        .isolation = {.mode = PLACE_ISOLATION_ALWAYS, .deadline_s = ISOLATION_DEADLINE_S}};
    if (name != NULL) {
        return run_config_find_target(&replaying->config, name, out_settings);
    }
    return worker_options_read(replaying->options, &out_settings->isolation);
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

static tapml_status open_place(struct replaying *replaying, const char *backend)
{
    struct place_settings settings;

    TAPML_TRY(read_settings(replaying, backend, &settings));
    TAPML_TRY(read_activations(replaying, &settings.activation));
    TAPML_TRY(place_create(&settings, &replaying->place));
    return setup_open_place(&replaying->setup, replaying->place);
}

// Replays on one backend: NULL is the target of a run.
static tapml_status
replay_on(void *user, const char *backend, struct replay_device_result *out_result)
{
    struct replaying *replaying = user;
    tapml_status status = open_place(replaying, backend);

    if (status == TAPML_OK) {
        status = replaying->replay_here(replaying, out_result);
    }
    place_destroy(replaying->place);
    replaying->place = NULL;
    return status;
}

static tapml_status replay_everywhere(struct replaying *replaying)
{
    struct replay_devices_totals totals = {.bad = 0};

    TAPML_TRY(replay_devices_run(
        &(struct replay_devices_options){.setup = &replaying->setup,
                                         .store = replaying->store,
                                         .conditions = replaying->conditions,
                                         .condition_count = replaying->condition_count,
                                         .replay = replay_on,
                                         .user = replaying},
        &totals));
    replaying->bad = totals.bad;
    replaying->passed = totals.passed;
    replaying->failed = totals.failed;
    return TAPML_OK;
}

// Where it was asked for, or on all there is.
static tapml_status replay_where(struct replaying *replaying)
{
    const char *backend = options_get(replaying->options, "--backend");
    struct replay_device_result result = {.bad = 0};

    if (backend == NULL && options_get(replaying->options, "--target") == NULL) {
        return replay_everywhere(replaying);
    }
    TAPML_TRY(replay_on(replaying, backend, &result));
    replaying->bad = result.bad;
    replaying->passed = result.passed;
    return TAPML_OK;
}

// A bundle says what it is, and shows what is wrong element by element.
static tapml_status print_bundle(struct replaying *replaying, const struct verdict_list *list)
{
    if (!replaying->is_described) {
        bundles_describe(replaying->store, list);
        replaying->is_described = 1;
    }
    return list->count == 1 && list->items[0].kind == VERDICT_FAIL
               ? bundles_print_elements(replaying->store, replaying->setup.registry,
                                        replaying->place->backend)
               : TAPML_OK;
}

// What is other here than where the store is from.
static tapml_status print_recorded(const struct replaying *replaying)
{
    const struct place *place = replaying->place;
    const struct place_settings *settings = &place->settings;
    const char *faults =
        fault_rule_keep_all(settings->faults, settings->fault_count, replaying->arena);
    const struct recorded_on here = recorded_on_here("", backend_info(place->backend), faults, "");
    struct text text;

    if (faults == NULL) {
        return status_no_memory();
    }
    text_init(&text);
    recorded_on_print(replaying->store, &here, &text);
    return text_print(&text);
}

static tapml_status print(struct replaying *replaying, const struct verdict_list *list)
{
    TAPML_TRY(report_print_verdicts(list, FAILURES_SHOWN));
    TAPML_TRY(print_recorded(replaying));
    return bundle_is(replaying->store) ? print_bundle(replaying, list) : TAPML_OK;
}

// Replays until something fails, `repeat` times at most, and prints the last repetition.
static tapml_status replay_all(struct replaying *replaying,
                               struct verdict_options *options,
                               struct replay_device_result *out_result)
{
    tapml_status status = TAPML_OK;
    struct verdict_list list;
    struct progress progress;

    progress_begin(&progress, "replay", 0);
    options->user = &progress;
    TAPML_TRY(verdicts_make(options, &list));
    int64_t times = 1;

    for (; times < replaying->repeat && count_bad(&list) == 0; times++) {
        verdict_list_release(&list);
        TAPML_TRY(verdicts_make(options, &list));
    }
    out_result->bad = count_bad(&list);
    out_result->passed = count_passed(&list);
    out_result->others = list.count - out_result->bad - out_result->passed;
    progress_end(&progress, "%zu cases, %zu failed%s", list.count, out_result->bad,
                 times > 1 ? " in the last repetition" : "");
    status = print(replaying, &list);
    if (options_get(replaying->options, "--verbose") != NULL) {
        char stages[REPLAY_AHEAD_TEXT];

        replay_ahead_print(&list.ahead, stages);
        log_say("replay ahead on '%s': %s", options->target, stages);
    }
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

static tapml_status replay_cases(struct replaying *replaying,
                                 struct replay_device_result *out_result)
{
    struct verdict_options verdicts = {.registry = replaying->setup.registry,
                                       .store = replaying->store,
                                       .target = replaying->place->settings.backend,
                                       .backend = replaying->place->backend,
                                       .checkpoint = replaying->checkpoint,
                                       .comparers = replaying->comparers,
                                       .ids = replaying->case_id != 0 ? &replaying->case_id : NULL,
                                       .id_count = 1,
                                       .fresh = replaying->shard.count == 0,
                                       .ahead = (size_t)replaying->ahead,
                                       .progress = show};

    if (replaying->shard_cases.whole != NULL) {
        struct verdict_options limits = verdicts;

        limits.progress = NULL;
        TAPML_TRY(first_limits_settle(&limits, replaying->shard_cases.whole));
    }
    return replay_all(replaying, &verdicts, out_result);
}

static tapml_status replay(struct replaying *replaying)
{
    const struct options *options = replaying->options;
    const char *comparers = NULL;

    TAPML_TRY(options_i64(options, "--case", 0, 1, INT64_MAX, &replaying->case_id));
    TAPML_TRY(options_i64(options, "--ahead", 0, 1, REPLAY_AHEAD_CASES_MAX, &replaying->ahead));
    TAPML_TRY(options_i64(options, "--repeat", default_repeat(replaying), 1, REPEAT_MAX,
                          &replaying->repeat));
    TAPML_TRY(case_weights_open(&replaying->setup, replaying->store,
                                options_get(options, "--model"), &replaying->checkpoint));
    TAPML_TRY(setup_take_names(&replaying->setup, options, "--comparer", &comparers));
    TAPML_TRY(comparers_create(replaying->setup.registry, comparers, &replaying->comparers));
    replaying->replay_here = replay_cases;
    return replay_where(replaying);
}

// A driver has neither cases nor weights.
static tapml_status refuse_cases(const struct options *options, const char *path)
{
    static const char *const others[] = {"--case", "--model", "--ahead"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (options_get(options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s is for cases, and '%s' is the bundle of a driver",
                               others[i], path);
        }
    }
    return TAPML_OK;
}

// Makes the check of a driver's bundle again until it fails, `repeat` times at most.
static tapml_status check_driver(struct replaying *replaying,
                                 struct replay_device_result *out_result)
{
    struct driver_result result = {.outcome = DRIVER_PASSED};

    driver_listing_begin(replaying->place->backend, replaying->seed);
    for (int64_t i = 0; i < replaying->repeat && result.outcome != DRIVER_FAILED; i++) {
        TAPML_TRY(interrupt_check());
        TAPML_TRY(driver_check_run(driver_check_backend(replaying->place),
                                   registry_catalogue(replaying->setup.registry), replaying->check,
                                   replaying->seed, &result));
    }
    driver_listing_check(replaying->check, &result);
    out_result->bad = result.outcome == DRIVER_FAILED;
    out_result->passed = result.outcome == DRIVER_PASSED;
    out_result->others = 1 - out_result->bad - out_result->passed;
    TAPML_TRY(print_recorded(replaying));
    if (!replaying->is_described) {
        bundles_describe(replaying->store, NULL);
        replaying->is_described = 1;
    }
    return TAPML_OK;
}

static tapml_status replay_driver(struct replaying *replaying)
{
    TAPML_TRY(refuse_cases(replaying->options, replaying->path));
    TAPML_TRY(options_i64(replaying->options, "--repeat", 1, 1, REPEAT_MAX, &replaying->repeat));
    TAPML_TRY(driver_bundle_read(replaying->store, &replaying->check, &replaying->seed));
    replaying->replay_here = check_driver;
    return replay_where(replaying);
}

// A file, or what has an id in the search path.
static tapml_status find_store(struct replaying *replaying, const char *word)
{
    struct bundle_search search = {.arena = replaying->arena};

    replaying->path = word;
    if (file_exists(word) || !bundle_search_is_id(word)) {
        return TAPML_OK;
    }
    const tapml_status status = bundle_search_find(&search, word, &replaying->path);

    bundle_search_release(&search);
    return status;
}

// Where one device is named, there is nothing to choose.
static tapml_status check_conditions(const struct replaying *replaying)
{
    static const char *const others[] = {"--backend", "--target"};
    const struct bundle_condition *first = replaying->conditions;

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        if (replaying->condition_count > 0 && options_get(replaying->options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s%s=%s chooses among devices, and %s names one",
                               first->key, first->is_least ? ">" : "", first->value, others[i]);
        }
    }
    return TAPML_OK;
}

// The first word is the store, all others are conditions.
static tapml_status read_words(struct replaying *replaying)
{
    const struct options *options = replaying->options;

    for (size_t i = 1; i < options->plain_count; i++) {
        if (!bundle_tags_is_condition(options->plain[i])) {
            return status_fail(TAPML_INVALID,
                               "one store expected, and TAG=GLOB behind it, found "
                               "'%.200s'",
                               options->plain[i]);
        }
        TAPML_TRY(bundle_tags_read_condition(options->plain[i],
                                             &replaying->conditions[replaying->condition_count]));
        if (!bundle_tags_is_of_place(replaying->conditions[replaying->condition_count++].key)) {
            return status_fail(TAPML_INVALID,
                               "'%.200s': expected a tag of devices, such as "
                               "'component', 'device_name' or 'driver'",
                               options->plain[i]);
        }
    }
    TAPML_TRY(check_conditions(replaying));
    return options->plain_count > 0 ? find_store(replaying, options->plain[0])
                                    : status_fail(TAPML_INVALID, "one store expected, 0 given");
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
    const char *path = replaying->path;
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

    if (replaying->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(read_words(replaying));
    if (config != NULL) {
        TAPML_TRY(run_file_load(config, &replaying->config));
    }
    TAPML_TRY(shard_take(options, &replaying->shard));
    return replaying->shard.count > 0 ? check_shard(options)
                                      : store_open(replaying->path, 0, &replaying->store);
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
    place_destroy(replaying->place);
    comparers_destroy(replaying->comparers);
    shard_cases_release(&replaying->shard_cases);
    setup_close(&replaying->setup);
    checkpoint_close(replaying->checkpoint);
    store_close(replaying->store);
    run_lock_release(replaying->lock);
    run_config_release(&replaying->config);
    arena_destroy(replaying->arena);
}

// What the program ends with. A bisection goes on where a commit does not build a backend that runs
// the case, and ends where somebody interrupts it.
static enum outcome conclude(const struct replaying *replaying, enum outcome outcome)
{
    const int is_bisecting = options_get(replaying->options, "--bisect") != NULL;
    const int is_known = outcome == OUTCOME_OK &&
                         (replaying->bad > 0 || (replaying->passed > 0 && replaying->failed == 0));

    if (is_bisecting && !is_known && outcome != OUTCOME_INTERRUPTED) {
        return OUTCOME_UNKNOWN;
    }
    // A shard has done its part, whatever came of it: engines take another code for its failure.
    const int is_wrong = replaying->bad > 0 && replaying->shard.count == 0;

    return outcome != OUTCOME_OK   ? outcome
           : is_wrong              ? OUTCOME_WRONG
           : replaying->failed > 0 ? OUTCOME_ENVIRONMENT
                                   : OUTCOME_OK;
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
        replaying.arena = arena_create();
        status = run(command, &replaying);
    }
    const enum outcome outcome = conclude(&replaying, outcome_report(status));

    if (replaying.lock != NULL) {
        run_lock_end(replaying.lock, (int)outcome, status == TAPML_OK ? "" : status_message());
    }

    replaying_release(&replaying);
    return outcome;
}
