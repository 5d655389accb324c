// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/opened_run.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/survey.h"
#include "link/client.h"
#include "model/checkpoint.h"
#include "report/forecasting.h"
#include "report/report_files.h"
#include "run/carved_copy.h"
#include "run/carving.h"
#include "run/observers.h"
#include "run/outcome.h"
#include "run/place_usage.h"
#include "run/progress.h"
#include "run/prompt_inputs.h"
#include "run/ring_check.h"
#include "run/run_lock.h"
#include "run/run_metadata.h"
#include "run/shared_carving.h"
#include "run/source_check.h"
#include "run/source_shares.h"
#include "run/state_loss.h"
#include "run/store_source.h"
#include "run/target_jobs.h"
#include "run/target_metadata.h"
#include "store/page_cache.h"
#include "store/prompt.h"
#include "store/run_id.h"
#include "store/salvage.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"
#include "verify/comparers.h"
#include "verify/fault.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// -- Opening -----------------------------------------------------------------------------------

// What the environment lacks loses one target; what is wrong in the file ends the run. A run of
// several logs it now.
static tapml_status
note_loss(const struct opened_run *run, struct place *target, tapml_status status)
{
    if (outcome_of(status) != OUTCOME_ENVIRONMENT) {
        return status_explain(status, "target '%s'", target->settings.name);
    }
    TAPML_TRY(place_lose(target, status_message()));
    if (run->config.target_count > 1) {
        log_line(LOG_ERROR, "target '%s' is given up: %s", target->settings.name, target->lost);
    }
    return TAPML_OK;
}

// A run that has targets needs one of them.
static tapml_status check_presence(const struct opened_run *run)
{
    const size_t count = run->config.target_count;

    for (size_t i = 0; i < count; i++) {
        if (run->targets[i]->lost == NULL) {
            return TAPML_OK;
        }
    }
    return count == 0 ? TAPML_OK
           : count == 1
               ? status_fail(TAPML_UNAVAILABLE, "target '%s' cannot be opened: %s",
                             run->targets[0]->settings.name, run->targets[0]->lost)
               : status_fail(TAPML_UNAVAILABLE, "none of the %zu targets can be opened", count);
}

struct target_pool opened_run_pool(struct opened_run *run, size_t index)
{
    return (struct target_pool){.setup = &run->setup,
                                .config = &run->config,
                                .index = index,
                                .target = run->targets[index],
                                .io_member = &run->members[index]};
}

// Opens a target with its injected faults, and logs these, so that they are not taken for the
// target's own.
static tapml_status open_target(struct opened_run *run, size_t index)
{
    struct place *target = run->targets[index];
    const struct place_settings *settings = &target->settings;
    int is_replaced = 0;

    for (size_t i = 0; i < settings->fault_count; i++) {
        struct text line;

        text_init(&line);
        fault_rule_print(&settings->faults[i], &line);
        log_line(LOG_WARNING, "injected on '%s': %s", settings->name, line.data);
        text_release(&line);
    }
    const struct target_pool pool = opened_run_pool(run, index);
    const tapml_status status = target_pool_open(&pool);

    if (outcome_of(status) == OUTCOME_ENVIRONMENT) {
        TAPML_TRY(target_pool_replace(&pool, &is_replaced));
    }
    return status == TAPML_OK || is_replaced ? TAPML_OK : note_loss(run, target, status);
}

// An injected fault that was never triggered says nothing about the tool.
void opened_run_log_faults(const struct place *target)
{
    const struct place_settings *settings = &target->settings;
    struct backend *worker = target->links[PLACE_WORKER];

    for (size_t i = 0; i < settings->fault_count; i++) {
        if (fault_rule_needs_worker(&settings->faults[i])) {
            log_line(LOG_WARNING, "[%s] ends or stops the worker of '%s', which cannot count that",
                     settings->faults[i].name, settings->name);
            continue;
        }
        log_line(LOG_WARNING, "[%s] has corrupted %" PRIu64 " calls on '%s'",
                 settings->faults[i].name,
                 worker != NULL ? client_count(worker, (uint32_t)i)
                                : fault_triggered(fault_of(target->links[PLACE_FAULTS]), i),
                 settings->name);
    }
}

// What the model shows of rules and faults, before anything is run.
static tapml_status match(const struct opened_run *run)
{
    struct problems problems;

    problems_init(&problems);
    run_config_match(&run->config, model_graph(run->setup.model), &problems);
    const tapml_status status = problems_status(&problems, "--check-config");

    problems_release(&problems);
    return status;
}

