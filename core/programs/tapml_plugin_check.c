// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-plugin-check: tries a plugin's binary against the rules of the plugin ABI, each check in a
// process of its own, without the sources of the plugin or of a host.

#include "base/file.h"
#include "base/output.h"
#include "config/options.h"
#include "kit/kit_list.h"
#include "kit/kit_series.h"
#include "link/supervisor.h"
#include "report/report_files.h"
#include "run/manual.h"
#include "run/outcome.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_NOTHING = 77, SEED = 1, SOAK_S = 60, SOAK_S_MAX = 30 * 24 * 3600 };

static const struct options_spec specs[] = {
    {"--level", "static|load|contract|numerics|models|hostile|soak",
     "checks up to this level; all but soak by default"},
    {"--only", "PATTERN", "checks whose id matches, as 'E-*'; may be repeated"},
    {"--component", "ID", "one component of the plugin; all by default"},
    {"--option", "SETTING",
     "KEY=VALUE, an option of components that declare it, as in [component.ID] of a run; may be "
     "repeated"},
    {"--device", "ID", "the device of backends; the first one by default"},
    {"--expect", "FILE", "the checks that are known to fail, each with a reason"},
    {"--host-minor", "N", "stands in for a host of this minor of the ABI"},
    {"--model", "PATH",
     "the model that architectures are tried with; by default a published one that they know"},
    {"--with", "FILE",
     "another plugin, a library or its manifest: it computes what ops of this one should, or has "
     "ops that stand in their plain forms or in graphs; may be repeated"},
    {"--replay", "FILE", "judges devices by the cases of a store or a bundle, too"},
    {"--soak", "SECONDS", "how long level soak lasts on each device; 60 by default"},
    {"--seed", "N", "of sizes, offsets and bytes; 1 by default"},
    {"--json", "FILE", "writes the results as JSON, too"},
    {"--junit", "FILE", "writes them as JUnit's XML"},
    {"--tap", NULL, "prints the Test Anything Protocol instead of lines for people"},
    {"--list", NULL, "lists the checks, and makes none"},
    {"--in-process", NULL, "makes the checks in this process, for a debugger"},
    {"--make", "CHECK", "makes one check in this process and prints its result: used by itself"},
    {"--under", "PROCESS", "ends when this process does: with --make"},
    {"--describe", NULL, "prints what it takes as JSON"},
    {"--version", NULL, "prints the version"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

static const struct options_manual manual = {
    .usage =
        "tapml-plugin-check PLUGIN [--level LEVEL] [--component ID] [--device ID] [--replay FILE]",
    .about = "Checks a plugin, the library or its manifest, against the rules of the plugin ABI "
             "that a machine can see. Each check runs in a process of its own with a time limit, "
             "so a plugin that crashes or hangs fails one check.\n"
             "Exit status: 0 nothing failed, 1 something did, 2 usage, 3 the environment lacks "
             "something, 77 there is no driver or device to check.",
    .specs = specs,
};

// What is asked for, and room for the lists of it.
struct check_request {
    const struct options *options;
    struct kit_selection selection;
    const char *patterns[OPTIONS_MAX + 1], *settings[OPTIONS_MAX + 1], *others[OPTIONS_MAX + 1];
};

// -- What they came to -------------------------------------------------------------------------

static tapml_status print(void *user, const struct kit_item *item)
{
    const struct check_request *request = user;
    struct text line;

    text_init(&line);
    if (options_get(request->options, "--tap") == NULL) {
        kit_report_line(item, &line);
    }
    const tapml_status status = text_print(&line);

    (void)fflush(stdout);
    return status;
}

static tapml_status print_document(const struct options *options, const json_t *document)
{
    const char *json = options_get(options, "--json");
    const char *junit = options_get(options, "--junit");
    struct text text;

    if (json != NULL) {
        TAPML_TRY(report_files_write_json(document, json));
    }
    if (junit != NULL) {
        TAPML_TRY(report_files_write_as(document, kit_report_junit, junit));
    }
    text_init(&text);
    if (options_get(options, "--tap") != NULL) {
        kit_report_tap(document, &text);
    } else {
        kit_report_summary(document, &text);
    }
    return text_print(&text);
}

static tapml_status report(const struct options *options, const struct kit_series *series)
{
    const struct manifest *manifest = &series->subject.manifest;
    const struct kit_task *task = &series->selection.task;
    const struct kit_head head = {.plugin = series->is_read ? manifest->id : task->plugin,
                                  .build_id = series->is_read ? manifest->build_id : "",
                                  .path = task->plugin,
                                  .device = task->device != NULL ? task->device : "",
                                  .minor = task->minor,
                                  .seed = task->seed};
    json_t *document = NULL;

    TAPML_TRY(kit_report_create(&head, series->items, series->count, &document));
    const tapml_status status = print_document(options, document);

    json_decref(document);
    return status;
}

// -- The command line --------------------------------------------------------------------------

static const char *const *
take_all(const struct options *options, const char *name, const char **out_list)
{
    size_t count = 0;

    while (count < OPTIONS_MAX && (out_list[count] = options_at(options, name, count)) != NULL) {
        count++;
    }
    out_list[count] = NULL;
    return out_list;
}

static tapml_status read_options(struct check_request *request)
{
    const struct options *options = request->options;
    struct kit_selection *selection = &request->selection;
    struct kit_task *task = &selection->task;
    const char *level = options_get(options, "--level");
    int64_t minor = 0, seed = 0, soak_s = 0;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "one library or manifest expected, %zu given",
                           options->plain_count);
    }
    selection->level = level != NULL ? kit_check_find_level(level) : KIT_HOSTILE;
    if (selection->level < 0) {
        return status_fail(TAPML_INVALID,
                           "--level is '%s', expected 'static', 'load', 'contract', 'numerics', "
                           "'models', 'hostile' or 'soak'",
                           level);
    }
    TAPML_TRY(
        options_i64(options, "--host-minor", TAPML_ABI_MINOR, 0, TAPML_ABI_MINOR + 1, &minor));
    TAPML_TRY(options_i64(options, "--seed", SEED, 0, INT64_MAX, &seed));
    TAPML_TRY(options_i64(options, "--soak", SOAK_S, 1, SOAK_S_MAX, &soak_s));
    selection->patterns = take_all(options, "--only", request->patterns);
    selection->expected = options_get(options, "--expect");
    selection->in_process = options_get(options, "--in-process") != NULL;
    task->plugin = options->plain[0];
    task->component = options_get(options, "--component");
    task->device = options_get(options, "--device");
    task->replay = options_get(options, "--replay");
    task->model = options_get(options, "--model");
    task->options = take_all(options, "--option", request->settings);
    task->others = take_all(options, "--with", request->others);
    task->soak_s = (uint64_t)soak_s;
    task->minor = (uint32_t)minor;
    task->seed = (uint64_t)seed;
    return TAPML_OK;
}

