// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/target_jobs.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"
#include "base/timeline.h"
#include "config/run_config.h"
#include "offload/alone.h"
#include "offload/loop.h"
#include "offload/watch.h"
#include "run/bundles.h"
#include "run/driver_checks.h"
#include "run/follow_up.h"
#include "run/interrupt.h"
#include "run/invariances.h"
#include "run/measuring.h"
#include "run/model_invariance.h"
#include "run/place_usage.h"
#include "run/plan_file.h"
#include "run/setup.h"
#include "run/target_health.h"
#include "run/target_metadata.h"
#include "run/target_progress.h"
#include "store/carved.h"
#include "store/offloaded.h"
#include "store/result.h"
#include "store/store.h"
#include "verify/first_limits.h"
#include "verify/guard.h"
#include "verify/neighbours.h"
#include "verify/verdicts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct target_jobs {
    const struct run_judge_options *run; // What all targets share.
    struct run_judge *judge;
    const char *name;
    struct place *place;   // For cases: replays have a guard of their own.
    struct place *running; // For runs of the model: the same, or around it under a guard.
    struct place *guarded; // The latter. Own; or NULL.
    struct store *whole;   // Of a shard: that of all cases; or NULL.
    const struct handed_cases *handed; // As of the options,
    int is_member;                     // likewise.
    struct verdict_list verdicts;
    struct verdict_list known; // On derived cases, of earlier starts.
    struct watch *watch;
    struct session *session;
    struct target_progress telling;
    struct place_usage usage;
    struct text arguments; // Of commands that replay bundles (run/follow_up.h).
    unsigned *io_bundles;  // As of the options.
    struct target_health *health;
    tapml_status (*is_whole)(void *user, int *out_is_whole); // Of target_jobs_follow.
    void *is_whole_user;
    int has_stepped; // What was found with the whole model is of this start.
};

// Which case is the first of its class does not depend on who has it.
static tapml_status settle_limits(struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;

    target_progress_begin(&target->telling, "calibrate for", "classes");
    return first_limits_settle(&(struct verdict_options){.registry = run->setup->registry,
                                                         .store = run->store,
                                                         .target = target->name,
                                                         .backend = target->place->backend,
                                                         .checkpoint = run->checkpoint,
                                                         .progress = target_progress_limits,
                                                         .user = &target->telling},
                               target->whole);
}

static tapml_status known_read(struct target_jobs *target)
{
    target->known.arena = arena_create();
    return target->known.arena != NULL
               ? neighbours_read(target->run->store, target->name, &target->known)
               : status_no_memory();
}

enum { NOT_RUN_TEXT = 64 };

static const char *print_not_run(const struct target_jobs *target, char out_text[NOT_RUN_TEXT])
{
    out_text[0] = '\0';
    if (target->verdicts.not_run > 0) {
        (void)snprintf(out_text, NOT_RUN_TEXT, "; %zu cases are not run", target->verdicts.not_run);
    }
    return out_text;
}

// What all replays of a target have in common.
static struct verdict_options options_of(const struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;
    const struct place_settings *settings = &target->place->settings;

    return (struct verdict_options){.registry = run->setup->registry,
                                    .store = run->store,
                                    .target = target->name,
                                    .backend = target->place->backend,
                                    .faults = settings->faults,
                                    .fault_count = settings->fault_count,
                                    .checkpoint = run->checkpoint,
                                    .comparers = run->comparers,
                                    .refuted = run->refuted,
                                    .ahead = (size_t)run->config->ahead,
                                    .progress = target_progress_cases};
}

static int has_replayed(const struct target_jobs *target)
{
    return target->verdicts.replayed > 0 || target->verdicts.derived_replayed > 0;
}

// Whether derived cases are those that the store has, in its order: members of a pool add theirs as
// these come.
static int are_as_known(const struct target_jobs *target)
{
    const struct verdict_list *known = &target->known, *made = &target->verdicts;

    for (size_t i = 0; i < known->derived_count && i < made->derived_count; i++) {
        if (known->derived[i].case_id != made->derived[i].case_id ||
            strcmp(known->derived[i].label, made->derived[i].label) != 0) {
            return 0;
        }
    }
    return known->derived_count == made->derived_count;
}