static tapml_status check_backend(const struct setup *setup, const struct place *place)
{
    struct text observers;

    TAPML_TRY(survey_check(setup->program, setup->registry, &place->settings.isolation,
                           place->settings.backend));
    text_init(&observers);
    const tapml_status status =
        observers_print(setup->registry, place->settings.observers, 0, &observers);

    text_release(&observers);
    return status;
}

// Adds the source, and checks that its backend can be used.
static tapml_status add_source(struct opened_run *run)
{
    const struct run_config *config = &run->config;

    if (config->store != NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(setup_add_place(&run->setup, &config->source, &run->source));
    return check_backend(&run->setup, run->source);
}

static tapml_status add_places(struct opened_run *run)
{
    const struct run_config *config = &run->config;

    TAPML_TRY(add_source(run));
    for (size_t i = 0; i < config->target_count; i++) {
        TAPML_TRY(target_pool_check(config, i));
        TAPML_TRY(setup_add_place(&run->setup, &config->targets[i], &run->targets[i]));
        const tapml_status status = check_backend(&run->setup, run->targets[i]);

        TAPML_TRY(status == TAPML_OK ? TAPML_OK : note_loss(run, run->targets[i], status));
    }
    return check_presence(run);
}

static tapml_status open_source(struct opened_run *run)
{
    const tapml_status status =
        run->source != NULL ? setup_open_place(&run->setup, run->source) : TAPML_OK;

    return status == TAPML_OK ? TAPML_OK : status_explain(status, "the source cannot be opened");
}

static tapml_status open_places(struct opened_run *run)
{
    TAPML_TRY(open_source(run));
    for (size_t i = 0; i < run->config.target_count; i++) {
        TAPML_TRY(run->targets[i]->lost == NULL ? open_target(run, i) : TAPML_OK);
    }
    return check_presence(run);
}

// Numbers of the prompts that the store does not have: "2, 5-7".
static void print_missing(const struct opened_run *run, struct text *out)
{
    const struct prompts *prompts = &run->prompts;

    for (size_t i = 0; i < prompts->count; i++) {
        size_t end = i;

        while (end < prompts->count && !prompt_is_carved(run->store, prompts->items[end].id)) {
            end++;
        }
        if (end > i) {
            text_format(out, "%s%zu", out->length > 0 ? ", " : "", i + 1);
            if (end > i + 1) {
                text_format(out, "-%zu", end);
            }
            i = end;
        }
    }
}

size_t opened_run_missing(const struct opened_run *run)
{
    size_t count = 0;

    for (size_t i = 0; i < run->prompts.count; i++) {
        const struct prompt *prompt = &run->prompts.items[i];

        count += !prompt->is_repeated && !prompt_is_carved(run->store, prompt->id);
    }
    return count;
}

static tapml_status keep_pages(const struct opened_run *run)
{
    enum { MIB = 20 };

    return page_cache_keep(run->store, (uint64_t)run->config.cache_mib << MIB);
}

// Opens the store of the run; a damaged one gives what is whole to another one first.
static tapml_status open_store(struct opened_run *run, const char *path)
{
    static const char *const metadata[] = {"model.hash", "prompts.hash", "decode", "capacity",
                                           "chunk",      "keep",         "source", NULL};
    static const char *const of_cases[] = {RUN_METADATA_STORE, NULL};
    struct text published, missing;

    text_init(&published);
    text_init(&missing);
    tapml_status status =
        salvage_run(path, run->config.store != NULL ? of_cases : metadata, &published);

    if (status == TAPML_OK) {
        status = store_open(path, 1, &run->store);
    }
    if (status == TAPML_OK) {
        status = keep_pages(run);
    }
    if (status == TAPML_OK && published.length > 0) {
        print_missing(run, &missing);
        log_line(LOG_WARNING, "%s", published.data);
        log_line(LOG_WARNING, "carving again or for the first time: %s",
                 missing.length > 0 ? missing.data : "no prompt");
    }
    text_release(&published);
    text_release(&missing);
    return status;
}

// What encoding the weights cost, in a line; the report has each of them.
static void report_losses(const struct opened_run *run, struct progress *progress)
{
    const struct encode_account *account = model_losses(run->setup.model);
    const struct encode_loss *worst = account->losses;

    for (uint32_t i = 1; i < account->loss_count; i++) {
        worst = account->losses[i].relative > worst->relative ? &account->losses[i] : worst;
    }
    if (account->loss_count > 0) {
        progress_end(progress,
                     "%" PRIu32 " weights as %s, %" PRIu32
                     " as stored; '%s' lost most, %.3g of its values",
                     account->loss_count, run->config.weights, account->plain_count, worst->name,
                     worst->relative);
    }
}

// What the prompts have beside their ids. Without a source it is checked.
static tapml_status read_inputs(struct opened_run *run, struct place *source)
{
    const struct model_options model = run_config_model(&run->config);
    const struct prompt_inputs_options options = {.registry = run->setup.registry,
                                                  .model = run->setup.model,
                                                  .opening = &model,
                                                  .source = source,
                                                  .path = run->config.prompts,
                                                  .length_max = run_config_room(&run->config)};

    return prompt_inputs_read(&options, &run->prompts);
}

static tapml_status open_model(struct opened_run *run)
{
    const struct run_config *config = &run->config;
    struct progress progress;

    TAPML_TRY(setup_find_model(&run->setup, config->model, &run->config.model));
    TAPML_TRY(run_config_find_encoding(&run->config));
    const struct model_options model = run_config_model(config);

    progress_begin(&progress, "load", 0);
    TAPML_TRY(setup_model(&run->setup, &model));
    report_losses(run, &progress);
    TAPML_TRY(match(run));
    TAPML_TRY(setup_check_decode(&run->setup, config->decode));
    const tapml_status status =
        prompts_load(config->prompts,
                     &(struct prompts_options){.tokenizer = run->setup.tokenizer,
                                               .no_text = run->setup.no_text,
                                               .folder = config->model,
                                               .vocabulary = setup_vocabulary(&run->setup),
                                               .length_max = run_config_room(config)},
                     &run->prompts);

    if (status != TAPML_OK) {
        return status_explain(status, "%s: [run] prompts", config->path);
    }
    TAPML_TRY(read_inputs(run, NULL));
    setup_warn_no_text(&run->setup); // All prompts are of ids.
    return TAPML_OK;
}

// A file that is no store is refused before anything is made.
static tapml_status try_source_store(const struct opened_run *run)
{
    struct store *other = NULL;

    TAPML_TRY(store_open_to_read(run->config.store, &other));
    store_close(other);
    return TAPML_OK;
}

// What plugins have beside backends.
static tapml_status open_helpers(struct opened_run *run)
{
    TAPML_TRY(comparers_create(run->setup.registry, run->config.comparers, &run->comparers));
    return policies_open(run->setup.registry, &run->config, &run->policies);
}

tapml_status
opened_run_be_shard(struct opened_run *run, const struct case_shard *shard, const char *into)
{
    struct run_config *config = &run->config;
    struct arena *arena = run->setup.arena;

    run->shard = *shard;
    run->is_of_others = config->store != NULL;
    if (!run->is_of_others) {
        config->store = arena_format(arena, "%s/run.tapmlrun", config->dir);
        if (config->store != NULL && !file_exists(config->store)) {
            return status_fail(TAPML_PRECONDITION,
                               "'%s' has no run yet, so there are no cases to share: carve them "
                               "with `tapml-host --config %s --carve`",
                               config->dir, config->path);
        }
    }
    config->dir = shard_cases_folder(shard, into != NULL ? into : config->dir, arena);
    return config->store != NULL && config->dir != NULL ? TAPML_OK : status_no_memory();
}

tapml_status opened_run_open(struct opened_run *run, const char *json, const char *junit)
{
    const struct run_config *config = &run->config;
    struct text path;

    TAPML_TRY(config->store != NULL ? try_source_store(run) : open_model(run));
    TAPML_TRY(add_places(run)); // Before the folder is made: a refusal leaves nothing behind.
    TAPML_TRY(open_helpers(run));
    TAPML_TRY(file_make_folder(config->dir));
    TAPML_TRY(run_lock_take(config->dir, &run->lock)); // Before the devices are.
    file_remove_all(config->dir, "plan-*.part");       // What a killed host was writing.
    file_remove_all(config->dir, "FAULT-*.part*");
    file_remove_all(config->dir, "attached.tapmlrun*");
    file_remove_all(config->dir, "report.html.*.part");

    // They may be in the run's folder.
    TAPML_TRY(report_files_try(json, junit));
    TAPML_TRY(open_places(run));
    if (config->store == NULL) {
        TAPML_TRY(read_inputs(run, run->source));
    }
    text_init(&path);
    text_format(&path, "%s/run.tapmlrun", config->dir);
    tapml_status status = text_status(&path);

    if (status == TAPML_OK) {
        status = open_store(run, path.data);
    }
    text_release(&path);
    return status;
}

static tapml_status join_places(struct opened_run *run, size_t index)
{
    struct place **target = &run->targets[index];

    TAPML_TRY(add_source(run));
    TAPML_TRY(setup_add_place(&run->setup, &run->config.targets[index], target));
    TAPML_TRY(check_backend(&run->setup, *target));
    TAPML_TRY(open_helpers(run));
    TAPML_TRY(open_source(run));
    const struct target_pool pool = opened_run_pool(run, index);

    return target_pool_open(&pool);
}

tapml_status opened_run_join(struct opened_run *run, size_t index)
{
    ASSERT(index < run->config.target_count);
    char *path = file_join(run->config.dir, "run.tapmlrun");
    tapml_status status = path != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK && run->config.store == NULL) {
        status = open_model(run);
    }
    status = status == TAPML_OK ? join_places(run, index) : status;
    if (status == TAPML_OK && run->config.store == NULL) {
        status = read_inputs(run, run->source);
        run->checkpoint = model_checkpoint(run->setup.model);
    }
    status = status == TAPML_OK ? store_open(path, 0, &run->store) : status;
    alloc_free(path);
    return status == TAPML_OK ? keep_pages(run) : status;
}

