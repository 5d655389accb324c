// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/text.h"
#include "config/options.h"
#include "dump/divergence.h"
#include "dump/divergence_report.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/dump_open.h"
#include "dump/import_map.h"
#include "dump/name_map.h"
#include "report/comparison.h"
#include "report/comparison_html.h"
#include "report/comparison_text.h"
#include "report/report_data.h"
#include "report/report_files.h"
#include "schema/catalogue.h"

#include <stdio.h>

static const struct options_spec specs[] = {
    {"--json", "FILE", "writes the comparison as JSON too"},
    {"--html", "FILE", "of two runs: writes it as a page too"},
    {"--names", "FILE", "of dumps: what tensors of the first are called in the second"},
    {"--map", "FILE", "of dumps: what computed the tensors of the first, as `import` has it"},
    {"--limit", "NMSE", "of dumps: in place of the limits by operator"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_compare_manual = {
    .usage = "tapml-host compare DIR DIR\n"
             "tapml-host compare DUMP DUMP",
    .about = "Of the folders of two runs, prints what they differ in, from their stores; "
             "needs neither their models nor a plugin and changes nothing in the folders. "
             "Names, costs, times and the steps of the offload are printed too; they do "
             "not make runs differ.\n"
             "Of two dumps of other programs, or of one and a run, names the first tensor "
             "that diverges: docs/bridges.md. Ends with 0 if both are alike, with 1 if "
             "they differ.",
    .specs = specs,
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

// -- Dumps -------------------------------------------------------------------------------------

struct comparing_dumps {
    const struct options *options;
    struct catalogue *catalogue;
    struct dump *first, *second;
    struct import_map map;
    struct name_map names;
    struct divergence divergence;
};

static tapml_status read_limit(const struct options *options,
                               struct divergence_options *out_options)
{
    const char *limit = options_get(options, "--limit");

    if (limit == NULL) {
        return TAPML_OK;
    }
    return text_parse_f64(limit, &out_options->nmse) == TAPML_OK && out_options->nmse > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--limit is '%s', expected a number above 0", limit);
}

static tapml_status open_dumps(struct comparing_dumps *comparing)
{
    const struct options *options = comparing->options;
    const char *map = options_get(options, "--map"), *names = options_get(options, "--names");

    TAPML_TRY(dump_catalogue_create(&comparing->catalogue));
    TAPML_TRY(dump_open(options->plain[0], &comparing->first));
    TAPML_TRY(dump_open(options->plain[1], &comparing->second));
    if (map != NULL) {
        TAPML_TRY(import_map_load(map, comparing->catalogue, &comparing->map));
        TAPML_TRY(import_map_annotate(&comparing->map, comparing->first));
    }
    return names != NULL ? name_map_load(names, &comparing->names) : TAPML_OK;
}

static tapml_status write_divergence(const struct comparing_dumps *comparing)
{
    const char *json = options_get(comparing->options, "--json");
    struct text text;
    json_t *document = NULL;

    text_init(&text);
    divergence_report_print(&comparing->divergence, comparing->first, comparing->second, &text);
    TAPML_TRY(text_print(&text));
    if (json == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(divergence_report_data(&comparing->divergence, comparing->first, comparing->second,
                                     &document));
    const tapml_status status = report_files_write_json(document, json);

    json_decref(document);
    return status;
}

static tapml_status compare_dumps(struct comparing_dumps *comparing)
{
    struct divergence_options find = {0};

    TAPML_TRY(read_limit(comparing->options, &find));
    TAPML_TRY(open_dumps(comparing));
    find.first = comparing->first;
    find.second = comparing->second;
    find.catalogue = comparing->catalogue;
    find.names = comparing->names.count > 0 ? &comparing->names : NULL;
    TAPML_TRY(divergence_find(&find, &comparing->divergence));
    return write_divergence(comparing);
}

static tapml_status main_dumps(const struct options *options, int *out_is_alike)
{
    struct comparing_dumps comparing = {.options = options};
    const tapml_status status = options_get(options, "--html") != NULL
                                    ? status_fail(TAPML_INVALID, "--html is of two runs")
                                    : compare_dumps(&comparing);

    *out_is_alike = comparing.divergence.first == NULL;
    divergence_release(&comparing.divergence);
    name_map_release(&comparing.names);
    import_map_release(&comparing.map);
    dump_destroy(comparing.first);
    dump_destroy(comparing.second);
    catalogue_destroy(comparing.catalogue);
    return status;
}

// -- Two runs ----------------------------------------------------------------------------------

static tapml_status main_runs(const struct options *options, int *out_is_alike)
{
    json_t *comparison = NULL;
    tapml_status status = compare(options, &comparison);

    if (status == TAPML_OK) {
        status = write_all(comparison, options);
    }
    *out_is_alike = status == TAPML_OK && comparison_is_alike(comparison);
    json_decref(comparison);
    return status;
}

// What is no dump is a run, whose reader says what is wrong with it.
static int are_dumps(const struct options *options)
{
    return !dump_open_is_run(options->plain[0]) || !dump_open_is_run(options->plain[1]);
}

enum outcome command_compare_main(const struct command *command)
{
    struct options options;
    int is_alike = 1;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_compare_manual));
    }
    if (status == TAPML_OK && options.plain_count != 2) {
        status = status_fail(TAPML_INVALID,
                             "expected the folders of two runs, or two dumps, found %zu arguments",
                             options.plain_count);
    }
    if (status == TAPML_OK) {
        status = report_files_try(options_get(&options, "--json"), options_get(&options, "--html"));
    }
    if (status == TAPML_OK) {
        status =
            are_dumps(&options) ? main_dumps(&options, &is_alike) : main_runs(&options, &is_alike);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    return is_alike ? OUTCOME_OK : OUTCOME_WRONG;
}
