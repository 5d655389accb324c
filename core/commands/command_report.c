// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "config/options.h"
#include "report/report.h"
#include "report/report_bottleneck.h"
#include "report/report_data.h"
#include "report/report_files.h"
#include "report/report_table.h"

#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--json", "FILE", "writes the report as JSON too"},
    {"--junit", "FILE", "writes the report as JUnit XML too, for a continuous integration"},
    {"--explain-bottleneck", NULL,
     "prints where the time went, what held the run, and what to set"},
    {"--verbose", NULL, "prints times, and what it took to find what is wrong, too"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_report_manual = {
    .usage = "tapml-host report DIR [--json FILE] [--junit FILE] [--explain-bottleneck]",
    .about = "Writes DIR/report.html from the store of a run; needs neither its model nor "
             "a plugin. Ends as the run did: 0, 1 where a target is wrong, 3 where one was "
             "given up.",
    .specs = specs,
};

static tapml_status print_bottleneck(const json_t *report)
{
    struct text text;

    text_init(&text);
    report_bottleneck_print(report, &text);
    return text_print(&text);
}

static tapml_status
write_report(const json_t *report, const char *dir, const struct options *options)
{
    const json_t *targets = json_object_get(report, "targets");
    struct report_options printing = {.dir = dir,
                                      .is_verbose = options_get(options, "--verbose") != NULL};

    for (size_t i = 0; i < json_array_size(targets); i++) {
        printing.is_later = i > 0;
        TAPML_TRY(report_print(json_array_get(targets, i), &printing));
    }
    TAPML_TRY(report_table_print(report));
    TAPML_TRY(report_print_end(report, dir));
    TAPML_TRY(options_get(options, "--explain-bottleneck") != NULL ? print_bottleneck(report)
                                                                   : TAPML_OK);
    return report_files_write(report, &(struct report_files){
                                          .dir = dir,
                                          .json = options_get(options, "--json"),
                                          .junit = options_get(options, "--junit"),
                                      });
}

// As a run with this verdict ends.
static enum outcome outcome_of_report(const json_t *report)
{
    const char *verdict = json_string_value(json_object_get(report, "verdict"));

    return strcmp(verdict, "wrong") == 0        ? OUTCOME_WRONG
           : strcmp(verdict, "incomplete") == 0 ? OUTCOME_ENVIRONMENT
                                                : OUTCOME_OK;
}

enum outcome command_report_main(const struct command *command)
{
    struct options options;
    json_t *report = NULL;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_report_manual));
    }
    if (status == TAPML_OK && options.plain_count != 1) {
        status = status_fail(TAPML_INVALID, "expected the folder of one run, found %zu arguments",
                             options.plain_count);
    }
    if (status == TAPML_OK) {
        status =
            report_files_try(options_get(&options, "--json"), options_get(&options, "--junit"));
    }
    if (status == TAPML_OK) {
        status = report_data_read(options.plain[0], &report);
    }
    if (status == TAPML_OK) {
        status = write_report(report, options.plain[0], &options);
    }
    const enum outcome outcome = status == TAPML_OK ? outcome_of_report(report) : OUTCOME_OK;

    json_decref(report);
    return status == TAPML_OK ? outcome : outcome_report(status);
}
