// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/watch_look.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/output.h"
#include "base/text.h"
#include "commands/look_cause.h"
#include "commands/opened_run.h"
#include "commands/set_aside.h"
#include "config/run_file.h"
#include "report/report_markup.h"
#include "run/driver_checks.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/run_lock.h"
#include "run/target_metadata.h"
#include "schema/catalogue.h"
#include "store/look.h"
#include "store/looked.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/target.h"
#include "verify/verdicts.h"
#include "watch/notice.h"
#include "watch/policy_look.h"
#include "watch/regret.h"
#include "watch/sampling.h"
#include "watch/trigger.h"
#include "watch/turning.h"
#include "watch/watch_page.h"
#include "watch/watched_files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SEEDS   "watch.seeds"   // How many samples were drawn.
#define SAMPLED "watch.sampled" // Samples that are in no look yet.

enum {
    NUMBER_TEXT = 32,
    PHASE_TEXT = 160,
    TURNED_PRINTED = 10,
    RELOAD_S_MIN = 5,
    RELOAD_S_MAX = 60
};

static const double SECOND_NS = 1e9;

// A target on its way.
struct looked_target {
    struct place *place;
    struct verdict_list fresh;    // What has a fresh result when the look begins,
    struct verdict_list verdicts; // and when it ends.
    struct sampling sampling;
    struct watched_row *watched; // As it was before.
    size_t watched_count;
    int has_run; // Its driver was checked,
    int is_driver_wrong;
};

struct look_work {
    struct opened_run run;
    struct watch_settings settings;
    struct arena *arena;
    struct watched_files files;
    struct look_row row;
    struct text cause, fired, page;
    struct trigger_facts facts;
    struct turning turning;
    struct looked_target targets[RUN_CONFIG_TARGETS_MAX];
    struct looked_target *current; // That cases are replayed on.
    struct progress progress;
    char phase[PHASE_TEXT];
    uint64_t begin_ns;
    unsigned bundle_count;
    int64_t untold_worse; // Of looks of which nobody was told before.
};

// -- Opening -----------------------------------------------------------------------------------

static tapml_status open_look(struct look_work *look)
{
    struct opened_run *run = &look->run;

    TAPML_TRY(look_cause_list(&run->config, run->setup.registry, &look->files));
    TAPML_TRY(opened_run_open(run, NULL, NULL));
    if (run->config.model != NULL) {
        TAPML_TRY(look_cause_list_model(run->config.model, &look->files));
    }
    tapml_status status = opened_run_settle(run);

    if (status == TAPML_PRECONDITION) {
        TAPML_TRY(set_aside_store(run, &look->cause));
        status = TAPML_OK;
    }
    TAPML_TRY(status);
    TAPML_TRY(opened_run_fill(run));
    TAPML_TRY(set_aside_take_over(run, &look->cause));
    TAPML_TRY(look_cause_resume(run->store, &look->cause));
    TAPML_TRY(look_cause_compare(run->store, &look->files, &look->cause));
    return opened_run_judge(run);
}

// -- Which cases are stale ---------------------------------------------------------------------

static tapml_status show(void *user, size_t done, size_t all)
{
    struct look_work *look = user;

    return progress_show(&look->progress, done, all);
}

// The share of the cases of an op that had failed on the target when they were seen last.
static double find_failures(void *user, const char *op)
{
    const struct look_work *look = user;
    size_t count = 0, failed = 0;

    for (size_t i = 0; i < look->current->watched_count; i++) {
        const struct watched_row *row = &look->current->watched[i];

        if (strcmp(row->op, op) == 0) {
            count++;
            failed += strcmp(row->verdict, verdict_name(VERDICT_FAIL)) == 0 ||
                      strcmp(row->verdict, verdict_name(VERDICT_ERROR)) == 0 || row->turns > 0;
        }
    }
    return count > 0 ? (double)failed / (double)count : 0;
}

static struct verdict_options options_of(struct look_work *look, struct looked_target *target)
{
    const struct place_settings *settings = &target->place->settings;

