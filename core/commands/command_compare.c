// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "config/options.h"
#include "report/comparison.h"
#include "report/comparison_html.h"
#include "report/comparison_text.h"
#include "report/report_data.h"
#include "report/report_files.h"

#include <stdio.h>

static const struct options_spec specs[] = {
    {"--json", "FILE", "writes the comparison as JSON too"},
    {"--html", "FILE", "writes it as a page too"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

static tapml_status write_all(const json_t *comparison, const struct options *options)
{
    const char *json = options_get(options, "--json"), *html = options_get(options, "--html");

    TAPML_TRY(comparison_text_print(comparison));
    if (json != NULL) {
        TAPML_TRY(report_files_write_json(comparison, json));
    }
    return html != NULL ? report_files_write_as(comparison, comparison_html_print, html) : TAPML_OK;
}

static tapml_status compare(const struct options *options, json_t **out_comparison)
{
    json_t *first = NULL, *second = NULL;
    tapml_status status = report_data_read(options->plain[0], &first);

    if (status == TAPML_OK) {
        status = report_data_read(options->plain[1], &second);
    }
    if (status == TAPML_OK) {
        status =
            comparison_create(&(struct comparison_side){options->plain[0], first},
                              &(struct comparison_side){options->plain[1], second}, out_comparison);
    }
    json_decref(first);
    json_decref(second);
    return status;
}

enum outcome command_compare_main(const struct command *command)
{
    struct options options;
    json_t *comparison = NULL;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        options_help("DIR DIR",
                     "Prints what two runs differ in, from their stores; needs neither their "
                     "models nor a plugin\nand changes nothing in the folders. Ends with 0 if the "
                     "runs are alike, with 1 if they differ.\nNames, costs, times and the steps of "
                     "the offload are printed too; they do not make runs differ.\n",
                     specs);
        return OUTCOME_OK;
    }
    if (status == TAPML_OK && options.plain_count != 2) {
        status = status_fail(TAPML_INVALID, "expected the folders of two runs, found %zu arguments",
                             options.plain_count);
    }
    if (status == TAPML_OK) {
        status = report_files_try(options_get(&options, "--json"), options_get(&options, "--html"));
    }
    if (status == TAPML_OK) {
        status = compare(&options, &comparison);
    }
    if (status == TAPML_OK) {
        status = write_all(comparison, &options);
    }
    const enum outcome outcome =
        status == TAPML_OK && !comparison_is_alike(comparison) ? OUTCOME_WRONG : OUTCOME_OK;

    json_decref(comparison);
    return status == TAPML_OK ? outcome : outcome_report(status);
}
