// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-worker: one plugin in a process of its own, so that a driver that crashes, hangs or eats
// memory costs one case. tapml-host starts it; `--probe` is for people, too.

#include "config/options.h"
#include "link/child.h"
#include "link/supervisor.h"
#include "run/manual.h"
#include "run/worker.h"

#include <stdio.h>
#include <stdlib.h>

static const struct options_spec specs[] = {
    {"--probe", "PLUGIN",
     "opens a plugin's library, probes its components, or one with these options, and prints their "
     "states, devices and ops"},
    {"--under", "PROCESS", "ends when this process, which is tapml-host, does"},
    {"--serve", NULL, "runs a backend for the process that has started it"},
    {"--version", NULL, "prints the version"},
    {"--describe", NULL, "prints these options as JSON, of which manual pages are made"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

static const struct options_manual manual = {
    .usage = "tapml-worker --probe PLUGIN [COMPONENT[:DEVICE] [SETTING ...]]\n"
             "tapml-worker --under PROCESS --serve",
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

static enum outcome run(const struct options *options)
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
    (void)options_help(&manual);
    return OUTCOME_USAGE;
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
    return (int)(status == TAPML_OK ? outcome_finish(run(&options)) : outcome_report(status));
}
