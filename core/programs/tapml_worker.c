// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-worker: one plugin in a process of its own, so that a driver that crashes, hangs or eats
// memory costs one case. tapml-host starts it; `--probe` is for people, too.

#include "config/options.h"
#include "link/child.h"
#include "link/limits.h"
#include "link/supervisor.h"
#include "run/far_worker.h"
#include "run/manual.h"
#include "run/pair.h"
#include "run/worker.h"

#include <stdio.h>
#include <stdlib.h>

enum { CACHE_MIB_MAX = 1 << 24 };

static const struct options_spec specs[] = {
    {"--probe", "PLUGIN",
     "opens a plugin's library, probes its components, or one with these options, and prints their "
     "states, devices and ops"},
    {"--under", "PROCESS", "ends when this process, which is tapml-host, does"},
    {"--listen", "ADDRESS",
     "serves hosts on other machines at HOST:PORT, as [target.NAME] url of theirs says"},
    {"--dial", "URL",
     "serves the host that waits at tapml://HOST:PORT, as [target.NAME] listen of its says; may be "
     "given several times"},
    {"--cache", "DIR",
     "with --listen or --dial: keeps what hosts have sent there, in place of ~/.cache"},
    {"--cache-size", "MIB",
     "with --listen or --dial: what each host may fill of it, 8192 MiB if absent"},
    {"--pair", "ADDRESS",
     "waits at HOST:PORT for 'tapml-host pair', or calls tapml://HOST:PORT, where 'tapml-host pair "
     "--listen' waits; asks for the code"},
    {"--name", "NAME", "with --pair: what the host is called from now on"},
    {"--serve", NULL, "runs a backend for the process that has started it"},
    {"--limit-files", "N", "descriptors that it may have; 0, by default: as many as its parent"},
    {"--limit-processes", "N", "processes and threads that its user may have; 0: as its parent"},
    {"--limit-cpu", "SECONDS", "processor time that it may take; 0: as much as its parent"},
    {"--version", NULL, "prints the version"},
    {"--describe", NULL, "prints these options as JSON, of which manual pages are made"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

static const struct options_manual manual = {
    .usage = "tapml-worker --probe PLUGIN [COMPONENT[:DEVICE] [SETTING ...]]\n"
             "tapml-worker --listen ADDRESS [--cache DIR] [--cache-size MIB]\n"
             "tapml-worker --dial URL [--cache DIR] [--cache-size MIB]\n"
             "tapml-worker --pair ADDRESS [--name NAME]\n"
             "tapml-worker --under PROCESS --serve [--limit-files N] [--limit-processes N] "
             "[--limit-cpu SECONDS]",
    .about = "Runs one plugin in a process of its own, so that a driver that crashes, hangs or "
             "takes too much memory costs one case. tapml-host starts it; --probe is for people, "
             "too; a SETTING is an option of the component, as KEY=VALUE.",
    .specs = specs,
};

static enum outcome describe(void)
{
    static const struct outcome_meaning exit_codes[] = {
        {OUTCOME_OK, "success; the states that --probe prints say what was found"},
        {OUTCOME_USAGE, "usage"},
        {OUTCOME_ENVIRONMENT, "the environment lacks something"},
        {0, NULL},
    };
    const struct manual all = {
        .own = {"tapml-worker", "run one plugin of tapml-host in a process of its own", &manual},
        .exit_codes = exit_codes,
    };

    return outcome_report(manual_print(&all));
}

// A component stands alone, and behind it its options, as [component.ID] of a run has them.
static enum outcome probe(const char *plugin, const struct options *options)
{
    const char *words[OPTIONS_MAX + 1] = {NULL};

    for (size_t i = 1; i < options->plain_count; i++) {
        words[i - 1] = options->plain[i];
    }
    return worker_probe(
        &(struct worker_question){.plugin = plugin,
                                  .component = options->plain_count > 0 ? options->plain[0] : NULL,
                                  .options = words});
}

static tapml_status read_dials(const struct options *options, struct far_worker_options *worker)
{
    for (size_t i = 0; options_at(options, "--dial", i) != NULL; i++) {
        if (i == FAR_WORKER_DIALS_MAX) {
            return status_fail(TAPML_INVALID, "expected at most %d options --dial",
                               FAR_WORKER_DIALS_MAX);
        }
        worker->dials[worker->dial_count++] = options_at(options, "--dial", i);
    }
    return TAPML_OK;
}

static enum outcome serve_hosts(const char *program, const struct options *options)
{
    struct far_worker_options worker = {.program = program,
                                        .address = options_get(options, "--listen"),
                                        .cache = options_get(options, "--cache")};
    tapml_status status = options_i64(options, "--cache-size", FAR_WORKER_CACHE_MIB, 0,
                                      CACHE_MIB_MAX, &worker.cache_mib);

    status = status == TAPML_OK ? read_dials(options, &worker) : status;
    return status == TAPML_OK ? far_worker_serve(&worker) : outcome_report(status);
}

static enum outcome run(const char *program, const struct options *options)
{
    const char *plugin = options_get(options, "--probe");

    if (options_get(options, "--help") != NULL) {
        return outcome_report(options_help(&manual));
    }
    if (options_get(options, "--version") != NULL) {
        (void)puts("tapml-worker " TAPML_VERSION);
        return OUTCOME_OK;
    }
    if (options_get(options, "--describe") != NULL) {
        return describe();
    }
    if (options_get(options, "--serve") != NULL && options->plain_count == 0) {
        return worker_serve(CHILD_SOCKET);
    }
    if (plugin != NULL) {
        return probe(plugin, options);
    }
    if (options_get(options, "--listen") != NULL || options_get(options, "--dial") != NULL) {
        return serve_hosts(program, options);
    }
    if (options_get(options, "--pair") != NULL) {
        return outcome_report(
            pair_either(options_get(options, "--pair"), options_get(options, "--name")));
    }
    (void)options_help(&manual);
    return OUTCOME_USAGE;
}

// Before anything of a plugin is loaded.
static tapml_status set_limits(const struct options *options)
{
    struct worker_limits limits;

    TAPML_TRY(options_i64(options, "--limit-files", 0, 0, LIMITS_MAX, &limits.files));
    TAPML_TRY(options_i64(options, "--limit-processes", 0, 0, LIMITS_MAX, &limits.processes));
    TAPML_TRY(options_i64(options, "--limit-cpu", 0, 0, LIMITS_MAX, &limits.cpu_s));
    return limits_set(&limits);
}

int main(int argc, char **argv)
{
    struct options options;

    outcome_set_program("tapml-worker");
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &options);
    const char *parent = status == TAPML_OK ? options_get(&options, "--under") : NULL;

    if (parent != NULL) {
        status = supervisor_begin(strtol(parent, NULL, 10));
    }
    if (status == TAPML_OK) {
        status = set_limits(&options);
    }
    return (int)(status == TAPML_OK ? outcome_finish(run(argv[0], &options))
                                    : outcome_report(status));
}
