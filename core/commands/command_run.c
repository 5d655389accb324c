// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "config/run_config.h"
#include "exec/narrow.h"
#include "exec/run.h"
#include "exec/trace.h"
#include "link/client.h"
#include "offload/judge.h"
#include "offload/loop.h"
#include "offload/watch.h"
#include "report/report.h"
#include "report/report_data.h"
#include "report/report_files.h"
#include "report/report_table.h"
#include "run/bundles.h"
#include "run/carving.h"
#include "run/facts.h"
#include "run/hold.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "run/run_judge.h"
#include "store/row.h"
#include "store/salvage.h"
#include "store/store.h"
#include "verify/fault.h"
#include "verify/guard.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--config", "FILE", "the run's INI file"},
    {"--json", "FILE", "writes the report as JSON too"},
    {"--junit", "FILE", "writes the report as JUnit XML too, for continuous integration"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

struct run {
    struct run_config config;
    struct setup setup;
    struct hold *hold;
    struct store *store;
    struct prompts prompts;
    struct run_judge judge;
    struct fault *faults[RUN_CONFIG_TARGETS_MAX];   // Around a target's backend; or NULL.
    struct narrow *narrows[RUN_CONFIG_TARGETS_MAX]; // Around that; or NULL.
    const char *absent[RUN_CONFIG_TARGETS_MAX];     // Why it could not be opened; or NULL.
    int is_wrong;                                   // Some target is,
    int is_incomplete;                              // some was not there, or went away.
    unsigned bundle_count;                          // FAULT-n.tapmlrun so far.
    json_t *report;
};

// -- One target --------------------------------------------------------------------------------

struct target {
    struct run *run;
    uint32_t index; // Of its place.
    const char *name;
    struct backend *backend; // For cases: replays have a guard of their own.
    struct run_place place;  // For runs of the model: under a guard where that is wanted.
    struct guard *guard;
    struct residency *weights; // Made through the guard.
    int require_all;
    struct verdict_list verdicts;
    struct watch *watch;
    struct session *session;
    struct loop_result result;
    struct arena *arena; // Of the findings.
    struct findings findings;
    int was_finished; // At an earlier start.
    struct progress progress;
    char phase[160];
    size_t judged, judged_all; // Prompts before the step at hand, and in all steps.
};

static void begin_phase(struct target *target, const char *what, const char *unit)
{
    (void)snprintf(target->phase, sizeof(target->phase), "%s %s", what, target->name);
    progress_begin(&target->progress, target->phase, 0);
    target->progress.unit = unit;
    target->progress.hold = target->run->hold;
}

// How many lines of `target` the store has.
static tapml_status
count_rows(struct store *store, const char *sql, const char *target, size_t *out_count)
{
    struct row row;
    int has = 0;

    TAPML_TRY(row_begin(store, sql, "counting what is done", &row));
    row_put_text(&row, target);
    TAPML_TRY(row_next(&row, &has));
    *out_count = has ? (size_t)row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

static tapml_status show(void *user, size_t done, size_t all)
{
    struct target *target = user;

    return progress_show(&target->progress, done, all);
}

// The derived cases are a phase of their own: they take another time.
static tapml_status show_derived(void *user, size_t done, size_t all)
{
    struct target *target = user;

    if (done == 1) {
        begin_phase(target, "derive on", "kept cases");
        target->progress.skipped = 1; // It was made before the clock was set.
    }
    return progress_show(&target->progress, done, all);
}

// Steps are counted by the prompts that they judge; what a search needs comes on top.
static tapml_status show_step(void *user, const char *step, size_t done, size_t all)
{
    struct target *target = user;
    const struct run *run = target->run;
    const size_t move = (size_t)run->config.offload_prompts;

    (void)snprintf(target->phase, sizeof(target->phase), "%s on %s", step, target->name);
    target->judged = done * move;
    target->judged_all = (all - 1) * move + run->prompts.count;
    return progress_show(&target->progress, target->judged, target->judged_all);
}

// A search judges the prompts of its step again and again.
static tapml_status show_judged(void *user, size_t done, size_t all)
{
    struct target *target = user;
    const size_t judged = target->judged + done;

    (void)all;
    return progress_show(&target->progress,
                         judged < target->judged_all ? judged : target->judged_all,
                         target->judged_all);
}

static tapml_status replay(struct target *target)
{
    struct run *run = target->run;

    begin_phase(target, "replay on", "cases");
    const uint64_t begin_ns = target->progress.begin_ns;

    TAPML_TRY(count_rows(run->store, "SELECT count(*) FROM result WHERE target = ?", target->name,
                         &target->progress.skipped));
    TAPML_TRY(
        verdict_all(&(struct verdict_options){.registry = run->setup.registry,
                                              .store = run->store,
                                              .target = target->name,
                                              .backend = target->backend,
                                              .checkpoint = model_checkpoint(run->setup.model),
                                              .derived = 1,
                                              .progress = show,
                                              .derived_progress = show_derived,
                                              .user = target},
                    &target->verdicts));
    (void)snprintf(target->phase, sizeof(target->phase), "replay on %s", target->name);
    target->progress.begin_ns = begin_ns;
    progress_end(&target->progress, "%zu cases and %zu derived ones", target->verdicts.count,
                 target->verdicts.derived_count);
    return TAPML_OK;
}

// Runs of the model go through a guard where the target asks for it, weights too.
static tapml_status guard_runs(struct target *target)
{
    struct run *run = target->run;

    target->place =
        (struct run_place){target->name, target->backend, run->setup.weights[target->index]};
    if (!run->config.targets[target->index - 1].is_guarded) {
        return TAPML_OK;
    }
    TAPML_TRY(guard_create(target->backend, &target->guard));
    target->place.backend = guard_backend(target->guard);
    TAPML_TRY(residency_create(target->place.backend, &target->weights));
    target->place.weights = target->weights;
    return TAPML_OK;
}

static tapml_status poll(void *user)
{
    (void)user;
    return interrupt_check();
}

static tapml_status watch(struct target *target)
{
    struct run *run = target->run;

    return watch_create(&(struct watch_options){.registry = run->setup.registry,
                                                .store = run->store,
                                                .model = run->setup.model,
                                                .capacity = run->config.capacity,
                                                .chunk = run->config.chunk,
                                                .source = run->setup.backends[0],
                                                .source_weights = run->setup.weights[0],
                                                .target = target->backend,
                                                .running = target->place.backend,
                                                .target_weights = target->place.weights,
                                                .target_name = target->name,
                                                .prompts = run->judge.prompts,
                                                .poll = poll},
                        &target->watch);
}

static tapml_status offload(struct target *target)
{
    struct run *run = target->run;
    struct plan *goal = NULL;

    TAPML_TRY(run_config_goal(&run->config, target->name, &goal));
    tapml_status status = run_judge_session(&run->judge, &target->place, goal, &target->session);

    begin_phase(target, "offload to", "prompts checked");
    if (status == TAPML_OK) {
        status = count_rows(run->store,
                            "SELECT count(DISTINCT step) FROM ledger"
                            " WHERE target = ? AND step LIKE 'move %'",
                            target->name, &target->progress.skipped);
        target->progress.skipped *= (size_t)run->config.offload_prompts;
    }
    if (status == TAPML_OK) {
        status =
            loop_run(&(struct loop_options){.graph = model_graph(run->setup.model),
                                            .store = run->store,
                                            .session = target->session,
                                            .judge = run->judge.judge,
                                            .target = target->name,
                                            .goal = goal,
                                            .verdicts = &target->verdicts,
                                            .move_prompts = (size_t)run->config.offload_prompts,
                                            .all_prompts = run->prompts.count,
                                            .watch = target->watch,
                                            .mode = run->config.mode,
                                            .progress = show_step,
                                            .check = show_judged,
                                            .user = target},
                     &target->result);
    }
    plan_destroy(goal);
    TAPML_TRY(status);
    target->progress.phase = "offload";
    progress_end(&target->progress, "%u of %u instances moved to %s", target->result.moved_count,
                 target->result.wanted_count, target->name);
    return TAPML_OK;
}

// The final plan, as `generate --plan` takes it.
static tapml_status write_plan(const struct target *target)
{
    const struct run_config *config = &target->run->config;
    struct text text, path;

    text_init(&text);
    text_init(&path);
    text_format(&path, "%s/plan-%s.txt", config->dir, target->name);
    text_format(&text, "# source = %s, %s = %s; model %s\n", config->source, target->name,
                config->targets[target->index - 1].backend, config->model);
    plan_print(target->result.plan, &text);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = text_status(&path);
    }
    if (status == TAPML_OK) {
        status = file_write(path.data, text.data, text.length);
    }
    text_release(&text);
    text_release(&path);
    return status;
}

// Runs one prompt under the final plan with every call counted and timed.
static tapml_status run_traced(const struct target *target, struct trace *trace)
{
    struct run *run = target->run;
    const struct judge_prompt *prompt = &run->judge.prompts[0];
    struct session *session = NULL;
    int32_t *ids = alloc_array((size_t)run->config.decode + 1, sizeof(*ids));
    int64_t count = 0;

    if (ids == NULL) {
        return status_no_memory();
    }
    tapml_status status = run_judge_session(
        &run->judge, &(struct run_place){target->name, trace_backend(trace), target->place.weights},
        target->result.plan, &session);

    if (status == TAPML_OK) {
        status = run_greedy(session,
                            &(struct run_options){.ids = prompt->ids,
                                                  .count = prompt->count,
                                                  .decode = run->config.decode},
                            ids, &count);
    }
    session_destroy(session);
    alloc_free(ids);
    return status;
}

// The plan was judged right: a worker that ends over it now, for whatever reason, is no reason to
// lose what was found, and it is measured once more. The caller destroys the trace.
static tapml_status measure(const struct target *target, struct trace **out_trace)
{
    TAPML_TRY(trace_create(target->place.backend, out_trace));
    const tapml_status status = run_traced(target, *out_trace);

    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    log_line(LOG_WARNING, "measuring on '%s' failed and is repeated once: %s", target->name,
             status_message());
    trace_destroy(*out_trace);
    *out_trace = NULL;
    TAPML_TRY(trace_create(target->place.backend, out_trace));
    return run_traced(target, *out_trace);
}

// What stays on the source, as the loop and its session tell it.
static tapml_status list_findings(const struct target *target, struct findings *out_findings)
{
    const struct graph *graph = model_graph(target->run->setup.model);
    const struct loop_result *result = &target->result;
    const uint32_t refused = session_refusal_count(target->session);

    out_findings->items = arena_array(target->arena, result->accused_count + refused + 1,
                                      sizeof(*out_findings->items));
    if (out_findings->items == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < refused; i++) {
        const struct session_refusal *refusal = session_refusal_at(target->session, i);

        out_findings->items[out_findings->count++] =
            (struct finding){.instance = graph->ops[refusal->op].instance,
                             .kind = "refused",
                             .margin = NAN,
                             .reason = refusal->reason};
    }
    for (size_t i = 0; i < result->accused_count; i++) {
        const struct loop_accusation *accused = &result->accused[i];

        out_findings->items[out_findings->count++] =
            (struct finding){.instance = graph->ops[accused->op].instance,
                             .kind = accused->is_alone ? "alone" : "together",
                             .margin = accused->margin,
                             .reason = accused->reason != NULL ? accused->reason : "",
                             .evidence = (int64_t)accused->evidence,
                             .tried = accused->tried,
                             .failed = accused->failed};
    }
    return TAPML_OK;
}

static tapml_status
list_times(const struct target *target, const struct trace *trace, struct findings *out_findings)
{
    out_findings->times =
        arena_array(target->arena, trace_count(trace) + 1, sizeof(*out_findings->times));
    if (out_findings->times == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < trace_count(trace); i++) {
        const struct trace_line *line = trace_at(trace, i);

        out_findings->times[out_findings->time_count++] =
            (struct finding_time){line->op->name, line->calls, line->launches, line->time_ns};
    }
    return TAPML_OK;
}

// Measures, and writes what the offload has found.
static tapml_status write_findings(const struct target *target)
{
    struct findings findings = {.count = 0};
    struct trace *trace = NULL;

    TAPML_TRY(list_findings(target, &findings));
    tapml_status status = measure(target, &trace);

    if (status == TAPML_OK) {
        status = list_times(target, trace, &findings);
    }
    trace_destroy(trace);
    return status == TAPML_OK ? findings_write(target->run->store, target->name, &findings)
                              : status;
}

// What the ledger alone does not tell of a finished offload.
static void restore_result(struct target *target)
{
    const struct graph *graph = model_graph(target->run->setup.model);
    struct loop_result *result = &target->result;

    result->refused_count = 0;
    for (size_t i = 0; i < target->findings.count; i++) {
        result->refused_count += strcmp(target->findings.items[i].kind, "refused") == 0;
    }
    for (size_t i = 0; i < result->accused_count; i++) {
        struct loop_accusation *accused = &result->accused[i];
        const struct finding *finding =
            findings_find(&target->findings, graph->ops[accused->op].instance);

        if (finding != NULL) {
            accused->is_alone = strcmp(finding->kind, "alone") == 0;
            accused->margin = finding->margin;
            accused->reason = finding->reason;
            accused->evidence = (enum trial_evidence)finding->evidence;
            accused->tried = finding->tried;
            accused->failed = finding->failed;
        }
    }
}

// What the offload has found, now or at an earlier start.
static tapml_status settle_findings(struct target *target)
{
    struct store *store = target->run->store;

    target->arena = arena_create();
    if (target->arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = findings_read(store, target->name, target->arena, &target->findings);

    target->was_finished = status == TAPML_OK;
    if (status == TAPML_NOT_FOUND) {
        status = write_findings(target);
        if (status == TAPML_OK) {
            status = findings_read(store, target->name, target->arena, &target->findings);
        }
    }
    TAPML_TRY(status);
    restore_result(target);
    return TAPML_OK;
}

static int is_wrong(const struct target *target)
{
    const struct loop_result *result = &target->result;

    return result->accused_count > 0 || !result->judged.agrees || result->unexplained != NULL ||
           verdict_count_failed(target->verdicts.derived, target->verdicts.derived_count) > 0 ||
           (target->require_all && result->refused_count > 0);
}

static int has_faults(const struct run *run, const char *target)
{
    struct fault_rule rules[RUN_CONFIG_FAULTS_MAX];

    return run_config_faults(&run->config, target, rules) > 0;
}

// Adds a bundle to the report's accusation.
static tapml_status note_bundle(void *user, const struct bundles_note *note)
{
    const struct target *target = user;

    return report_data_add_bundle(target->run->report, note);
}

static tapml_status write_bundles(struct target *target)
{
    struct run *run = target->run;

    return bundles_write(
        &(struct bundles_options){.registry = run->setup.registry,
                                  .store = run->store,
                                  .checkpoint = model_checkpoint(run->setup.model),
                                  .graph = model_graph(run->setup.model),
                                  .backend = target->backend,
                                  .backend_name = run->config.targets[target->index - 1].backend,
                                  .target = target->name,
                                  .dir = run->config.dir,
                                  .config = has_faults(run, target->name) ? run->config.path : NULL,
                                  .verdicts = &target->verdicts,
                                  .result = &target->result,
                                  .is_finished = target->was_finished,
                                  .written = note_bundle,
                                  .user = target},
        &run->bundle_count);
}

static tapml_status report(struct target *target)
{
    struct run *run = target->run;
    char key[128];

    (void)snprintf(key, sizeof(key), "target.%s.faults", target->name);
    const char *faults = store_fact(run->store, key);
    const struct report_target reported = {
        .name = target->name,
        .info = backend_info(target->backend),
        .graph = model_graph(run->setup.model),
        .store = run->store,
        .verdicts = &target->verdicts,
        .result = &target->result,
        .findings = &target->findings,
        .backend = run->config.targets[target->index - 1].backend,
        .faults = faults != NULL ? arena_text(target->arena, faults) : "",
        .is_wrong = is_wrong(target),
    };

    TAPML_TRY(report_print(&reported));
    return report_data_add_target(run->report, &reported);
}

static tapml_status run_target(struct target *target)
{
    struct run *run = target->run;

    TAPML_TRY(facts_settle_target(run->store, &run->config, &run->setup, target->index));
    TAPML_TRY(facts_give_up(run->store, target->name, ""));
    run_judge_set_limits(&run->judge, target->backend);
    TAPML_TRY(replay(target));
    TAPML_TRY(guard_runs(target));
    TAPML_TRY(watch(target));
    TAPML_TRY(offload(target));
    // Those of the run are told with its first target.
    target->result.cost.calibrating += run->judge.executions;
    run->judge.executions = 0;
    TAPML_TRY(write_plan(target));
    TAPML_TRY(settle_findings(target));
    run->is_wrong = run->is_wrong || is_wrong(target);
    TAPML_TRY(report(target));
    return write_bundles(target);
}

static void target_release(struct target *target)
{
    loop_result_release(&target->result);
    session_destroy(target->session);
    watch_destroy(target->watch);
    residency_destroy(target->weights);
    guard_destroy(target->guard);
    arena_destroy(target->arena);
    verdict_list_release(&target->verdicts);
}

// -- The run -----------------------------------------------------------------------------------

static int is_isolated(const struct run *run, size_t target)
{
    return run->config.targets[target].isolation.mode == ISOLATION_ALWAYS;
}

// What the environment lacks loses one target; what is wrong in the file ends the run. A run of
// several tells it now.
static tapml_status note_absence(struct run *run, size_t target, tapml_status status)
{
    if (outcome_of(status) != OUTCOME_ENVIRONMENT) {
        return status;
    }
    run->absent[target] = arena_text(run->setup.arena, status_message());
    if (run->absent[target] == NULL) {
        return status_no_memory();
    }
    if (run->config.target_count > 1) {
        log_line(LOG_ERROR, "target '%s' is given up: %s", run->config.targets[target].name,
                 run->absent[target]);
    }
    return TAPML_OK;
}

// A run that has targets needs one of them.
static tapml_status check_presence(const struct run *run)
{
    const size_t count = run->config.target_count;

    for (size_t i = 0; i < count; i++) {
        if (run->absent[i] == NULL) {
            return TAPML_OK;
        }
    }
    return count == 0 ? TAPML_OK
           : count == 1
               ? status_fail(TAPML_UNAVAILABLE, "%s", run->absent[0])
               : status_fail(TAPML_UNAVAILABLE, "none of the %zu targets can be opened", count);
}

static struct backend *target_backend(const struct run *run, size_t target)
{
    if (run->narrows[target] != NULL) {
        return narrow_backend(run->narrows[target]);
    }
    return run->faults[target] != NULL ? fault_backend(run->faults[target])
                                       : run->setup.backends[target + 1];
}

// Opens a target with the faults of its own, around its backend or in its worker, and tells them:
// nobody should take them for the target's.
static tapml_status open_target(struct run *run, size_t target)
{
    const struct run_config_target *config = &run->config.targets[target];
    const char *name = run->config.targets[target].name;
    struct fault_rule rules[RUN_CONFIG_FAULTS_MAX];
    const size_t count = run_config_faults(&run->config, name, rules);

    for (size_t i = 0; i < count; i++) {
        struct text line;

        text_init(&line);
        fault_print(&rules[i], &line);
        log_line(LOG_WARNING, "injected on '%s': %s", name, line.data);
        text_release(&line);
    }
    const tapml_status status =
        setup_place_isolated(&run->setup, name, config->backend, &config->isolation, rules, count);

    if (status != TAPML_OK) {
        TAPML_TRY(note_absence(run, target, status));
        return setup_place_absent(&run->setup, name);
    }
    if (count > 0 && !is_isolated(run, target)) {
        TAPML_TRY(
            fault_create(run->setup.backends[target + 1], rules, count, &run->faults[target]));
    }
    return config->is_narrow ? narrow_create(target_backend(run, target), &run->narrows[target])
                             : TAPML_OK;
}

// What was planted and never struck says nothing about the tool.
static void tell_faults(const struct run *run, size_t target)
{
    const char *name = run->config.targets[target].name;
    struct fault_rule rules[RUN_CONFIG_FAULTS_MAX];
    const size_t count = run_config_faults(&run->config, name, rules);

    for (size_t i = 0; i < count; i++) {
        log_line(LOG_WARNING, "[%s] has corrupted %" PRIu64 " calls on '%s'", rules[i].name,
                 is_isolated(run, target)
                     ? client_count(run->setup.backends[target + 1], (uint32_t)i)
                     : fault_struck(run->faults[target], i),
                 name);
    }
}

// What the model shows of rules and faults, before anything is run.
static tapml_status match(const struct run *run)
{
    struct problems problems;

    problems_init(&problems);
    run_config_match(&run->config, model_graph(run->setup.model), &problems);
    const tapml_status status = problems_status(&problems);

    problems_release(&problems);
    return status;
}

static tapml_status check_backends(struct run *run)
{
    const struct setup *setup = &run->setup;

    TAPML_TRY(isolation_check(setup->program, setup->registry, &run->config.source_isolation,
                              run->config.source));
    for (size_t i = 0; i < run->config.target_count; i++) {
        const struct run_config_target *target = &run->config.targets[i];

        TAPML_TRY(note_absence(
            run, i,
            isolation_check(setup->program, setup->registry, &target->isolation, target->backend)));
    }
    return check_presence(run);
}

static tapml_status open_targets(struct run *run)
{
    for (size_t i = 0; i < run->config.target_count; i++) {
        TAPML_TRY(run->absent[i] == NULL
                      ? open_target(run, i)
                      : setup_place_absent(&run->setup, run->config.targets[i].name));
    }
    return check_presence(run);
}

// Numbers of the prompts that the store does not have: "2, 5-7".
static void print_missing(const struct run *run, struct text *out)
{
    const struct prompts *prompts = &run->prompts;

    for (size_t i = 0; i < prompts->count; i++) {
        size_t end = i;

        while (end < prompts->count && !store_has_prompt(run->store, prompts->items[end].id)) {
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

// Opens the store of the run; a damaged one gives what is whole to another one first.
static tapml_status open_store(struct run *run, const char *path)
{
    static const char *const facts[] = {"model.hash", "prompts.hash", "decode", "capacity",
                                        "chunk",      "keep",         "source", NULL};
    struct text told, missing;

    text_init(&told);
    text_init(&missing);
    tapml_status status = salvage_run(path, facts, &told);

    if (status == TAPML_OK) {
        status = store_open(path, 1, &run->store);
    }
    if (status == TAPML_OK && told.length > 0) {
        print_missing(run, &missing);
        log_line(LOG_WARNING, "%s", told.data);
        log_line(LOG_WARNING, "carving again or for the first time: %s",
                 missing.length > 0 ? missing.data : "no prompt");
    }
    text_release(&told);
    text_release(&missing);
    return status;
}

// What encoding the weights cost, in a line; the report has each of them.
static void tell_losses(const struct run *run, struct progress *progress)
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
                     account->loss_count, run_config_weights(&run->config), account->plain_count,
                     worst->name, worst->relative);
    }
}

static tapml_status open_run(struct run *run)
{
    const struct run_config *config = &run->config;
    struct text path;

    const struct model_options model = run_config_model(config);
    struct progress progress;

    progress_begin(&progress, "load", 0);
    TAPML_TRY(setup_model(&run->setup, &model));
    tell_losses(run, &progress);
    TAPML_TRY(match(run));
    TAPML_TRY(setup_check_decode(&run->setup, config->decode));
    TAPML_TRY(prompts_load(config->prompts, run->setup.tokenizer, setup_vocabulary(&run->setup),
                           run_config_room(config), &run->prompts));
    TAPML_TRY(check_backends(run)); // Before the folder is made: a refusal leaves nothing behind.
    TAPML_TRY(file_make_folder(config->dir));
    TAPML_TRY(hold_take(config->dir, &run->hold)); // Before the devices are.
    file_remove_all(config->dir, "plan-*.part");   // What a killed host was writing.
    file_remove_all(config->dir, "FAULT-*.part*");
    file_remove_all(config->dir, "report.html.*.part");
    TAPML_TRY(setup_place_isolated(&run->setup, "source", config->source, &config->source_isolation,
                                   NULL, 0));
    TAPML_TRY(open_targets(run));
    text_init(&path);
    text_format(&path, "%s/run.tapmlrun", config->dir);
    tapml_status status = text_status(&path);

    if (status == TAPML_OK) {
        status = open_store(run, path.data);
    }
    text_release(&path);
    return status;
}

// The others go on.
static tapml_status give_up(struct run *run, size_t target, const char *reason)
{
    const struct run_config_target *config = &run->config.targets[target];

    run->is_incomplete = 1;
    TAPML_TRY(facts_give_up(run->store, config->name, reason));
    return report_data_give_up(run->report, config->name, config->backend, reason);
}

// A target whose device went away is told in a sentence.
static tapml_status lose(struct run *run, size_t target)
{
    char reason[512];

    (void)snprintf(reason, sizeof(reason), "%s", status_message()); // Cut where it is too long.
    TAPML_TRY(backend_wait(run->setup.backends[0]));                // The source must be there.
    log_line(LOG_ERROR, "target '%s' is given up: %s", run->config.targets[target].name, reason);
    return give_up(run, target, reason);
}

// Whether a run of a target failed because its worker could not be kept alive: that costs no other
// target anything.
static int is_loss(const struct run *run, size_t target, uint32_t falls_before, tapml_status status)
{
    return status == TAPML_DEVICE_LOST ||
           ((status == TAPML_INTERNAL || status == TAPML_DEADLINE) && is_isolated(run, target) &&
            client_falls(run->setup.backends[target + 1]) > falls_before);
}

static tapml_status run_present(struct run *run, uint32_t index)
{
    struct target target = {.run = run,
                            .index = index + 1,
                            .name = run->config.targets[index].name,
                            .backend = target_backend(run, index),
                            .require_all = run->config.targets[index].require_all};
    const uint32_t falls =
        is_isolated(run, index) ? client_falls(run->setup.backends[index + 1]) : 0;
    tapml_status status = run_target(&target);

    if (is_loss(run, index, falls, status)) {
        status = lose(run, index);
    }
    tell_faults(run, index);
    target_release(&target);
    return status;
}

static tapml_status run_targets(struct run *run)
{
    if (run->config.target_count > 0) {
        TAPML_TRY(run_judge_open(&(struct run_judge_options){.setup = &run->setup,
                                                             .config = &run->config,
                                                             .store = run->store,
                                                             .prompts = &run->prompts,
                                                             .hold = run->hold},
                                 &run->judge));
    }
    for (uint32_t i = 0; i < run->config.target_count; i++) {
        TAPML_TRY(run->absent[i] == NULL ? run_present(run, i) : give_up(run, i, run->absent[i]));
    }
    return report_table_print(run->report);
}

static tapml_status run_all(struct run *run, const struct options *options)
{
    TAPML_TRY(open_run(run));
    TAPML_TRY(facts_settle(run->store, &run->config, &run->setup, &run->prompts));
    TAPML_TRY(carving_run(&run->config, &run->setup, run->store, &run->prompts, run->hold));
    TAPML_TRY(report_data_create(
        &(struct report_run){.dir = run->config.dir, .store = run->store, .setup = &run->setup},
        &run->report));
    TAPML_TRY(run_targets(run));
    bundles_remove_rest(run->config.dir, run->bundle_count);
    return report_files_write(run->report, &(struct report_files){
                                               .dir = run->config.dir,
                                               .json = options_get(options, "--json"),
                                               .junit = options_get(options, "--junit"),
                                           });
}

static void run_release(struct run *run)
{
    json_decref(run->report);
    run_judge_close(&run->judge);
    prompts_release(&run->prompts);
    store_close(run->store);
    for (size_t i = 0; i < RUN_CONFIG_TARGETS_MAX; i++) {
        narrow_destroy(run->narrows[i]);
        fault_destroy(run->faults[i]);
    }
    hold_release(run->hold);
    setup_close(&run->setup);
    run_config_release(&run->config);
}

enum outcome command_run_main(const struct command *command)
{
    struct options options;
    struct run run = {.is_wrong = 0};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK) {
        status = options_no_plain(&options);
    }
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        options_help(
            "--config FILE",
            "Carves cases on the source, replays them on the targets, offloads op by op.\n", specs);
        return OUTCOME_OK;
    }
    if (status == TAPML_OK && options_get(&options, "--config") == NULL) {
        status = status_fail(TAPML_INVALID, "no run: give --config FILE, or see --help");
    }
    if (status == TAPML_OK) {
        status = run_config_load(options_get(&options, "--config"), &run.config);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    status = setup_open(command->program, &options, &run.config.ini, &run.setup);
    if (status == TAPML_OK) {
        interrupt_watch();
        status = run_all(&run, &options);
    }
    if (status == TAPML_OK && fflush(stdout) != 0) {
        status = status_fail(TAPML_UNAVAILABLE, "cannot write the report to the standard output");
    }
    const enum outcome failure = outcome_report(status);
    const enum outcome outcome = failure != OUTCOME_OK ? failure
                                 : run.is_wrong        ? OUTCOME_WRONG
                                 : run.is_incomplete   ? OUTCOME_ENVIRONMENT
                                                       : OUTCOME_OK;

    hold_end(run.hold, (int)outcome, status == TAPML_OK ? "" : status_message());
    run_release(&run);
    return outcome;
}
