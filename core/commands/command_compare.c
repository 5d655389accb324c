// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "config/options.h"
#include "dump/divergence.h"
#include "dump/divergence_report.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/dump_open.h"
#include "dump/import_map.h"
#include "dump/name_map.h"
#include "report/changes.h"
#include "report/changes_junit.h"
#include "report/changes_markdown.h"
#include "report/comparison.h"
#include "report/comparison_html.h"
#include "report/comparison_pair.h"
#include "report/comparison_text.h"
#include "report/matrix.h"
#include "report/matrix_html.h"
#include "report/page_link.h"
#include "report/report_data.h"
#include "report/report_files.h"
#include "report/run_folders.h"
#include "schema/catalogue.h"

#include <string.h>

static const struct options_spec specs[] = {
    {"--json", "FILE", "writes the comparison as JSON too"},
    {"--html", "FILE", "of runs: writes it as a page too"},
    {"--matrix", "FILE",
     "of runs, also of one: writes a page with operators by targets, each a link to its report"},
    {"--by", "target|device", "of --matrix: what its columns are, targets (default) or devices"},
    {"--markdown", "FILE", "of runs: writes a summary for the page that a forge shows of a job"},
    {"--junit", "FILE", "of runs: writes a JUnit file, with what became worse as failures"},
    {"--baseline", "FILE", "of runs: the failures that are known, each with reason and last day"},
    {"--write-baseline", "FILE", "of runs: writes a baseline that knows the last run's failures"},
    {"--expires", "DAY", "of what --write-baseline writes; in 90 days if absent, or never"},
    {"--fail-on", "difference|broken|slower",
     "of runs: what ends with 1: any difference (default), what became worse (default with "
     "--baseline), or that and ops that are slower"},
    {"--pair", "PAIR",
     "of runs: FIRST=SECOND, target FIRST of the first with SECOND of the others"},
    {"--names", "FILE", "of dumps: what tensors of the first are called in the second"},
    {"--map", "FILE", "of dumps: what computed the tensors of the first, as `import` has it"},
    {"--limit", "NMSE", "of dumps: in place of the limits by operator"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_compare_manual = {
    .usage = "tapml-host compare DIR DIR [DIR ...]\n"
             "tapml-host compare DIR --baseline FILE\n"
             "tapml-host compare DIR [DIR ...] --matrix FILE\n"
             "tapml-host compare DUMP DUMP",
    .about = "Of the folders of runs, in the order of time, prints what the first and the last "
             "differ in, from their stores; which verdicts have flipped and since when, which "
             "margins crept and which times moved beyond their noise; and what fails in the last "
             "one, be it new or known. A folder without a run stands for the runs in its folders. "
             "It needs neither models nor plugins and changes nothing in the folders. Names, "
             "costs, times and the steps of the offload do not make runs differ: "
             "docs/comparing.md.\n"
             "Of two dumps of other programs, or of one and a run, names the first tensor "
             "that diverges: docs/bridges.md. Ends with 0 if both are alike, with 1 if "
             "they differ.",
    .specs = specs,
};

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

// Options that say nothing of dumps.
static const char *const of_runs[] = {
    "--html",     "--matrix",         "--by",      "--markdown", "--junit",
    "--baseline", "--write-baseline", "--expires", "--fail-on",  "--pair"};

static tapml_status refuse_options(const struct options *options)
{
    for (size_t i = 0; i < sizeof(of_runs) / sizeof(*of_runs); i++) {
        if (options_get(options, of_runs[i]) != NULL) {
            return status_fail(TAPML_INVALID, "%s is of two runs", of_runs[i]);
        }
    }
    return TAPML_OK;
}

static tapml_status main_dumps(const struct options *options, int *out_is_alike)
{
    struct comparing_dumps comparing = {.options = options};
    tapml_status status = refuse_options(options);

    if (status == TAPML_OK) {
        status = compare_dumps(&comparing);
    }

    *out_is_alike = comparing.divergence.first == NULL;
    divergence_release(&comparing.divergence);
    name_map_release(&comparing.names);
    import_map_release(&comparing.map);
    dump_destroy(comparing.first);
    dump_destroy(comparing.second);
    catalogue_destroy(comparing.catalogue);
    return status;
}

// -- Runs --------------------------------------------------------------------------------------

enum { EXPIRES_DAYS = 90, DAY_TEXT = 16 };

enum fail_on { FAIL_ON_DIFFERENCE, FAIL_ON_BROKEN, FAIL_ON_SLOWER, FAIL_ON_NOTHING };

struct comparing_runs {
    const struct options *options;
    struct arena *arena;
    struct run_folders folders;
    struct comparison_side *sides;
    json_t **reports; // One for each side, which borrows it.
    int by;           // An enum matrix_by.
    struct baseline baseline;
    enum fail_on fail_on;
    json_t *comparison;
};

static tapml_status read_fail_on(struct comparing_runs *comparing)
{
    static const char *const words[] = {[FAIL_ON_DIFFERENCE] = "difference",
                                        [FAIL_ON_BROKEN] = "broken",
                                        [FAIL_ON_SLOWER] = "slower"};
    const char *word = options_get(comparing->options, "--fail-on");
    const int has_baseline = options_get(comparing->options, "--baseline") != NULL;
    const int writes = options_get(comparing->options, "--write-baseline") != NULL;

    comparing->fail_on = has_baseline ? FAIL_ON_BROKEN
                         : writes     ? FAIL_ON_NOTHING // It knows all of them.
                                      : FAIL_ON_DIFFERENCE;
    for (size_t i = 0; word != NULL && i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(word, words[i]) == 0) {
            comparing->fail_on = (enum fail_on)i;
            return TAPML_OK;
        }
    }
    return word == NULL ? TAPML_OK
                        : status_fail(TAPML_INVALID,
                                      "--fail-on is '%s', expected 'difference', 'broken' or "
                                      "'slower'",
                                      word);
}

static tapml_status find_runs(struct comparing_runs *comparing)
{
    const struct options *options = comparing->options;
    const int is_one_enough = options_get(options, "--baseline") != NULL ||
                              options_get(options, "--write-baseline") != NULL ||
                              options_get(options, "--matrix") != NULL;

    const int is_few = options->plain_count == 0 || (options->plain_count == 1 && !is_one_enough &&
                                                     !run_folders_has_any(options->plain[0]));

    for (size_t i = 0; !is_few && i < options->plain_count; i++) {
        TAPML_TRY(run_folders_add(&comparing->folders, comparing->arena, options->plain[i]));
    }
    if (is_few || comparing->folders.count < (is_one_enough ? 1U : 2U)) {
        return status_fail(TAPML_INVALID,
                           "expected the folders of two runs, or two dumps, found %zu arguments",
                           options->plain_count);
    }
    comparing->sides =
        arena_array(comparing->arena, comparing->folders.count, sizeof(*comparing->sides));
    comparing->reports = arena_array(comparing->arena, comparing->folders.count, sizeof(json_t *));
    return comparing->sides != NULL && comparing->reports != NULL ? TAPML_OK : status_no_memory();
}

// A pair of targets goes under one name, which says both.
static tapml_status pair_target(struct comparing_runs *comparing, size_t run)
{
    const char *pair = options_get(comparing->options, "--pair");
    const char *equals = pair != NULL ? strchr(pair, '=') : NULL;

    if (pair == NULL) {
        return TAPML_OK;
    }
    if (equals == NULL || equals == pair || equals[1] == '\0') {
        return status_fail(TAPML_INVALID, "--pair is '%s', expected TARGET=TARGET", pair);
    }
    const char *first = arena_format(comparing->arena, "%.*s", (int)(equals - pair), pair);

    return first != NULL
               ? comparison_pair_keep(comparing->reports[run], comparing->folders.names[run],
                                      run == 0 ? first : equals + 1, pair)
               : status_no_memory();
}

static tapml_status read_reports(struct comparing_runs *comparing)
{
    for (size_t i = 0; i < comparing->folders.count; i++) {
        const char *folder = comparing->folders.names[i];

        TAPML_TRY(report_data_read(folder, &comparing->reports[i]));
        TAPML_TRY(pair_target(comparing, i));
        comparing->sides[i] = (struct comparison_side){folder, comparing->reports[i]};
    }
    return TAPML_OK;
}

static tapml_status make_comparison(struct comparing_runs *comparing)
{
    const char *baseline = options_get(comparing->options, "--baseline");
    const size_t count = comparing->folders.count;
    const struct changes_options changes_options = {
        .runs = comparing->sides,
        .count = count,
        .baseline = baseline != NULL ? &comparing->baseline : NULL,
        .baseline_path = baseline,
    };
    json_t *changes = NULL;

    TAPML_TRY(comparison_create(&comparing->sides[0], &comparing->sides[count - 1],
                                &comparing->comparison));
    TAPML_TRY(changes_create(&changes_options, &changes));
    return json_object_set_new(comparing->comparison, "changes", changes) == 0 ? TAPML_OK
                                                                               : status_no_memory();
}

static tapml_status write_baseline(struct comparing_runs *comparing, const char *path)
{
    const char *expires = options_get(comparing->options, "--expires");
    struct failure_list failures;
    struct text text;
    char day[DAY_TEXT];

    baseline_day(clock_wall_s(), EXPIRES_DAYS, day);
    TAPML_TRY(failures_read(comparing->reports[comparing->folders.count - 1], &failures));
    text_init(&text);
    tapml_status status = baseline_print(&failures, expires != NULL ? expires : day, &text);

    if (status == TAPML_OK) {
        status = file_write(path, text.data, text.length);
    }
    text_release(&text);
    failures_release(&failures);
    return status;
}

// The reference from the page to the report of a run, NULL where its folder has none.
static tapml_status
find_link(struct comparing_runs *comparing, size_t run, const char *page, const char **out_link)
{
    const char *report =
        arena_format(comparing->arena, "%s/report.html", comparing->folders.names[run]);
    struct text link;

    *out_link = NULL;
    if (report == NULL) {
        return status_no_memory();
    }
    if (!file_exists(report)) {
        return TAPML_OK;
    }
    text_init(&link);
    const tapml_status status = page_link_print(page, report, &link);

    if (status != TAPML_OK) {
        text_release(&link);
        return status;
    }
    *out_link = text_keep(&link, comparing->arena);
    return *out_link != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status write_matrix(struct comparing_runs *comparing, const char *path)
{
    const size_t count = comparing->folders.count;
    struct matrix_run *runs = arena_array(comparing->arena, count, sizeof(*runs));
    json_t *matrix = NULL;

    if (runs == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        runs[i] = (struct matrix_run){.name = comparing->folders.names[i],
                                      .report = comparing->reports[i]};
        TAPML_TRY(find_link(comparing, i, path, &runs[i].link));
    }
    TAPML_TRY(matrix_create(
        &(struct matrix_options){.runs = runs, .count = count, .by = (enum matrix_by)comparing->by},
        &matrix));
    const tapml_status status = report_files_write_as(matrix, matrix_html_print, path);

    json_decref(matrix);
    return status;
}

static tapml_status write_all(struct comparing_runs *comparing)
{
    const json_t *comparison = comparing->comparison;
    const struct {
        const char *option;
        report_files_print_fn print;
    } views[] = {
        {"--html", comparison_html_print},
        {"--markdown", changes_markdown_print},
        {"--junit",
         comparing->fail_on == FAIL_ON_SLOWER ? changes_junit_print_timed : changes_junit_print},
    };
    const char *json = options_get(comparing->options, "--json");
    const char *baseline = options_get(comparing->options, "--write-baseline");
    const char *matrix = options_get(comparing->options, "--matrix");

    TAPML_TRY(comparison_text_print(comparison));
    TAPML_TRY(json != NULL ? report_files_write_json(comparison, json) : TAPML_OK);
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++) {
        const char *path = options_get(comparing->options, views[i].option);

        TAPML_TRY(path != NULL ? report_files_write_as(comparison, views[i].print, path)
                               : TAPML_OK);
    }
    TAPML_TRY(matrix != NULL ? write_matrix(comparing, matrix) : TAPML_OK);
    return baseline != NULL ? write_baseline(comparing, baseline) : TAPML_OK;
}

// All that can be wrong with the words, before a store is read.
static tapml_status check_options(struct comparing_runs *comparing)
{
    static const char *const files[] = {"--matrix", "--markdown", "--junit", "--write-baseline"};
    const char *baseline = options_get(comparing->options, "--baseline");
    const char *expires = options_get(comparing->options, "--expires");

    TAPML_TRY(read_fail_on(comparing));
    TAPML_TRY(options_word(comparing->options, "--by", matrix_by_words, &comparing->by));
    if (expires != NULL && strcmp(expires, "never") != 0 && !baseline_is_day(expires)) {
        return status_fail(TAPML_INVALID,
                           "--expires is '%s', expected a day such as 2027-03-31, or 'never'",
                           expires);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        const char *path = options_get(comparing->options, files[i]);

        TAPML_TRY(path != NULL ? file_try_writing(path) : TAPML_OK);
    }
    return baseline != NULL ? baseline_load(baseline, clock_wall_s(), &comparing->baseline)
                            : TAPML_OK;
}

static tapml_status compare_runs(struct comparing_runs *comparing)
{
    if (comparing->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(find_runs(comparing));
    TAPML_TRY(check_options(comparing));
    TAPML_TRY(read_reports(comparing));
    TAPML_TRY(make_comparison(comparing));
    return write_all(comparing);
}

static int is_good(const struct comparing_runs *comparing)
{
    const json_t *changes = json_object_get(comparing->comparison, "changes");

    switch (comparing->fail_on) {
    case FAIL_ON_DIFFERENCE:
        return comparison_is_alike(comparing->comparison) && !changes_has_flips(changes);
    case FAIL_ON_BROKEN:
        return !changes_is_worse(changes, 0);
    case FAIL_ON_SLOWER:
        return !changes_is_worse(changes, 1);
    case FAIL_ON_NOTHING:
        break;
    }
    return 1;
}

static tapml_status main_runs(const struct options *options, int *out_is_good)
{
    struct comparing_runs comparing = {.options = options, .arena = arena_create()};
    const tapml_status status = compare_runs(&comparing);

    *out_is_good = status == TAPML_OK && is_good(&comparing);
    for (size_t i = 0; comparing.reports != NULL && i < comparing.folders.count; i++) {
        json_decref(comparing.reports[i]);
    }
    json_decref(comparing.comparison);
    baseline_release(&comparing.baseline);
    run_folders_release(&comparing.folders);
    arena_destroy(comparing.arena);
    return status;
}

// What is no dump is a run, whose reader says what is wrong with it.
static int are_dumps(const struct options *options)
{
    int are_runs = 1;

    for (size_t i = 0; i < options->plain_count; i++) {
        are_runs &= dump_open_is_run(options->plain[i]) || run_folders_has_any(options->plain[i]);
    }
    return options->plain_count == 2 && !are_runs;
}

enum outcome command_compare_main(const struct command *command)
{
    struct options options;
    int is_good = 1;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_compare_manual));
    }
    if (status == TAPML_OK) {
        status = report_files_try(options_get(&options, "--json"), options_get(&options, "--html"));
    }
    if (status == TAPML_OK) {
        status =
            are_dumps(&options) ? main_dumps(&options, &is_good) : main_runs(&options, &is_good);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    return is_good ? OUTCOME_OK : OUTCOME_WRONG;
}