static tapml_status replay(struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;
    struct verdict_options options = options_of(target);
    char not_run[NOT_RUN_TEXT];

    options.derived = target->whole == NULL;
    options.divides = 1;
    options.known = &target->known;
    options.choice = target->whole == NULL ? run_config_choice(run->config) : NULL;
    options.outlook = &target->telling.outlook;
    options.derived_progress = target_progress_derived;
    options.user = &target->telling;

    TAPML_TRY(target->whole != NULL ? settle_limits(target) : TAPML_OK);
    target_progress_begin(&target->telling, "replay on", "cases");
    const uint64_t begin_ns = target->telling.progress.begin_ns;

    TAPML_TRY(result_count(run->store, target->name, &target->telling.progress.skipped));
    TAPML_TRY(known_read(target));
    TAPML_TRY(place_usage_begin_cases(&target->usage, &target->verdicts));
    TAPML_TRY(verdicts_make(&options, &target->verdicts));
    if (!options.derived) { // Writing the last results is a part of replaying, too.
        TAPML_TRY(place_usage_end_cases(&target->usage));
    }
    TAPML_TRY(has_replayed(target) ? place_usage_note(&target->usage) : TAPML_OK);
    (void)snprintf(target->telling.phase, sizeof(target->telling.phase), "replay on %s",
                   target->name);
    target->telling.progress.begin_ns = begin_ns;
    if (target->whole != NULL) {
        progress_end(&target->telling.progress, "%zu cases, %zu of them now, %zu wrong",
                     target->verdicts.count, target->verdicts.replayed,
                     verdict_count_failed(target->verdicts.items, target->verdicts.count));
        return TAPML_OK;
    }
    progress_end(&target->telling.progress,
                 "%zu cases and %zu derived ones, %zu and %zu of them now%s",
                 target->verdicts.count, target->verdicts.derived_count, target->verdicts.replayed,
                 target->verdicts.derived_replayed, print_not_run(target, not_run));
    return target->verdicts.derived_replayed > 0 || !are_as_known(target)
               ? neighbours_write(run->store, target->name, &target->verdicts)
               : TAPML_OK;
}

static tapml_status judge_invariances(const struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;
    const struct verdict_options verdicts = options_of(target);

    return invariances_judge(&(struct invariances_options){.setup = run->setup,
                                                           .target = target->place,
                                                           .verdicts = &verdicts,
                                                           .list = &target->verdicts,
                                                           .settings = run->config->invariance,
                                                           .lock = run->lock});
}

