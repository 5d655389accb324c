// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/look_cause.h"
#include "commands/watch_look.h"
#include "commands/watch_simulate.h"
#include "config/run_file.h"
#include "run/setup.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "watch/watched_files.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct options_spec specs[] = {
    {"--config", "FILE", "the run's INI file, whose section [watch] says what is done"},
    {"--once", NULL, "looks once and ends, as a timer wants it"},
    {"--interval", "SECONDS",
     "seconds between two looks if no file changes; that of [watch] if absent"},
    {"--budget", "N", "stale cases that run at a look: 200, 2% of all cases, or 600s"},
    {"--page", "FILE", "the page that is written; watch.html in the folder of the run if absent"},
    {"--simulate", NULL,
     "runs nothing, and says what other triggers would have run of the changes that earlier looks "
     "have recorded, and found: a row for each --triggers, --ensemble and --budget, each of which "
     "may be given several times"},
    {"--triggers", "WORDS", "triggers that are simulated, such as \"identity drift:2\""},
    {"--ensemble", "any|majority", "how many of them have to fire"},
    {"--json", NULL, "prints the simulation as JSON"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_watch_manual = {
    .usage =
        "tapml-host watch --config FILE [--once] [--interval SECONDS] [--budget N] [--page FILE]\n"
        "tapml-host watch --simulate --config FILE | DIR [--triggers WORDS] [--ensemble "
        "any|majority] [--budget N] [--interval SECONDS] [--json]",
    .about = "Watches the files, devices and drivers that the verdicts of a run depend on, "
             "replays the cases that a change has made stale, worst risk first, and tells which "
             "verdicts have turned. Ends with 1 after --once if one is worse than it was.",
    .specs = specs,
};

static const double SECOND_NS = 1e9;
static const double PATIENCE_S = 0.6; // For which a look that is interrupted may take to end.
static const double AGAIN_S = 60;     // After a look for which something was missing.

// A signal handler can reach nothing else.
static volatile sig_atomic_t is_stopped;

static int is_over(void)
{
    return is_stopped;
}

static void stop(int number)
{
    (void)number;
    is_stopped = 1;
}

static void wake(int number)
{
    (void)number;
}

// Signals come while the process waits, and at no other time.
static void take_signals(sigset_t *out_outside)
{
    struct sigaction end = {.sa_handler = stop}, child = {.sa_handler = wake};
    sigset_t blocked;

    (void)sigemptyset(&end.sa_mask); // Cannot fail on sets of our own.
    (void)sigemptyset(&child.sa_mask);
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGINT);
    (void)sigaddset(&blocked, SIGTERM);
    (void)sigaddset(&blocked, SIGCHLD);
    (void)sigaction(SIGINT, &end, NULL);
    (void)sigaction(SIGTERM, &end, NULL);
    (void)sigaction(SIGCHLD, &child, NULL);
    (void)sigprocmask(SIG_BLOCK, &blocked, out_outside);
}

struct watching {
    const char *program;
    struct options options;
    const char *config;
    sigset_t outside; // The signals that were blocked before.
    int64_t interval_s;
    int has_looked; // With a configuration that could be read.
    int has_list;   // The last look's is in `files`.
    struct watched_files files;
};

// -- A look in a process of its own ------------------------------------------------------------

// Plugins stay loaded as they were found, and may end the process: so each look has its own.
static void look_and_end(const struct watching *watching, pid_t parent)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};

    (void)sigemptyset(&usual.sa_mask);
    (void)sigaction(SIGINT, &usual, NULL);
    (void)sigaction(SIGTERM, &usual, NULL);
    (void)sigaction(SIGCHLD, &usual, NULL);
    (void)sigprocmask(SIG_SETMASK, &watching->outside, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); // A host that is killed leaves nothing behind.
    if (getppid() != parent) {
        _exit(OUTCOME_ENVIRONMENT);
    }
    const enum outcome outcome = watch_look_run(&(struct watch_look_options){
        .program = watching->program, .options = &watching->options, .config = watching->config});

    (void)fflush(stdout);
    _exit((int)outcome);
}

static void pause_for(double seconds, const sigset_t *mask)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec =
                                      (long)((seconds - (double)(time_t)seconds) * SECOND_NS)};

    (void)ppoll(NULL, 0, &time, mask);
}

// Waits for a look to end. One that is interrupted and does not end in time is killed, as it may be
// at any moment.
static enum outcome wait_for(pid_t child, const sigset_t *mask)
{
    uint64_t end_ns = 0;
    int state = 0;

    while (waitpid(child, &state, WNOHANG) != child) {
        if (is_stopped && end_ns == 0) {
            (void)kill(child, SIGTERM);
            end_ns = clock_now_ns() + (uint64_t)(PATIENCE_S * SECOND_NS);
        }
        if (end_ns != 0 && clock_now_ns() >= end_ns) {
            (void)kill(child, SIGKILL);
        }
        pause_for(end_ns != 0 ? 0.05 : 1, mask);
    }
    if (is_stopped) {
        return OUTCOME_INTERRUPTED;
    }
    if (WIFEXITED(state)) {
        return (enum outcome)WEXITSTATUS(state);
    }
    log_line(LOG_ERROR, "a look was ended by signal %d", WTERMSIG(state));
    return OUTCOME_ENVIRONMENT;
}