tapml_status opened_run_join_member(struct opened_run *run, size_t index, size_t member)
{
    struct place_settings *target = &run->config.targets[index];

    *target = device_pool_member(run_config_pool(&run->config, index), target, member);
    return opened_run_join(run, index);
}

tapml_status opened_run_name_kind(struct opened_run *run, size_t index)
{
    const struct run_judge_options options = opened_run_made_of(run);

    return target_metadata_settle_cases(&options, run->targets[index]);
}

// The others go on.
tapml_status opened_run_give_up(struct opened_run *run, const struct place *target)
{
    run->is_incomplete = 1;
    return target_give_up(run->store, target->settings.name, target->lost);
}

// A target whose device went away is reported in a sentence.
tapml_status opened_run_lose(struct opened_run *run, struct place *target)
{
    TAPML_TRY(place_lose(target, status_message()));
    if (run->source != NULL) {
        TAPML_TRY(backend_wait(run->source->backend)); // It must be there.
    }
    log_line(LOG_ERROR, "target '%s' is given up: %s", target->settings.name, target->lost);
    return opened_run_give_up(run, target);
}

// Crashes of the worker of a place, if it has one.
uint32_t opened_run_crashes(const struct place *place)
{
    struct backend *worker = place->links[PLACE_WORKER];

    return worker != NULL ? client_crash_count(worker) : 0;
}