// The exit status is that of what the checks came to.
static int check_plugin(const struct options *options, const struct kit_selection *selection)
{
    static const int exits[] = {[KIT_SERIES_RIGHT] = OUTCOME_OK,
                                [KIT_SERIES_WRONG] = OUTCOME_WRONG,
                                [KIT_SERIES_NOTHING] = EXIT_NOTHING};
    struct kit_series series = {.count = 0};
    tapml_status status =
        report_files_try(options_get(options, "--json"), options_get(options, "--junit"));

    if (status == TAPML_OK) {
        status = kit_series_make(selection, &series);
    }
    if (status == TAPML_OK) {
        status = report(options, &series);
    }
    const int outcome =
        status != TAPML_OK ? (int)outcome_report(status) : exits[kit_series_conclude(&series)];

    kit_series_release(&series);
    return outcome;
}

static void list(void)
{
    const struct kit_check *check = NULL;

    for (size_t i = 0; (check = kit_list_at(i)) != NULL; i++) {
        (void)printf("%-5s %-9s %s\n", check->id, kit_check_level_name(check->level), check->about);
    }
}

static enum outcome describe(void)
{
    static const struct outcome_meaning exit_codes[] = {
        {OUTCOME_OK, "nothing failed"},
        {OUTCOME_WRONG, "a check failed, crashed or timed out"},
        {OUTCOME_USAGE, "usage"},
        {OUTCOME_ENVIRONMENT, "the environment lacks something"},
        {EXIT_NOTHING, "there is no driver or device to check"},
        {0, NULL},
    };
    const struct manual all = {
        .own = {"tapml-plugin-check", "check a plugin of tapml-host by its binary", &manual},
        .exit_codes = exit_codes,
    };

    return outcome_report(manual_print(&all));
}

static int run(const struct options *options, const char *program)
{
    struct check_request request = {
        .options = options,
        .selection = {.task = {.program = program}, .made = print, .user = &request}};
    const char *make_one = options_get(options, "--make");

    if (options_get(options, "--help") != NULL) {
        return (int)outcome_report(options_help(&manual));
    }
    if (options_get(options, "--version") != NULL) {
        (void)puts("tapml-plugin-check " TAPML_VERSION);
        return OUTCOME_OK;
    }
    if (options_get(options, "--describe") != NULL) {
        return (int)describe();
    }
    if (options_get(options, "--list") != NULL) {
        list();
        return OUTCOME_OK;
    }
    const tapml_status status = read_options(&request);

    if (status != TAPML_OK || make_one == NULL) {
        return status != TAPML_OK ? (int)outcome_report(status)
                                  : check_plugin(options, &request.selection);
    }
    return (int)outcome_report(kit_process_serve(&request.selection.task, make_one));
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    struct options options;

    outcome_set_program("tapml-plugin-check");
    output_begin();
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &options);
    const char *program = file_of_program(path, sizeof(path));
    const char *parent = status == TAPML_OK ? options_get(&options, "--under") : NULL;

    if (status == TAPML_OK && program == NULL) {
        status = status_fail(TAPML_UNAVAILABLE, "/proc does not say which file runs");
    }
    if (parent != NULL) {
        status = supervisor_begin(strtol(parent, NULL, 10));
    }
    if (status != TAPML_OK) {
        return (int)outcome_report(status);
    }
    const int outcome = run(&options, program);
    const enum outcome finished = outcome_finish(OUTCOME_OK); // Whether all that was printed came.

    return finished != OUTCOME_OK && outcome == OUTCOME_OK ? (int)finished : outcome;
}