static tapml_status judge_model_invariance(const struct target_jobs *target, struct arena *arena)
{
    const struct run_judge_options *run = target->run;
    struct offloaded_row row;

    if (run->setup->model == NULL || run->config->invariance.axes == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(offloaded_find(run->store, target->name, arena, &row));
    return model_invariance_judge(
        &(struct model_invariance_options){.judge = target->judge,
                                           .target = target->place,
                                           .plan = row.plan,
                                           .settings = run->config->invariance});
}

// Reports a target that runs nothing before anything moves: its numbers have no fault.
static void warn_refusals(const struct target_jobs *target)
{
    const struct verdict_list *verdicts = &target->verdicts;
    size_t refused = 0;

    while (refused < verdicts->count && verdicts->items[refused].kind == VERDICT_UNSUPPORTED) {
        refused++;
    }
    if (refused > 0 && refused == verdicts->count) {
        log_line(LOG_WARNING,
                 "target '%s' refuses all %zu cases, so nothing can be moved to it; the first: %s "
                 "(%s)",
                 target->name, refused, verdicts->items[0].instance, verdicts->items[0].reason);
    }
}

// Runs of the model go through a guard where the target asks for it, weights too.
static tapml_status guard_runs(struct target_jobs *target)
{
    const struct place_settings *settings = &target->place->settings;
    struct guard *guard = NULL;
    const struct place_link link = guard_link(&guard);

    if (settings->is_guarded) {
        TAPML_TRY(place_wrap(target->place, settings, &link, 1, &target->guarded));
        target->running = target->guarded;
    }
    return TAPML_OK;
}

static tapml_status poll(void *user)
{
    (void)user;
    return interrupt_check();
}

static tapml_status watch(struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;

    return watch_create(&(struct watch_options){.registry = run->setup->registry,
                                                .store = run->store,
                                                .model = run->setup->model,
                                                .capacity = run->config->capacity,
                                                .chunk = run->config->chunk,
                                                .source = run->setup->places[0],
                                                .target = target->place,
                                                .running = target->running,
                                                .prompts = target->judge->prompts,
                                                .poll = poll},
                        &target->watch);
}

static tapml_status run_offload(struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;
    struct plan *goal = NULL;
    struct loop_counts counts = {0};

    TAPML_TRY(run_config_goal(run->config, target->name, &goal));
    tapml_status status = run_judge_session(target->judge, target->running, goal, &target->session);

    target_progress_begin(&target->telling, "offload to", "prompts checked");
    if (status == TAPML_OK) {
        status =
            loop_run(&(struct loop_options){.graph = model_graph(run->setup->model),
                                            .store = run->store,
                                            .session = target->session,
                                            .judge = target->judge->judge,
                                            .target = target->name,
                                            .goal = goal,
                                            .verdicts = &target->verdicts,
                                            .move_prompts = (size_t)run->config->offload_prompts,
                                            .all_prompts = run->prompts->count,
                                            .calibrations = target->judge->executions,
                                            .watch = target->watch,
                                            .mode = run->config->mode,
                                            .policy = run->policy,
                                            .progress = target_progress_step,
                                            .check = target_progress_judged,
                                            .user = &target->telling},
                     &counts);
    }
    status = status == TAPML_OK
                 ? target_metadata_note_ring(run->store, target->session, target->name)
                 : status;
    plan_destroy(goal);
    TAPML_TRY(status);
    target->judge->executions = 0; // Those of the run are reported with its first target.
    target->telling.progress.phase = "offload";
    progress_end(&target->telling.progress, "%zu of %zu instances moved to %s", counts.moved,
                 counts.wanted, target->name);
    return TAPML_OK;
}

static tapml_status write_plan(const struct target_jobs *target, const char *plan)
{
    return plan_file_write(target->judge, &target->place->settings, plan);
}

static tapml_status write_bundles(const struct target_jobs *target, int is_finished)
{
    const struct run_judge_options *run = target->run;
    const struct place_settings *settings = &target->place->settings;
    const int needs_config = follow_up_needs_config(&run->config->ini, settings);

    if (target->io_bundles == NULL) {
        return TAPML_OK;
    }
    return bundles_write(
        &(struct bundles_options){.registry = run->setup->registry,
                                  .store = run->store,
                                  .checkpoint = run->checkpoint,
                                  .backend = target->place->backend,
                                  .backend_name = settings->backend,
                                  .target = target->name,
                                  .faults = settings->faults,
                                  .fault_count = settings->fault_count,
                                  .dir = run->config->dir,
                                  .config = needs_config ? run->config->path : NULL,
                                  .arguments = target->arguments.data,
                                  .verdicts = &target->verdicts,
                                  .is_finished = is_finished},
        target->io_bundles);
}

// What is left of the offload at this start: all of it, the measuring, or nothing.
static tapml_status
offload_and_measure(struct target_jobs *target, struct arena *arena, int *out_was_finished)
{
    struct store *store = target->run->store;
    struct offloaded_row row;
    tapml_status status = offloaded_find(store, target->name, arena, &row);

    *out_was_finished = status == TAPML_OK && row.finished_s != 0;
    if (status != TAPML_OK && status != TAPML_NOT_FOUND) {
        return status;
    }
    if (!*out_was_finished) {
        TAPML_TRY(guard_runs(target));
    }
    if (status == TAPML_NOT_FOUND) {
        TAPML_TRY(watch(target));
        TAPML_TRY(run_offload(target));
        TAPML_TRY(offloaded_find(store, target->name, arena, &row));
    }
    TAPML_TRY(write_plan(target, row.plan));
    return *out_was_finished ? TAPML_OK : measuring_run(target->judge, target->running, row.plan);
}

static tapml_status settle_alone(struct target_jobs *target)
{
    const struct run_judge_options *run = target->run;
    struct plan *goal = NULL;
    struct alone_counts counts = {0};

    target_progress_begin(&target->telling, "judge cases on", "");
    TAPML_TRY(run_config_goal(run->config, target->name, &goal));
    const tapml_status status = alone_settle(&(struct alone_options){.store = run->store,
                                                                     .target = target->name,
                                                                     .goal = goal,
                                                                     .verdicts = &target->verdicts},
                                             &counts);

    plan_destroy(goal);
    TAPML_TRY(status);
    progress_end(&target->telling.progress, "%zu of %zu instances right, by their cases alone",
                 counts.moved, counts.wanted);
    return TAPML_OK;
}

// The same without a model: what the verdicts say, which is told anew where one of them is new.
static tapml_status
judge_alone(struct target_jobs *target, struct arena *arena, int *out_was_finished)
{
    struct offloaded_row row;
    tapml_status status = offloaded_find(target->run->store, target->name, arena, &row);

    *out_was_finished = status == TAPML_OK && target->verdicts.replayed == 0 &&
                        target->verdicts.derived_replayed == 0;
    if (status != TAPML_OK && status != TAPML_NOT_FOUND) {
        return status;
    }
    if (!*out_was_finished) {
        TAPML_TRY(settle_alone(target));
        TAPML_TRY(offloaded_find(target->run->store, target->name, arena, &row));
    }
    return write_plan(target, row.plan);
}

static tapml_status
check_driver(const struct target_jobs *target, enum driver_checks_moment moment, int *out_is_wrong)
{
    const struct run_judge_options *run = target->run;

    TAPML_TRY(
        driver_checks_make(&(struct driver_checks_options){.store = run->store,
                                                           .registry = run->setup->registry,
                                                           .place = target->place,
                                                           .dir = run->config->dir,
                                                           .config = run->config->path,
                                                           .arguments = target->arguments.data,
                                                           .io_bundles = target->io_bundles},
                           moment, out_is_wrong));
    return *out_is_wrong ? write_plan(target, DRIVER_CHECKS_PLAN) : TAPML_OK;
}

// What fails may fail by its driver. What an earlier start has finished was checked then.
static tapml_status
check_after_failure(const struct target_jobs *target, struct arena *arena, int *out_is_wrong)
{
    const struct verdict_list *list = &target->verdicts;
    const size_t failed = verdict_count_failed(list->items, list->count) +
                          verdict_count_failed(list->derived, list->derived_count);
    struct offloaded_row row;

    *out_is_wrong = 0;
    if (failed == 0) {
        return TAPML_OK;
    }
    const tapml_status status = offloaded_find(target->run->store, target->name, arena, &row);

    return status == TAPML_NOT_FOUND ? check_driver(target, DRIVER_CHECKS_FAILURE, out_is_wrong)
                                     : status;
}

// A start that ended between the measuring and this check has left it to the next one.
static tapml_status
check_at_end(const struct target_jobs *target, int was_finished, int *out_is_wrong)
{
    int is_made = 0;

    if (was_finished) {
        TAPML_TRY(
            driver_checks_find(target->run->store, target->name, DRIVER_CHECKS_END, &is_made));
    }
    *out_is_wrong = 0;
    return is_made ? TAPML_OK : check_driver(target, DRIVER_CHECKS_END, out_is_wrong);
}

// Only a shard fails by that: a run tells it in its report.
static tapml_status refuse_driver(const struct target_jobs *target)
{
    return target->whole == NULL
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE,
                             "the driver of '%s' fails its own check, so the cases of this shard "
                             "say nothing",
                             target->name);
}