// Whether a run of a target failed because its worker could not be kept alive: that costs no other
// target anything.
int opened_run_is_loss(const struct place *target, uint32_t crashes_before, tapml_status status)
{
    return status == TAPML_DEVICE_LOST || ((status == TAPML_INTERNAL || status == TAPML_DEADLINE) &&
                                           opened_run_crashes(target) > crashes_before);
}

tapml_status opened_run_settle(struct opened_run *run)
{
    return run->config.store != NULL
               ? TAPML_OK
               : run_metadata_settle(run->store, &run->config, &run->setup, &run->prompts);
}

tapml_status opened_run_check_source(struct opened_run *run)
{
    if (run->config.store != NULL || run->is_checked) {
        return TAPML_OK;
    }
    char key[HASH_TEXT];

    TAPML_TRY(opened_run_settle(run));
    TAPML_TRY(carved_copy_settle_key(run->store, &run->config, key)); // For those that ask for it.
    TAPML_TRY(ring_check_run(&run->config, &run->setup, run->targets, run->config.target_count));
    TAPML_TRY(source_check_run(run->store, &run->setup));
    TAPML_TRY(state_loss_run(&run->config, &run->setup, run->store, &run->prompts));
    run->is_checked = 1;
    return TAPML_OK;
}

tapml_status opened_run_be_source(struct opened_run *run, uint32_t index)
{
    struct run_config *config = &run->config;

    run->carving.index = index;
    run->carving.count = (uint32_t)config->source_workers;
    config->target_count = 0;
    config->dir = source_shares_folder(config->dir, index, run->carving.count, run->setup.arena);
    return config->dir != NULL ? TAPML_OK : status_no_memory();
}

tapml_status opened_run_carve_share(struct opened_run *run)
{
    uint32_t *shares = NULL;

    TAPML_TRY(opened_run_settle(run));
    TAPML_TRY(source_shares_split(&run->prompts, run->config.decode, run->carving.count,
                                  run->setup.arena, &shares));
    run->carving.of = shares;
    return carving_run_share(&run->config, &run->setup, run->store, &run->prompts, &run->carving);
}

