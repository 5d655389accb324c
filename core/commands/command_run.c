// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/log.h"
#include "base/output.h"
#include "base/stages.h"
#include "base/text.h"
#include "base/timeline.h"
#include "commands/applied_advice.h"
#include "commands/opened_run.h"
#include "commands/side_by_side.h"
#include "config/run_file.h"
#include "report/report.h"
#include "report/report_bottleneck.h"
#include "report/report_data.h"
#include "report/report_files.h"
#include "report/report_table.h"
#include "run/bundles.h"
#include "run/case_rounds.h"
#include "run/case_share.h"
#include "run/interrupt.h"
#include "run/run_lock.h"
#include "run/stage_times.h"
#include "run/target_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--config", "FILE", "the run's INI file"},
    {"--json", "FILE", "writes the report as JSON too"},
    {"--junit", "FILE", "writes the report as JUnit XML too, for continuous integration"},
    {"--carve", NULL, "carves the cases and opens no target: what --shard then shares"},
    SHARD_OPTION,
    SHARD_INTO_OPTION,
    {"--all", NULL, "replays all kept cases, whatever [select] says"},
    {"--side-by-side", NULL,
     "gives each target a process of its own, that works while the source carves"},
    {"--explain-bottleneck", NULL,
     "prints where the time went, what held the run, and what to set"},
    {"--apply", "FILE", "writes the run's file with that set, runs again, prints both times"},
    TIMELINES_OPTIONS,
    {"--verbose", NULL, "prints times, and what it took to find what is wrong, too"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_run_manual = {
    .usage = "tapml-host --config FILE",
    .about = "Carves cases on the source, replays them on the targets, offloads op by op.",
    .specs = specs,
};

struct run {
    struct opened_run opened;
    struct report_options printing;
    int is_wrong;                // Some target is.
    unsigned bundle_count;       // FAULT-n.tapmlrun so far.
    struct side_by_side side;    // Without hosts: the targets are done one after the other.
    struct side_by_side sources; // Without hosts: this process carves.
    int is_beside[RUN_CONFIG_TARGETS_MAX]; // Of each target: all its jobs are done by a process.
    struct case_claims *claims[RUN_CONFIG_TARGETS_MAX]; // Of the members of its pool; or NULL.
    struct case_rounds *rounds;                         // Of targets that keep step; or NULL.
    const char *names[RUN_CONFIG_TARGETS_MAX];          // Theirs.
    struct stages stages; // Where its time goes, but for that of its targets.
};

// -- A target in a process of its own ----------------------------------------------------------

// What a process does: all jobs of a target or, as a member of its pool, some of the replaying.
struct side_job {
    size_t target, member;
    struct case_claims *claims; // Of a member; else NULL.
};

struct joining {
    const char *program;
    struct options *options;
    struct run *run;
    struct side_job jobs[SIDE_HOSTS_MAX]; // By the index of the process.
};

enum { NAME_TEXT = 96 };

struct joined {
    const struct side_link *link;
    struct side_message last;
    struct stages *stages; // Where the time of this process goes.
};

static tapml_status hear_whole(void *user, int *out_is_whole)
{
    enum { WAIT_MS = 300 };
    struct joined *joined = user;

    TAPML_TRY(joined->last.word == SIDE_CARVED
                  ? TAPML_OK
                  : side_by_side_hear(joined->link, WAIT_MS, &joined->last));
    *out_is_whole = joined->last.word == SIDE_CARVED;
    return TAPML_OK;
}

static tapml_status hear(struct joined *joined, enum side_word word)
{
    while (joined->last.word != word) {
        TAPML_TRY(side_by_side_hear(joined->link, -1, &joined->last));
    }
    return TAPML_OK;
}

// What several sources carve comes at once, at the end.
static int is_followed(const struct opened_run *opened)
{
    return opened->config.store == NULL && opened->config.source_workers == 1;
}

// Cases that come at once are there before any is handed out.
static tapml_status wait_for_all(struct opened_run *opened, struct joined *joined)
{
    TAPML_TRY(hear(joined, SIDE_CARVED));
    return opened_run_take(opened);
}

// The kept cases, in step with other targets.
static tapml_status keep_step(struct run *run, const struct side_job *job, struct joined *joined)
{
    struct opened_run *opened = &run->opened;
    struct case_seat *seat = NULL;

    TAPML_TRY(case_rounds_join(run->rounds, job->target, opened->store, &seat));
    const struct handed_cases cases = case_rounds_cases(seat);
    const struct target_jobs_options jobs = {
        .judge = &opened->judge, .target = opened->targets[job->target], .handed = &cases};
    const tapml_status status = target_jobs_follow(&jobs, hear_whole, joined);

    case_rounds_leave(seat);
    return status;
}

static tapml_status join_jobs(struct run *run, const struct side_job *job, struct joined *joined)
{
    struct opened_run *opened = &run->opened;
    struct place *target = opened->targets[job->target];
    const struct target_jobs_options jobs = {.judge = &opened->judge, .target = target};

    TAPML_TRY(is_followed(opened) ? TAPML_OK : wait_for_all(opened, joined));
    opened->judge.from = opened_run_made_of(opened);
    TAPML_TRY(run->rounds != NULL   ? keep_step(run, job, joined)
              : is_followed(opened) ? target_jobs_follow(&jobs, hear_whole, joined)
                                    : TAPML_OK);
    TAPML_TRY(hear(joined, SIDE_CARVED));
    TAPML_TRY(opened_run_judge(opened));
    opened->judge.executions = joined->last.executions;
    const tapml_status status = target_jobs_run(&jobs);

    opened_run_log_faults(target);
    stages_leave(NULL);
    return status == TAPML_OK ? stage_times_write(opened->store, &target->settings, joined->stages)
                              : status;
}

static tapml_status
share_jobs(struct opened_run *opened, const struct side_job *job, struct joined *joined)
{
    struct case_share *share = NULL;

    TAPML_TRY(is_followed(opened) ? TAPML_OK : wait_for_all(opened, joined));
    opened->judge.from = opened_run_made_of(opened);
    TAPML_TRY(case_share_create(job->claims, job->member, opened->store,
                                opened->config.targets[job->target].name, &share));
    const struct handed_cases cases = case_share_cases(share);
    const struct target_jobs_options jobs = {.judge = &opened->judge,
                                             .target = opened->targets[job->target],
                                             .handed = &cases,
                                             .is_member = 1};
    const tapml_status status = target_jobs_follow(&jobs, hear_whole, joined);

    case_share_destroy(share);
    opened_run_log_faults(jobs.target);
    return status;
}

// "target 'gpu'" and "member 2 of 'gpu'", for people.
static void
describe_job(const struct run_config *config, const struct side_job *job, char out_text[NAME_TEXT])
{
    const char *name = config->targets[job->target].name;

    if (job->claims != NULL) {
        (void)snprintf(out_text, NAME_TEXT, "member %zu of '%s'", job->member + 1, name);
    } else {
        (void)snprintf(out_text, NAME_TEXT, "target '%s'", name);
    }
}

// "gpu" and "gpu-2", for files.
static void
name_job(const struct run_config *config, const struct side_job *job, char out_text[NAME_TEXT])
{
    const char *name = config->targets[job->target].name;

    if (job->claims != NULL) {
        (void)snprintf(out_text, NAME_TEXT, "%s-%zu", name, job->member + 1);
    } else {
        (void)snprintf(out_text, NAME_TEXT, "%s", name);
    }
}

static tapml_status open_joined(const struct joining *joining, const struct side_job *job)
{
    struct opened_run *opened = &joining->run->opened;
    const struct run_config *config = &opened->config;
    char name[NAME_TEXT];

    name_job(config, job, name);
    TAPML_TRY(timelines_split(joining->options, name, config->ini.arena));
    TAPML_TRY(setup_open(joining->program, joining->options, &config->ini, &opened->setup));
    interrupt_watch();
    return job->claims != NULL ? opened_run_join_member(opened, job->target, job->member)
                               : opened_run_join(opened, job->target);
}

// What fails here is tried again by the host, which says what is to be said.
static enum outcome join(void *user, size_t index, const struct side_link *link)
{
    const struct joining *joining = user;
    const struct side_job *job = &joining->jobs[index];
    struct opened_run *opened = &joining->run->opened;
    struct stages stages;
    struct joined joined = {.link = link, .stages = &stages};
    tapml_status status = hear(&joined, SIDE_OPENED);

    (void)stages_begin(&stages);
    status = status == TAPML_OK ? open_joined(joining, job) : status;
    if (status == TAPML_OK) {
        side_by_side_speak(link);
        status = job->claims != NULL ? share_jobs(opened, job, &joined)
                                     : join_jobs(joining->run, job, &joined);
    }
    if (status == TAPML_OK) {
        status = timelines_finish(&opened->setup.timelines);
    }
    if (status != TAPML_OK && status != TAPML_CANCELLED) {
        char name[NAME_TEXT];

        describe_job(&opened->config, job, name);
        log_line(LOG_WARNING, "the process of %s ends, what it has not done is done at the end: %s",
                 name, status_message());
    }
    opened_run_release(opened);
    return outcome_of(status);
}

// -- A process of the source ---------------------------------------------------------------------

static tapml_status
carve_share(const struct joining *joining, size_t index, const struct side_link *link)
{
    struct opened_run *opened = &joining->run->opened;
    const struct run_config *config = &opened->config;
    char name[NAME_TEXT];

    (void)snprintf(name, sizeof(name), "source-%zu", index + 1);
    TAPML_TRY(timelines_split(joining->options, name, config->ini.arena));
    TAPML_TRY(setup_open(joining->program, joining->options, &config->ini, &opened->setup));
    interrupt_watch();
    TAPML_TRY(opened_run_be_source(opened, (uint32_t)index));
    TAPML_TRY(opened_run_open(opened, NULL, NULL));
    side_by_side_speak(link);
    TAPML_TRY(opened_run_carve_share(opened));
    return timelines_finish(&opened->setup.timelines);
}

// What fails here is carved by the host, which says what is to be said.
static enum outcome be_source(void *user, size_t index, const struct side_link *link)
{
    const struct joining *joining = user;
    struct joined joined = {.link = link};
    tapml_status status = hear(&joined, SIDE_OPENED);

    status = status == TAPML_OK ? carve_share(joining, index, link) : status;
    if (status != TAPML_OK && status != TAPML_CANCELLED) {
        log_line(LOG_WARNING,
                 "a process of the source ends, what it has not carved is carved at the end: %s",
                 status_message());
    }
    opened_run_release(&joining->run->opened);
    return outcome_of(status);
}

static tapml_status begin_sources(struct run *run, struct joining *joining)
{
    const int64_t workers = run->opened.config.source_workers;
    char name[NAME_TEXT];

    side_by_side_init(&run->sources, "sources", 1);
    for (int64_t i = 0; i < workers; i++) {
        (void)snprintf(name, sizeof(name), "source %" PRId64 " of %" PRId64, i + 1, workers);
        TAPML_TRY(side_by_side_add(&run->sources, name, be_source, joining));
    }
    return TAPML_OK;
}

// Where fewer than two prompts are missing, this process carves.
static tapml_status wait_for_sources(struct run *run)
{
    if (opened_run_missing(&run->opened) < 2) {
        side_by_side_end(&run->sources);
        return TAPML_OK;
    }
    TAPML_TRY(opened_run_check_source(&run->opened));
    side_by_side_tell(&run->sources, (struct side_message){.word = SIDE_OPENED});
    return side_by_side_wait(&run->sources, run->opened.lock);
}

static tapml_status begin_job(struct run *run, struct joining *joining, const struct side_job *job)
{
    char name[NAME_TEXT];

    describe_job(&run->opened.config, job, name);
    if (run->side.count < SIDE_HOSTS_MAX) { // Else it is refused.
        joining->jobs[run->side.count] = *job;
    }
    return side_by_side_add(&run->side, name, join, joining);
}

// Targets that keep step wait for each of these processes.
static tapml_status begin_rounds(struct run *run)
{
    const struct run_config *config = &run->opened.config;

    for (size_t i = 0; i < config->target_count; i++) {
        run->names[i] = config->targets[i].name;
    }
    return case_rounds_create(run->names, config->target_count, &run->rounds);
}

static void expect_processes(const struct run *run)
{
    for (size_t i = 0; run->rounds != NULL && i < run->opened.config.target_count; i++) {
        case_rounds_expect(run->rounds, i, run->side.hosts[i].process);
    }
}

static tapml_status begin_members(struct run *run, struct joining *joining, size_t target)
{
    const struct run_config *config = &run->opened.config;
    const struct device_pool *pool = run_config_pool(config, target);
    struct side_job job = {.target = target};

    TAPML_TRY(case_share_claims_create(pool->count, &run->claims[target]));
    job.claims = run->claims[target];
    for (job.member = 0; job.member < pool->count; job.member++) {
        TAPML_TRY(begin_job(run, joining, &job));
    }
    return TAPML_OK;
}

// Of the targets each that is done beside the others, if they are; then the members of pools that
// share the cases.
static tapml_status begin_targets(struct run *run, struct joining *joining, int is_side_by_side)
{
    const struct run_config *config = &run->opened.config;

    side_by_side_init(&run->side, "targets", 1 + run->sources.count);
    TAPML_TRY(is_side_by_side && config->is_coordinated ? begin_rounds(run) : TAPML_OK);
    for (size_t i = 0; is_side_by_side && i < config->target_count; i++) {
        run->is_beside[i] = !config->targets[i].is_split;
        TAPML_TRY(run->is_beside[i] ? begin_job(run, joining, &(struct side_job){.target = i})
                                    : TAPML_OK);
    }
    for (size_t i = 0; i < config->target_count; i++) {
        TAPML_TRY(config->targets[i].is_split ? begin_members(run, joining, i) : TAPML_OK);
    }
    expect_processes(run);
    return TAPML_OK;
}

static int has_members(const struct run_config *config)
{
    int has = 0;

    for (size_t i = 0; i < config->target_count; i++) {
        has |= config->targets[i].is_split;
    }
    return has;
}

// Makes the processes that the run has beside this one, all of them before there is a thread.
static tapml_status
begin_processes(struct run *run, const struct options *options, struct joining *joining)
{
    const struct run_config *config = &run->opened.config;
    const int is_shard = options_get(options, "--shard") != NULL;
    const int is_side_by_side =
        (options_get(options, "--side-by-side") != NULL || config->is_coordinated) &&
        config->target_count > 1;

    TAPML_TRY(config->source_workers > 1 && !is_shard ? begin_sources(run, joining) : TAPML_OK);
    TAPML_TRY(options_get(options, "--carve") == NULL && !is_shard &&
                      (is_side_by_side || has_members(config))
                  ? begin_targets(run, joining, is_side_by_side)
                  : TAPML_OK);
    TAPML_TRY(side_by_side_listen(&run->sources));
    return side_by_side_listen(&run->side);
}

// -- The run -----------------------------------------------------------------------------------

// On one device after the other of its pool, where it has one and its device is lost.
static tapml_status run_jobs(struct run *run, size_t index, int *out_is_lost)
{
    struct opened_run *opened = &run->opened;
    struct place *target = opened->targets[index];
    const struct target_jobs_options jobs = {.judge = &opened->judge,
                                             .target = target,
                                             .io_bundles = &run->bundle_count,
                                             .whole = opened->shard_cases.whole};
    const struct target_pool pool = opened_run_pool(opened, index);
    tapml_status status = TAPML_OK;
    int is_replaced = 0;

    do {
        const uint32_t crashes = opened_run_crashes(target);

        status = target_jobs_run(&jobs);
        *out_is_lost = opened_run_is_loss(target, crashes, status);
        is_replaced = 0;
        TAPML_TRY(*out_is_lost ? target_pool_replace(&pool, &is_replaced) : TAPML_OK);
    } while (is_replaced);
    return status;
}

static tapml_status run_target(struct run *run, size_t index)
{
    struct opened_run *opened = &run->opened;
    struct place *target = opened->targets[index];
    struct stages stages, *before = stages_begin(&stages);
    int is_lost = 0;
    tapml_status status = run_jobs(run, index, &is_lost);

    stages_leave(before);
    if (status == TAPML_OK) {
        status = stage_times_write(opened->store, &target->settings, &stages);
    }
    if (is_lost) {
        status = opened_run_lose(opened, target);
    } else if (status == TAPML_OK && opened->shard.count == 0) {
        status = report_print_target(opened->store, target->settings.name, &run->printing,
                                     &run->is_wrong);
        run->printing.is_later = 1;
    }
    if (!run->is_beside[index] && target->backend != NULL) { // A process has told of its own.
        opened_run_log_faults(target);
    }
    return status;
}

// What the members of a pool have to be.
static tapml_status name_kinds(struct run *run)
{
    const struct run_config *config = &run->opened.config;

    for (size_t i = 0; i < config->target_count; i++) {
        TAPML_TRY(config->targets[i].is_split && run->opened.targets[i]->lost == NULL
                      ? opened_run_name_kind(&run->opened, i)
                      : TAPML_OK);
    }
    return TAPML_OK;
}

// They find the limits in the store, and the first target that is done beside the others has what
// these have cost in its report.
static tapml_status wait_for_processes(struct run *run)
{
    uint64_t executions = 0;

    for (size_t i = 0; i < RUN_CONFIG_TARGETS_MAX; i++) {
        executions = run->is_beside[i] ? run->opened.judge.executions : executions;
    }
    TAPML_TRY(run->opened.config.store != NULL ? name_kinds(run) : TAPML_OK);
    side_by_side_tell(&run->side, (struct side_message){SIDE_CARVED, executions});
    run->opened.judge.executions -= executions;
    return side_by_side_wait(&run->side, run->opened.lock);
}

static tapml_status run_targets(struct run *run)
{
    struct opened_run *opened = &run->opened;

    TAPML_TRY(opened_run_judge(opened));
    TAPML_TRY(run->side.count > 0 ? wait_for_processes(run) : TAPML_OK);
    for (size_t i = 0; i < opened->config.target_count; i++) {
        TAPML_TRY(opened->targets[i]->lost == NULL
                      ? run_target(run, i)
                      : opened_run_give_up(opened, opened->targets[i]));
    }
    return TAPML_OK;
}

static int explains(const struct options *options)
{
    return options_get(options, "--explain-bottleneck") != NULL ||
           options_get(options, "--apply") != NULL;
}

static tapml_status print_bottleneck(const json_t *report)
{
    struct text text;

    text_init(&text);
    report_bottleneck_print(report, &text);
    return text_print(&text);
}

// The report knows of the run what its store knows.
static tapml_status report_run(const struct run *run, const struct options *options)
{
    json_t *report = NULL;

    TAPML_TRY(report_data_create(run->opened.store, &report));
    tapml_status status = report_table_print(report);

    if (status == TAPML_OK) {
        status = report_print_end(report, run->opened.config.dir);
    }
    if (status == TAPML_OK && explains(options)) {
        status = print_bottleneck(report);
    }
    if (status == TAPML_OK) {
        status = report_files_write(report, &(struct report_files){
                                                .dir = run->opened.config.dir,
                                                .json = options_get(options, "--json"),
                                                .junit = options_get(options, "--junit"),
                                            });
    }
    json_decref(report);
    return status;
}

static tapml_status run_all(struct run *run, const struct options *options)
{
    struct opened_run *opened = &run->opened;

    TAPML_TRY(
        opened_run_open(opened, options_get(options, "--json"), options_get(options, "--junit")));
    if (run->side.count > 0) {
        TAPML_TRY(opened_run_settle(opened));
        TAPML_TRY(opened->config.store == NULL ? name_kinds(run) : TAPML_OK);
        side_by_side_tell(&run->side, (struct side_message){.word = SIDE_OPENED});
    }
    TAPML_TRY(run->sources.count > 0 ? wait_for_sources(run) : TAPML_OK);
    TAPML_TRY(opened_run_fill(opened));
    TAPML_TRY(opened_run_note_source(opened));
    run->printing.dir = opened->config.dir;
    TAPML_TRY(run_targets(run));
    TAPML_TRY(opened_run_note_source(opened));
    stages_leave(NULL);
    TAPML_TRY(opened->shard.count == 0 ? stage_times_write_run(opened->store, &run->stages,
                                                               opened->setup.pool, run->side.count)
                                       : TAPML_OK);
    timeline_stage("report");
    bundles_remove_rest(opened->config.dir, run->bundle_count);
    return opened->shard.count > 0 ? TAPML_OK : report_run(run, options);
}

// What --shard, --carve and --all change of the configuration.
static tapml_status read_work(struct run *run, const struct options *options)
{
    static const char *const others[] = {"--json", "--junit", "--carve", "--side-by-side",
                                         "--apply"};
    struct run_config *config = &run->opened.config;
    struct case_shard shard;

    if (options_get(options, "--all") != NULL) {
        config->choice.budget.kind = BUDGET_ALL;
    }
    if (options_get(options, "--carve") != NULL) {
        config->target_count = 0;
    }
    TAPML_TRY(shard_take(options, &shard));
    for (size_t i = 0; shard.count > 0 && i < sizeof(others) / sizeof(*others); i++) {
        if (options_get(options, others[i]) != NULL) {
            return status_fail(TAPML_INVALID,
                               "--shard and %s exclude each other: a shard replays its cases "
                               "alone, and what is merged has the report",
                               others[i]);
        }
    }
    return shard.count > 0
               ? opened_run_be_shard(&run->opened, &shard, options_get(options, "--into"))
               : TAPML_OK;
}

static struct applied_advice
advice_of(const struct command *command, const struct run *run, const struct options *options)
{
    return (struct applied_advice){.command = command,
                                   .config = options_get(options, "--config"),
                                   .dir = run->opened.config.dir,
                                   .into = options_get(options, "--apply")};
}

// What --apply asks for, once the run is over.
static enum outcome
apply(const struct command *command, const struct run *run, const struct options *options)
{
    const struct applied_advice advice = advice_of(command, run, options);
    json_t *report = NULL;

    if (advice.into == NULL) {
        return OUTCOME_OK;
    }
    tapml_status status = report_data_create(run->opened.store, &report);

    status = status == TAPML_OK ? applied_advice_try(&advice, report) : status;
    json_decref(report);
    return outcome_report(status);
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
        return outcome_report(options_help(&command_run_manual));
    }
    if (status == TAPML_OK && options_get(&options, "--config") == NULL) {
        status = status_fail(TAPML_INVALID, "no run: give --config FILE, or see --help");
    }
    if (status == TAPML_OK) {
        run.printing.is_verbose = options_get(&options, "--verbose") != NULL;
        status = run_file_load(options_get(&options, "--config"), &run.opened.config);
    }
    if (status == TAPML_OK && options_get(&options, "--apply") != NULL) {
        const struct applied_advice advice = advice_of(command, &run, &options);

        status = applied_advice_check(&advice);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    struct joining joining = {.program = command->program, .options = &options, .run = &run};

    status = begin_processes(&run, &options, &joining);
    if (status == TAPML_OK) {
        (void)stages_begin(&run.stages);
        stages_phase("open");
        status = setup_open(command->program, &options, &run.opened.config.ini, &run.opened.setup);
    }
    if (status == TAPML_OK) {
        status = read_work(&run, &options);
    }
    if (status == TAPML_OK) {
        interrupt_watch();
        status = run_all(&run, &options);
    }
    side_by_side_end(&run.sources);
    side_by_side_end(&run.side);
    for (size_t i = 0; i < RUN_CONFIG_TARGETS_MAX; i++) {
        case_share_claims_destroy(run.claims[i]);
    }
    case_rounds_destroy(run.rounds);
    if (status == TAPML_OK) {
        status = timelines_finish(&run.opened.setup.timelines);
    }
    if (status == TAPML_OK) {
        status = output_check();
    }
    const enum outcome failure = outcome_report(status);
    const enum outcome outcome = failure != OUTCOME_OK      ? failure
                                 : run.is_wrong             ? OUTCOME_WRONG
                                 : run.opened.is_incomplete ? OUTCOME_ENVIRONMENT
                                                            : OUTCOME_OK;

    run_lock_end(run.opened.lock, (int)outcome, status == TAPML_OK ? "" : status_message());
    const enum outcome applied =
        failure == OUTCOME_OK ? apply(command, &run, &options) : OUTCOME_OK;

    opened_run_release(&run.opened);
    return applied != OUTCOME_OK ? applied : outcome;
}