static tapml_status judge_ops(struct target_jobs *target, struct arena *arena)
{
    int is_wrong = 0, was_finished = 0;

    TAPML_TRY(replay(target));
    TAPML_TRY(target_health_check(target->health));
    TAPML_TRY(check_after_failure(target, arena, &is_wrong));
    if (is_wrong || target->whole != NULL) {
        return is_wrong ? refuse_driver(target) : TAPML_OK;
    }
    warn_refusals(target);
    TAPML_TRY(judge_invariances(target));
    TAPML_TRY(target->run->setup->model != NULL ? offload_and_measure(target, arena, &was_finished)
                                                : judge_alone(target, arena, &was_finished));
    target->has_stepped = !was_finished;
    TAPML_TRY(judge_model_invariance(target, arena));
    TAPML_TRY(target_health_check(target->health));
    TAPML_TRY(check_at_end(target, was_finished, &is_wrong));
    return is_wrong ? TAPML_OK : write_bundles(target, was_finished);
}

// Ops are judged only over a driver that passes.
static tapml_status run_jobs(struct target_jobs *target)
{
    struct arena *arena = arena_create();
    int is_wrong = 0;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = target_health_check(target->health);

    status = status == TAPML_OK ? check_driver(target, DRIVER_CHECKS_BEGIN, &is_wrong) : status;

    if (status == TAPML_OK) {
        status = is_wrong ? refuse_driver(target) : judge_ops(target, arena);
    }
    arena_destroy(arena);
    return status;
}