// What processes of the source have carved, in this start or in one before.
static tapml_status take_shares(struct opened_run *run)
{
    struct source_shares_counts counts;

    TAPML_TRY(source_shares_take(run->config.dir, run->store, run->config.keep_all, &counts));
    if (counts.calls > 0) {
        log_say("carved side by side: %" PRId64 " prompts, %" PRId64 " calls, %" PRId64
                " of %" PRId64 " cases kept",
                counts.prompts, counts.calls, counts.cases, counts.candidates);
    }
    return TAPML_OK;
}

static tapml_status carve(struct opened_run *run)
{
    TAPML_TRY(opened_run_check_source(run));
    TAPML_TRY(take_shares(run));
    TAPML_TRY(
        run->config.shared != NULL
            ? shared_carving_run(&run->config, &run->setup, run->store, &run->prompts, run->lock)
            : carving_run(&run->config, &run->setup, run->store, &run->prompts, run->lock));
    run->checkpoint = model_checkpoint(run->setup.model);
    return forecasting_run(&run->config, &run->setup, run->store, &run->prompts);
}

tapml_status opened_run_take(struct opened_run *run)
{
    if (run->config.store == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(store_source_weights(run->store, &run->config, &run->setup, &run->weights));
    run->checkpoint = run->weights;
    return store_source_check(run->store, &run->setup, run->checkpoint, run->lock, &run->refuted);
}

// In the place of carving, where it was done elsewhere.
static tapml_status take_cases(struct opened_run *run)
{
    struct progress progress;
    struct merge_counts counts;

    progress_begin(&progress, "take cases", 0);
    progress.lock = run->lock;
    TAPML_TRY(progress_show(&progress, 0, 0));
    TAPML_TRY(store_source_settle(run->store, &run->config, &run->setup, &counts));
    progress_end(&progress, "%" PRId64 " new cases of %" PRId64 " new calls, from '%s'",
                 counts.cases, counts.calls, run->config.store);
    return opened_run_take(run);
}

// The same of a shard: its part of the cases. What the run is, the store of all cases knows.
static tapml_status take_share(struct opened_run *run)
{
    struct run_config *config = &run->config;
    char sentence[SHARD_CASES_TEXT];

    TAPML_TRY(shard_cases_take(&run->shard, config->store, run_config_choice(config), run->store,
                               &run->shard_cases));
    TAPML_TRY(run->is_of_others ? run_metadata_settle_cases(run->store, config, &run->setup)
                                : run_metadata_settle_targets(run->store, config));
    TAPML_TRY(store_source_weights(run->store, config, &run->setup, &run->weights));
    run->checkpoint = run->weights;
    shard_cases_print(&run->shard_cases, sentence);
    log_say("%s", sentence);
    return run->is_of_others ? store_source_check(run->store, &run->setup, run->checkpoint,
                                                  run->lock, &run->refuted)
                             : TAPML_OK;
}

void opened_run_release(struct opened_run *run)
{
    shard_cases_release(&run->shard_cases);
    run_judge_close(&run->judge);
    prompts_release(&run->prompts);
    verdict_list_release(&run->refuted);
    policies_release(&run->policies);
    comparers_destroy(run->comparers);
    store_close(run->store);
    run_lock_release(run->lock);
    setup_close(&run->setup);
    checkpoint_close(run->weights);
    run_config_release(&run->config);
}

tapml_status opened_run_fill(struct opened_run *run)
{
    return run->shard.count > 0        ? take_share(run)
           : run->config.store != NULL ? take_cases(run)
                                       : carve(run);
}

tapml_status opened_run_note_source(struct opened_run *run)
{
    struct place_usage usage;

    if (run->source == NULL || !run_id_is_made(run->store)) {
        return TAPML_OK;
    }
    place_usage_begin(&usage, run->store, run->source, &run->config, 0);
    return place_usage_note(&usage);
}

struct run_judge_options opened_run_made_of(struct opened_run *run)
{
    return (struct run_judge_options){.setup = &run->setup,
                                      .config = &run->config,
                                      .store = run->store,
                                      .prompts = &run->prompts,
                                      .checkpoint = run->checkpoint,
                                      .refuted = &run->refuted,
                                      .comparers = run->comparers,
                                      .policy = run->policies.of[POLICY_ORDER],
                                      .lock = run->lock};
}

tapml_status opened_run_judge(struct opened_run *run)
{
    if (run->config.target_count == 0) {
        return TAPML_OK;
    }
    const struct run_judge_options options = opened_run_made_of(run);

    return run_judge_open(&options, &run->judge);
}
