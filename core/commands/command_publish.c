// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/arena.h"
#include "config/options.h"
#include "report/redaction.h"
#include "report/report_data.h"
#include "report/run_folders.h"
#include "report/site.h"

#include <stdio.h>

static const struct options_spec specs[] = {
    {"--out", "DIR", "the folder of the site: absent, empty, or a site that this has written"},
    {"--by", "target|device", "what the columns of the matrix are: targets (default) or devices"},
    {"--redact", "prompts|nothing",
     "prompts (default): leaves out that by which prompts could be guessed, and commands' paths"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_publish_manual = {
    .usage = "tapml-host publish DIR [DIR ...] --out DIR [--by target|device]",
    .about =
        "Writes a site of pages with the verdicts of runs, to share: an index with a matrix of "
        "operators by targets for each model, and the report of each run behind its cells. A "
        "folder without a run stands for the runs in its folders. Where several runs have a cell "
        "the last one counts. It needs neither models nor plugins, only reads the runs, and "
        "writes over nothing that it has not written itself: docs/publishing.md. The same runs "
        "give the same bytes.",
    .specs = specs,
};

struct publishing {
    const struct options *options;
    struct arena *arena;
    struct run_folders folders;
    struct site site;
    int by;        // An enum matrix_by.
    int keeps_all; // --redact nothing.
};

static tapml_status find_runs(struct publishing *publishing)
{
    const struct options *options = publishing->options;

    if (options->plain_count == 0 || options_get(options, "--out") == NULL) {
        return status_fail(TAPML_INVALID, "folders of runs and --out expected");
    }
    for (size_t i = 0; i < options->plain_count; i++) {
        TAPML_TRY(run_folders_add(&publishing->folders, publishing->arena, options->plain[i]));
    }
    return TAPML_OK;
}

static tapml_status add_run(struct publishing *publishing, size_t run)
{
    json_t *report = NULL;

    TAPML_TRY(interrupt_check());
    TAPML_TRY(report_data_read(publishing->folders.names[run], &report));
    const tapml_status status = !publishing->keeps_all ? redaction_apply(report) : TAPML_OK;

    if (status != TAPML_OK) {
        json_decref(report);
        return status;
    }
    return site_add(&publishing->site, run, report);
}

static tapml_status publish(struct publishing *publishing)
{
    const char *dir = options_get(publishing->options, "--out");

    if (publishing->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(options_word(publishing->options, "--by", matrix_by_words, &publishing->by));
    TAPML_TRY(
        options_word(publishing->options, "--redact", "prompts nothing", &publishing->keeps_all));
    TAPML_TRY(find_runs(publishing));
    interrupt_watch();
    TAPML_TRY(site_begin(dir, publishing->folders.names, publishing->folders.count,
                         publishing->arena, &publishing->site));
    for (size_t i = 0; i < publishing->folders.count; i++) {
        TAPML_TRY(add_run(publishing, i));
    }
    TAPML_TRY(site_end(&publishing->site, (enum matrix_by)publishing->by));
    (void)printf("%s/index.html: %zu runs\n", dir, publishing->folders.count);
    return TAPML_OK;
}

enum outcome command_publish_main(const struct command *command)
{
    struct options options;
    struct publishing publishing = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_publish_manual));
    }
    if (status == TAPML_OK) {
        publishing.arena = arena_create();
        status = publish(&publishing);
    }
    const enum outcome outcome = outcome_report(status);

    site_release(&publishing.site);
    run_folders_release(&publishing.folders);
    arena_destroy(publishing.arena);
    return outcome;
}