static struct target_jobs jobs_of(const struct target_jobs_options *options)
{
    ASSERT(options->target->backend);
    return (struct target_jobs){.run = &options->judge->from,
                                .judge = options->judge,
                                .name = options->target->settings.name,
                                .place = options->target,
                                .running = options->target,
                                .whole = options->whole,
                                .handed = options->handed,
                                .is_member = options->is_member,
                                .io_bundles = options->io_bundles};
}

// Replays what is there and has no result, or these cases of it alone.
static tapml_status look_ahead(struct target_jobs *target, const int64_t *ids, size_t count)
{
    struct verdict_options options = options_of(target);
    struct verdict_list list;

    options.ids = ids;
    options.id_count = count;
    target_progress_begin(&target->telling, "replay ahead on", "cases");
    TAPML_TRY(result_count(target->run->store, target->name, &target->telling.progress.skipped));
    options.user = &target->telling;
    TAPML_TRY(verdicts_make(&options, &list));
    const tapml_status status = target->handed != NULL && target->handed->judged != NULL
                                    ? target->handed->judged(target->handed->user, &list)
                                    : TAPML_OK;

    verdict_list_release(&list);
    return status;
}

static void begin_telling(struct target_jobs *target)
{
    place_usage_begin(&target->usage, target->run->store, target->place, target->run->config,
                      target->whole != NULL || target->is_member);
    target->telling.name = target->name;
    target->telling.lock = target->run->lock;
    target->telling.health = target->health;
    target->telling.usage = &target->usage;
}

// Does what a target's jobs are, with its health around them.
static tapml_status care_for(struct target_jobs *target,
                             tapml_status (*work)(struct target_jobs *target))
{
    const struct run_judge_options *run = target->run;

    text_init(&target->arguments);
    follow_up_print_given(run->setup, &target->arguments);
    tapml_status status = text_status(&target->arguments);

    if (status == TAPML_OK) {
        status =
            target_health_create(run->store, run->setup->registry, target->place, &target->health);
    }
    if (status == TAPML_OK) {
        begin_telling(target);
        status = work(target);
        status = target_health_settle(target->health, target->has_stepped, status);
    }
    if (status == TAPML_OK && (has_replayed(target) || target->has_stepped)) {
        status = place_usage_note(&target->usage); // A start that finds all done costs nothing.
    }
    target_health_destroy(target->health);
    text_release(&target->arguments);
    return status;
}

