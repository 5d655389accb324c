// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "config/options.h"
#include "report/querying.h"

#include <stdio.h>

enum { SECONDS = 60, MEMORY_MIB = 1024, ROWS = 100000, MOST = 1000000000 };

static const struct options_spec specs[] = {
    {"--csv", NULL, "prints the rows as CSV, behind a line of names"},
    {"--json", NULL, "prints the rows as JSON: an array with an object for each"},
    {"--views", NULL, "prints the views and their columns, and asks nothing"},
    {"--seconds", "N", "the query may take; 60 if absent"},
    {"--memory", "N", "MiB that the query may take; 1024 if absent"},
    {"--rows", "N", "that are printed at most; 100000 if absent"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_query_manual = {
    .usage = "tapml-host query DIR [DIR ...] SQL\n"
             "tapml-host query --views",
    .about =
        "Answers a question in SQL over the runs in the folders. A folder without a run stands "
        "for the runs in its folders. The last argument is one SELECT of SQLite over the views "
        "verdicts, cases, ops, targets, runs and derived, each of whose rows says in column "
        "'run' which folder it is of. Verdicts are those of 'tapml-host report'.\n"
        "The query reads and does nothing else. A query that takes too long or too much memory "
        "ends with 3 and prints nothing; one with more rows prints the first ones, and ends "
        "with 3.",
    .specs = specs,
};

static tapml_status take_options(const struct options *options, struct querying_options *out)
{
    const int is_csv = options_get(options, "--csv") != NULL;
    const int is_json = options_get(options, "--json") != NULL;

    TAPML_TRY(options_i64(options, "--seconds", SECONDS, 1, MOST, &out->seconds));
    TAPML_TRY(options_i64(options, "--memory", MEMORY_MIB, 1, MOST, &out->memory_mib));
    TAPML_TRY(options_i64(options, "--rows", ROWS, 1, MOST, &out->rows));
    if (is_csv && is_json) {
        return status_fail(TAPML_INVALID, "--csv and --json are two forms: one is expected");
    }
    if (options->plain_count < 2) {
        return status_fail(TAPML_INVALID,
                           "expected folders of runs and a query behind them, found %zu arguments",
                           options->plain_count);
    }
    out->form = is_csv ? QUERY_FORM_CSV : is_json ? QUERY_FORM_JSON : QUERY_FORM_TABLE;
    out->folders = options->plain;
    out->folder_count = options->plain_count - 1;
    out->sql = options->plain[options->plain_count - 1];
    return TAPML_OK;
}

// Rows that there are have been asked for, even if there would be more.
static tapml_status run(const struct options *options)
{
    struct querying_options querying = {.take = NULL};
    struct text text;

    TAPML_TRY(take_options(options, &querying));
    interrupt_watch();
    text_init(&text);
    const tapml_status status = querying_run(&querying, &text);

    (void)fwrite(text.data, 1, text.length, stdout); // `output_check` says whether it arrived.
    text_release(&text);
    return status;
}

static tapml_status print_views(const struct options *options)
{
    struct text text;

    TAPML_TRY(options_no_plain(options));
    text_init(&text);
    querying_print_views(&text);
    return text_print(&text);
}

enum outcome command_query_main(const struct command *command)
{
    struct options options;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_query_manual));
    }
    if (status == TAPML_OK) {
        status = options_get(&options, "--views") != NULL ? print_views(&options) : run(&options);
    }
    return outcome_report(status);
}