    look->current = target;
    return (struct verdict_options){.registry = look->run.setup.registry,
                                    .store = look->run.store,
                                    .target = settings->name,
                                    .backend = target->place->backend,
                                    .faults = settings->faults,
                                    .fault_count = settings->fault_count,
                                    .checkpoint = look->run.checkpoint,
                                    .comparers = look->run.comparers,
                                    .divides = 1,
                                    .refuted = &look->run.refuted,
                                    .find_failures = find_failures,
                                    .progress = show,
                                    .user = look};
}

static void begin_phase(struct look_work *look, const char *what, const char *name)
{
    (void)snprintf(look->phase, sizeof(look->phase), "%s %s", what, name);
    progress_begin(&look->progress, look->phase, 0);
    look->progress.unit = "cases";
    look->progress.lock = look->run.lock;
}

// A transaction of one step.
static tapml_status mark_stale(struct look_work *look, const struct looked_target *target)
{
    struct store *store = look->run.store;

    TAPML_TRY(store_begin(store));
    tapml_status status =
        turning_mark_stale(store, target->place->settings.name, &target->fresh, look->row.began_s);

    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

// Nothing is replayed: what is stale is found, and its results are forgotten.
static tapml_status find_stale(struct look_work *look, struct looked_target *target)
{
    static const struct case_budget nothing = {.kind = BUDGET_CASES};
    const struct choice_settings *choice = &look->run.config.choice;
    struct verdict_options options = options_of(look, target);

    options.choice = choice->budget.kind != BUDGET_ALL ? choice : NULL;
    options.spend = &nothing;
    options.progress = NULL;
    TAPML_TRY(verdicts_make(&options, &target->fresh));
    look->facts.stale += (int64_t)target->fresh.left;
    look->facts.all += (int64_t)(target->fresh.count + target->fresh.left);
    return mark_stale(look, target);
}

// What became of a target is seen at one start alone.
static tapml_status
add_cause(struct look_work *look, const struct target_row *before, const struct target_row *now)
{
    struct text sentence;
    tapml_status status = TAPML_OK;

    text_init(&sentence);
    look_cause_target(before, now, &sentence);
    if (sentence.length > 0) {
        look_cause_add(&look->cause, sentence.data);
        status = look_cause_keep(look->run.store, sentence.data);
    }
    text_release(&sentence);
    return status;
}

static tapml_status settle_target(struct look_work *look, struct looked_target *target)
{
    const char *name = target->place->settings.name;
    struct store *store = look->run.store;
    struct target_row before, now;

    TAPML_TRY(target_find(store, name, look->arena, &before));
    TAPML_TRY(target_metadata_settle(&look->run.judge, target->place));
    TAPML_TRY(target_find(store, name, look->arena, &now));
    TAPML_TRY(add_cause(look, &before, &now));
    TAPML_TRY(watched_list(store, name, look->arena, &target->watched, &target->watched_count));
    return find_stale(look, target);
}

// -- Targets that go away ----------------------------------------------------------------------

typedef tapml_status (*target_fn)(struct look_work *look, struct looked_target *target);

// Does something on each target that is there; one that goes away costs the others nothing.
static tapml_status for_each_target(struct look_work *look, target_fn act)
{
    struct opened_run *run = &look->run;

    for (size_t i = 0; i < run->config.target_count; i++) {
        struct looked_target *target = &look->targets[i];

        if (target->place->lost != NULL) {
            continue;
        }
        const uint32_t crashes = opened_run_crashes(target->place);
        const tapml_status status = act(look, target);

        TAPML_TRY(opened_run_is_loss(target->place, crashes, status)
                      ? opened_run_lose(run, target->place)
                      : status);
    }
    return TAPML_OK;
}

static tapml_status find_targets(struct look_work *look)
{
    struct opened_run *run = &look->run;

    for (size_t i = 0; i < run->config.target_count; i++) {
        look->targets[i].place = run->targets[i];
        TAPML_TRY(run->targets[i]->lost == NULL ? TAPML_OK
                                                : opened_run_give_up(run, run->targets[i]));
    }
    return for_each_target(look, settle_target);
}

// -- Triggers ----------------------------------------------------------------------------------

static tapml_status add_regret(struct look_work *look, struct looked_target *target)
{
    struct regret regret = {look->facts.regret_s, look->facts.cost_s};

    TAPML_TRY(regret_add(look->run.store, target->place->settings.name,
                         &look->run.config.choice.budget, look->row.began_s, &regret));
    look->facts.regret_s = regret.regret_s;
    look->facts.cost_s = regret.cost_s;
    return TAPML_OK;
}

static tapml_status add_count(struct look_work *look, const char *name, int64_t more)
{
    char text[NUMBER_TEXT];

    (void)snprintf(text, sizeof(text), "%" PRId64,
                   (int64_t)metadata_count(look->run.store, name) + more);
    return metadata_note(look->run.store, name, text);
}

static tapml_status sample(struct look_work *look, struct looked_target *target)
{
    struct verdict_options options = options_of(look, target);
    const uint64_t seed = metadata_count(look->run.store, SEEDS);

    options.progress = NULL;
    TAPML_TRY(sampling_run(&options, (size_t)look->settings.sample, seed, look->arena, &look->facts,
                           &target->sampling));
    TAPML_TRY(add_count(look, SEEDS, 1));
    return add_count(look, SAMPLED, (int64_t)target->sampling.replayed);
}

static int is_on(const struct look_work *look, enum watch_trigger trigger)
{
    return (look->settings.is_on & 1U << trigger) != 0;
}

// What the samples say of other cases of their ops makes these stale.
static tapml_status forget_moved(struct look_work *look, struct looked_target *target)
{
    struct store *store = look->run.store;
    const double drift = is_on(look, WATCH_DRIFT) ? look->settings.drift : INFINITY;
    const double performance =
        is_on(look, WATCH_PERFORMANCE) ? look->settings.performance : INFINITY;

    TAPML_TRY(store_begin(store));
    tapml_status status =
        sampling_forget(&target->sampling, store, target->place->settings.name, drift, performance);

    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    look->facts.all -= (int64_t)(target->fresh.count + target->fresh.left);
    look->facts.stale -= (int64_t)target->fresh.left;
    verdict_list_release(&target->fresh);
    target->fresh = (struct verdict_list){0};
    return find_stale(look, target);
}

// Finds what the triggers need to know, and whether they let cases run.
static tapml_status decide(struct look_work *look, int *out_runs)
{
    look->facts.drift = 1;
    if (is_on(look, WATCH_COST) || is_on(look, WATCH_POLICY)) {
        TAPML_TRY(for_each_target(look, add_regret));
    }
    const int samples = is_on(look, WATCH_DRIFT) || is_on(look, WATCH_PERFORMANCE);

    if (samples) {
        TAPML_TRY(for_each_target(look, sample));
    }
    if (is_on(look, WATCH_POLICY)) {
        TAPML_TRY(policy_look_ask(look->run.policies.of[POLICY_TRIGGER], look->run.store,
                                  &look->files, look->arena, &look->facts));
    }
    *out_runs = trigger_decide(&look->settings, &look->facts, &look->fired);
    return *out_runs && samples ? for_each_target(look, forget_moved) : TAPML_OK;
}

// -- Running -----------------------------------------------------------------------------------

// What is left of the budget, in cases or seconds.
static struct case_budget left_of(const struct look_work *look)
{
    struct case_budget left = look->settings.budget;

    if (left.kind == BUDGET_SHARE) {
        left = (struct case_budget){BUDGET_CASES, ceil(left.amount * (double)look->facts.all)};
    }
    if (left.kind == BUDGET_CASES) {
        left.amount = fmax(left.amount - (double)look->row.replayed, 0);
    } else if (left.kind == BUDGET_SECONDS) {
        left.amount = fmax(left.amount - (double)(clock_now_ns() - look->begin_ns) / SECOND_NS, 0);
    }
    return left;
}

static tapml_status check_driver(struct look_work *look, struct looked_target *target)
{
    const struct driver_checks_options options = {.store = look->run.store,
                                                  .registry = look->run.setup.registry,
                                                  .place = target->place,
                                                  .dir = look->run.config.dir,
                                                  .config = look->run.config.path,
                                                  .io_bundles = &look->bundle_count};

    TAPML_TRY(driver_checks_make(&options, DRIVER_CHECKS_BEGIN, &target->is_driver_wrong));
    target->has_run = 1;
    return TAPML_OK;
}

static tapml_status replay(struct look_work *look, struct looked_target *target)
{
    const struct case_budget left = left_of(look);
    struct choice_settings choice = look->run.config.choice;
    struct verdict_options options = options_of(look, target);
    struct verdict_list list = {0};

    choice.order = CHOICE_COVER; // Worst risk first, or as a policy has chosen them.
    choice.sorter = NULL;
    if (target->fresh.left == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(check_driver(look, target));
    if (target->is_driver_wrong) {
        look->row.remaining += (int64_t)target->fresh.left;
        return TAPML_OK;
    }
    options.choice = &choice;
    options.spend = &left;
    begin_phase(look, "watch", target->place->settings.name);
    TAPML_TRY(verdicts_make(&options, &list));
    look->row.replayed += (int64_t)list.replayed;
    look->row.remaining += (int64_t)list.left;
    progress_end(&look->progress, "%zu of %zu stale cases replayed", list.replayed,
                 target->fresh.left);
    verdict_list_release(&list);
    opened_run_log_faults(target->place);
    return TAPML_OK;
}

// -- What has turned ---------------------------------------------------------------------------

static tapml_status compare_verdicts(struct look_work *look, struct looked_target *target)
{
    const char *name = target->place->settings.name;

    TAPML_TRY(verdict_read(look->run.store, name, &target->verdicts));
    TAPML_TRY(turning_add(&look->turning, look->run.store, name, &target->verdicts));
    turning_add_samples(&look->turning, name, &target->sampling);
    return target->has_run
               ? turning_add_driver(&look->turning, look->run.store, name,
                                    target->is_driver_wrong
                                        ? "a check of the driver's memory or queue fails: no "
                                          "operator is judged"
                                        : NULL)
               : TAPML_OK;
}

static int is_worth_a_row(const struct look_work *look)
{
    return look->cause.length > 0 || look->row.replayed > 0 || look->turning.seen > 0;
}

static tapml_status write_look(struct look_work *look)
{
    struct store *store = look->run.store;
    struct text files;

    text_init(&files);
    watched_files_print(&look->files, &files);
    tapml_status status = text_status(&files);

    if (status == TAPML_OK) {
        status = metadata_set(store, LOOK_CAUSE_FILES, files.data);
    }
    text_release(&files);
    TAPML_TRY(status);
    if (is_worth_a_row(look)) {
        look->row.sampled = (int64_t)metadata_count(store, SAMPLED);
        TAPML_TRY(metadata_set(store, SAMPLED, "0"));
        TAPML_TRY(metadata_set(store, LOOK_CAUSE_KEPT, ""));
        TAPML_TRY(look_write(store, &look->row, &look->row.id));
    }
    TAPML_TRY(turning_write(&look->turning, store, look->row.id));
    if (look->row.id != 0) {
        TAPML_TRY(looked_write_gone(store, look->row.id));
        TAPML_TRY(looked_prune(store));
    }
    if (is_on(look, WATCH_POLICY) && look->row.remaining == 0 && !look->run.is_incomplete) {
        TAPML_TRY(policy_look_keep(store, &look->files));
    }
    return watched_prune(store);
}

// All that a look has found, at once.
static tapml_status keep(struct look_work *look)
{
    struct store *store = look->run.store;

    look->row.ended_s = clock_wall_s();
    look->row.cause = look->cause.data;
    look->row.fired = look->fired.data;
    look->row.everything = look->facts.all;
    look->row.stale = look->facts.stale;
    look->row.worse = look->turning.worse;
    look->row.better = look->turning.better;
    TAPML_TRY(text_status(&look->cause));
    TAPML_TRY(text_status(&look->fired));
    TAPML_TRY(store_begin(store));
    tapml_status status = write_look(look);

    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

// -- Telling -----------------------------------------------------------------------------------

static void print_turned(const struct turned_row *turned, struct text *out)
{
    text_sentence(out, "%s: %s on %s at %s %s: %s, now %s", turned->is_worse ? "worse" : "better",
                  *turned->op != '\0' ? catalogue_shorten(turned->op) : "driver", turned->target,
                  turned->instance, turned->phase,
                  *turned->before != '\0' ? turned->before : "a new case", turned->after);
    if (!isnan(turned->margin)) {
        text_format(out, ", margin %s",
                    report_markup_margin(turned->margin, (struct report_markup_shorts){.a = ""}.a));
    }
    if (turned->is_worse && *turned->reason != '\0') {
        text_sentence(out, ": %s", turned->reason);
    }
    text_append(out, "\n");
}

static tapml_status print_look(const struct look_work *look)
{
    const struct look_row *row = &look->row;
    struct text text;
    int printed = 0;

    text_init(&text);
    text_format(&text, "watch: %s", *row->cause != '\0' ? row->cause : "no file has changed");
    text_format(&text, "%s%s\n", *row->fired != '\0' ? "; " : "", row->fired);
    text_format(&text,
                "%" PRId64 " of %" PRId64 " cases had no fresh result, %" PRId64
                " ran now, %" PRId64 " are left; %" PRId64 " worse, %" PRId64 " better\n",
                row->stale, row->everything, row->replayed, row->remaining, row->worse,
                row->better);
    for (size_t i = 0; i < look->turning.count && printed < TURNED_PRINTED; i++) {
        if (look->turning.items[i].has_turned) {
            print_turned(&look->turning.items[i].turned, &text);
            printed++;
        }
    }
    return text_print(&text);
}

static tapml_status sum_untold(struct look_work *look)
{
    struct look_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(look_list_untold(look->run.store, look->arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        look->untold_worse += rows[i].worse;
    }
    return TAPML_OK;
}

// `trouble` is why the look ends too early, or NULL.
static tapml_status write_page(const struct look_work *look, const char *trouble)
{
    const int64_t interval = look->settings.interval_s;
    struct text text;

    text_init(&text);
    tapml_status status = watch_page_print(
        &(struct watch_page_options){.store = look->run.store,
                                     .dir = look->run.config.dir,
                                     .looked_s = look->row.ended_s,
                                     .reload_s = interval < RELOAD_S_MIN   ? RELOAD_S_MIN
                                                 : interval > RELOAD_S_MAX ? RELOAD_S_MAX
                                                                           : interval,
                                     .trouble = trouble},
        &text);

    if (status == TAPML_OK) {
        status = file_write(look->page.data, text.data, text.length);
    }
    text_release(&text);
    return status;
}

static tapml_status tell(struct look_work *look)
{
    TAPML_TRY(sum_untold(look));
    TAPML_TRY(print_look(look));
    TAPML_TRY(write_page(look, NULL));
    return notice_give(&(struct notice_options){.store = look->run.store,
                                                .command = look->settings.command,
                                                .dir = look->run.config.dir,
                                                .config = look->run.config.path,
                                                .page = look->page.data});
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status find_page(struct look_work *look)
{
    if (look->settings.page != NULL) {
        text_append(&look->page, look->settings.page);
        return text_status(&look->page);
    }
    text_format(&look->page, "%s/watch.html", look->run.config.dir);
    return text_status(&look->page);
}

static tapml_status look_at_all(struct look_work *look)
{
    int runs = 0;

    TAPML_TRY(find_page(look));
    TAPML_TRY(open_look(look));
    TAPML_TRY(file_try_writing(look->page.data)); // Its folder is there by now.
    TAPML_TRY(find_targets(look));
    TAPML_TRY(decide(look, &runs));
    if (runs) {
        TAPML_TRY(for_each_target(look, replay));
    } else {
        look->row.remaining = look->facts.stale;
    }
    TAPML_TRY(for_each_target(look, compare_verdicts));
    TAPML_TRY(keep(look));
    return tell(look);
}

tapml_status watch_look_settle(const struct options *options, struct watch_settings *io_settings)
{
    const char *budget = options_get(options, "--budget");
    const char *interval = options_get(options, "--interval");
    const char *page = options_get(options, "--page");

    if (budget != NULL && budget_read(budget, &io_settings->budget) != TAPML_OK) {
        return status_explain(TAPML_INVALID, "--budget");
    }
    if (interval != NULL && (text_parse_i64(interval, &io_settings->interval_s) != TAPML_OK ||
                             io_settings->interval_s < 1)) {
        return status_fail(TAPML_INVALID, "--interval is '%s', expected seconds, at least 1",
                           interval);
    }
    io_settings->page = page != NULL ? page : io_settings->page;
    return TAPML_OK;
}

static void release(struct look_work *look)
{
    for (size_t i = 0; i < RUN_CONFIG_TARGETS_MAX; i++) {
        verdict_list_release(&look->targets[i].fresh);
        verdict_list_release(&look->targets[i].verdicts);
    }
    turning_release(&look->turning);
    watched_files_release(&look->files);
    text_release(&look->cause);
    text_release(&look->fired);
    text_release(&look->page);
    opened_run_release(&look->run);
    arena_destroy(look->arena);
}

static tapml_status begin(const struct watch_look_options *options, struct look_work *look)
{
    watched_files_begin(&look->files);
    TAPML_TRY(run_file_load(options->config, &look->run.config));
    look->settings = look->run.config.watch;
    TAPML_TRY(watch_look_settle(options->options, &look->settings));
    if (look->run.config.target_count == 0) {
        return status_fail(TAPML_INVALID,
                           "'%s' has no [target.NAME], so there are no verdicts to watch",
                           options->config);
    }
    TAPML_TRY(
        setup_open(options->program, options->options, &look->run.config.ini, &look->run.setup));
    interrupt_watch();
    return look_at_all(look);
}

// Who reads the page alone hears of it there, as far as a page can be made. The failure stays.
static void tell_trouble(struct look_work *look, tapml_status status)
{
    char message[512];

    if (status == TAPML_OK || status == TAPML_CANCELLED) {
        return;
    }
    (void)snprintf(message, sizeof(message), "%s", status_message());
    if (look->run.store != NULL && look->page.length > 0) {
        look->row.ended_s = clock_wall_s();
        if (write_page(look, message) != TAPML_OK) {
            log_line(LOG_WARNING, "the page cannot be written: %s", status_message());
        }
    }
    (void)status_fail(status, "%s", message);
}

enum outcome watch_look_run(const struct watch_look_options *options)
{
    struct look_work look = {.arena = arena_create(),
                             .row = {.began_s = clock_wall_s(), .cause = "", .fired = ""},
                             .begin_ns = clock_now_ns()};

    look.turning.arena = look.arena;
    text_init(&look.cause);
    text_init(&look.fired);
    text_init(&look.page);
    tapml_status status = look.arena != NULL ? begin(options, &look) : status_no_memory();

    status = status == TAPML_OK ? output_check() : status;
    tell_trouble(&look, status);
    const enum outcome failure = outcome_report(status);
    const enum outcome outcome = failure != OUTCOME_OK    ? failure
                                 : look.untold_worse > 0  ? OUTCOME_WRONG
                                 : look.run.is_incomplete ? OUTCOME_ENVIRONMENT
                                                          : OUTCOME_OK;

    run_lock_end(look.run.lock, (int)outcome, status == TAPML_OK ? "" : status_message());
    release(&look);
    return outcome;
}