static tapml_status follow(struct target_jobs *target)
{
    struct carved_counts counts = {.cases = 0};
    size_t seen = 0;
    int is_last = 0, is_wrong = 0;

    TAPML_TRY(target_health_check(target->health));
    TAPML_TRY(check_driver(target, DRIVER_CHECKS_BEGIN, &is_wrong));
    while (!is_wrong && !is_last) {
        TAPML_TRY(target->is_whole(target->is_whole_user, &is_last));
        TAPML_TRY(is_last ? TAPML_OK : carved_count(target->run->store, &counts));
        if (!is_last && counts.cases > seen) {
            seen = counts.cases;
            TAPML_TRY(look_ahead(target, NULL, 0));
        }
    }
    return TAPML_OK;
}

// Waits for what is carved, and once all is, for other processes.
static tapml_status wait_for_cases(const struct target_jobs *target, int *io_is_last)
{
    static const struct timespec pause = {.tv_nsec = 20000000};

    if (!*io_is_last) {
        return target->is_whole(target->is_whole_user, io_is_last);
    }
    (void)nanosleep(&pause, NULL);
    return interrupt_check();
}

// What is derived for the ops that nobody else takes.
static tapml_status derive_handed(struct target_jobs *target)
{
    struct verdict_options options = options_of(target);
    const int64_t none = 0;
    struct verdict_list list;

    TAPML_TRY(known_read(target));
    options.ids = &none;
    options.derived = 1;
    options.divides = 1;
    options.known = &target->known;
    options.takes_op = target->handed->takes_op;
    options.taker = target->handed->user;
    options.derived_progress = target_progress_derived;
    options.user = &target->telling;
    target_progress_begin(&target->telling, "derive on", "kept cases");
    TAPML_TRY(verdicts_make(&options, &list));
    const tapml_status status =
        list.derived_count > 0 ? neighbours_add(target->run->store, target->name, &list) : TAPML_OK;

    verdict_list_release(&list);
    return status;
}

static tapml_status replay_handed(struct target_jobs *target)
{
    const struct handed_cases *handed = target->handed;
    const int64_t none = 0, *ids = &none;
    size_t count = 0, all = 0;
    int is_last = 0, was_last = 0, waits = 0;

    TAPML_TRY(look_ahead(target, ids, 0)); // What is stale is not there from now on.
    do {
        was_last = is_last;
        TAPML_TRY(handed->next(handed->user, &ids, &count, &waits));
        all += count;
        TAPML_TRY(count > 0           ? look_ahead(target, ids, count)
                  : !is_last || waits ? wait_for_cases(target, &is_last)
                                      : TAPML_OK);
    } while (!was_last || waits || count > 0);
    TAPML_TRY(handed->takes_op != NULL ? derive_handed(target) : TAPML_OK);
    return target->is_member && all > 0 ? place_usage_note(&target->usage) : TAPML_OK;
}

static tapml_status follow_handed(struct target_jobs *target)
{
    int is_wrong = 0;

    TAPML_TRY(target_health_check(target->health));
    TAPML_TRY(check_driver(target, DRIVER_CHECKS_BEGIN, &is_wrong));
    return is_wrong ? TAPML_OK : replay_handed(target);
}

tapml_status target_jobs_follow(const struct target_jobs_options *options,
                                tapml_status (*is_whole)(void *user, int *out_is_whole),
                                void *user)
{
    struct target_jobs target = jobs_of(options);

    if (target.run->config->choice.budget.kind != BUDGET_ALL) {
        return TAPML_OK;
    }
    TAPML_TRY(target.is_member ? target_metadata_check_member(target.run, target.place)
                               : target_metadata_settle_cases(target.run, target.place));
    target.is_whole = is_whole;
    target.is_whole_user = user;
    const tapml_status status = care_for(&target, target.handed != NULL ? follow_handed : follow);

    verdict_list_release(&target.known);
    return status;
}

tapml_status target_jobs_run(const struct target_jobs_options *options)
{
    struct target_jobs target = jobs_of(options);

    TAPML_TRY(target_metadata_settle(options->judge, options->target));
    TAPML_TRY(run_judge_set_limits(options->judge, options->target->backend));
    const tapml_status status = care_for(&target, run_jobs);

    session_destroy(target.session);
    watch_destroy(target.watch);
    place_destroy(target.guarded);
    verdict_list_release(&target.verdicts);
    verdict_list_release(&target.known);
    return status;
}