static enum outcome look(struct watching *watching)
{
    const pid_t parent = getpid();

    (void)fflush(stdout); // Else both processes print what is there.
    const pid_t child = fork();

    if (child < 0) {
        return outcome_report(status_fail(
            TAPML_UNAVAILABLE, "no process can be started for a look: %s", strerror(errno)));
    }
    if (child == 0) {
        look_and_end(watching, parent);
    }
    return wait_for(child, &watching->outside);
}

// -- What to wait for --------------------------------------------------------------------------

// The files that the last look has found.
static tapml_status read_files(struct watching *watching, const char *dir)
{
    struct store *store = NULL;
    char *path = file_join(dir, "run.tapmlrun");

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = store_open_to_read(path, &store);

    if (status == TAPML_OK) {
        const char *text = metadata_get(store, LOOK_CAUSE_FILES);
        struct watched_files files = {.count = 0};

        status = watched_files_read(text != NULL ? text : "", &files);
        if (status == TAPML_OK) {
            watched_files_release(&watching->files);
            watching->files = files;
            watching->has_list = 1;
        }
    }
    store_close(store);
    alloc_free(path);
    return status;
}

// What the file says now: it may have changed since the last look.
static void read_config(struct watching *watching)
{
    struct run_config config;

    if (run_file_load(watching->config, &config) != TAPML_OK) {
        return; // The look has said why.
    }
    struct watch_settings settings = config.watch;

    if (watch_look_settle(&watching->options, &settings) == TAPML_OK) {
        watching->interval_s = settings.interval_s;
    }
    if (read_files(watching, config.dir) != TAPML_OK) {
        log_line(LOG_DEBUG, "no list of files yet: %s", status_message());
    }
    run_config_release(&config);
}

// The configuration, as it is before a look, until there is the list of one.
static tapml_status watch_config(struct watching *watching)
{
    watched_files_release(&watching->files);
    return watched_files_add(&watching->files, watching->config);
}

static enum outcome serve(struct watching *watching)
{
    for (;;) {
        const tapml_status status = watching->has_list ? TAPML_OK : watch_config(watching);
        const enum outcome outcome = status == TAPML_OK ? look(watching) : outcome_report(status);

        if (is_stopped) {
            return OUTCOME_OK; // That is how a service ends.
        }
        if (outcome == OUTCOME_USAGE && !watching->has_looked) {
            return outcome; // It was wrong from the beginning.
        }
        watching->has_looked = 1;
        read_config(watching);
        const double interval_s = (double)watching->interval_s;
        const int is_soon = outcome == OUTCOME_ENVIRONMENT && interval_s > AGAIN_S;

        watched_files_wait(&watching->files, is_soon ? AGAIN_S : interval_s, &watching->outside,
                           is_over);
        if (is_stopped) {
            return OUTCOME_OK;
        }
    }
}

// -- The command -------------------------------------------------------------------------------

static int simulates(const struct watching *watching)
{
    return options_get(&watching->options, "--simulate") != NULL;
}

// Options of the one form say nothing in the other.
static tapml_status check_form(const struct watching *watching)
{
    static const char *const of_looks[] = {"--once", "--page", NULL};
    static const char *const of_simulations[] = {"--triggers", "--ensemble", "--json", NULL};
    const char *const *strange = simulates(watching) ? of_looks : of_simulations;

    for (; *strange != NULL; strange++) {
        if (options_get(&watching->options, *strange) != NULL) {
            return status_fail(TAPML_INVALID, "%s is for a watch %s --simulate", *strange,
                               simulates(watching) ? "without" : "with");
        }
    }
    return TAPML_OK;
}

static tapml_status read_options(const struct command *command, struct watching *watching)
{
    struct watch_settings settings = {.interval_s = 1};

    TAPML_TRY(options_parse(specs, command->argc, command->argv, &watching->options));
    if (options_get(&watching->options, "--help") != NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(check_form(watching));
    if (simulates(watching)) {
        return TAPML_OK;
    }
    TAPML_TRY(options_no_plain(&watching->options));
    watching->config = options_get(&watching->options, "--config");
    if (watching->config == NULL) {
        return status_fail(TAPML_INVALID, "nothing to watch: give --config FILE");
    }
    return watch_look_settle(&watching->options, &settings);
}

enum outcome command_watch_main(const struct command *command)
{
    struct watching watching = {.program = command->program, .interval_s = (int64_t)AGAIN_S};
    const tapml_status status = read_options(command, &watching);

    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    if (options_get(&watching.options, "--help") != NULL) {
        return outcome_report(options_help(&command_watch_manual));
    }
    if (simulates(&watching)) {
        return outcome_report(watch_simulate_run(&watching.options));
    }
    take_signals(&watching.outside);
    const enum outcome outcome =
        options_get(&watching.options, "--once") != NULL ? look(&watching) : serve(&watching);

    watched_files_release(&watching.files);
    return outcome;
}
