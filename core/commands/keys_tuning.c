// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/keys_tuning.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/ini.h"
#include "base/text.h"
#include "commands/second_run.h"
#include "config/ini_edit.h"
#include "report/comparison.h"
#include "report/report_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_BYTES_MAX = 1 << 20, RUNS = 2, WORDS_BYTES_MAX = 1 << 20 };

struct keys_work {
    const struct keys_tuning_options *options;
    struct arena *arena;
    const struct host_knobs *knobs;
    const char *ini;    // The text of the run's file.
    const char *folder; // Where runs are tried,
    const char *dir;    // the folder of a run in it, which goes after each,
    const char *output; // what it prints,
    const char *file;   // and what it runs by, beside the run's file, whose relative paths it has.
    json_t *report;     // Of the file as it is; NULL before it ran.
    size_t all;
};

// -- The file of a run ---------------------------------------------------------------------------

// Writes the run's file with the values of a combination; `dir`: with another folder; or NULL.
static tapml_status write_file(const struct host_knobs *knobs,
                               const char *ini,
                               uint32_t number,
                               const char *dir,
                               const char *path)
{
    struct arena *arena = arena_create();
    struct ini_edit *edits = NULL;
    size_t count = knobs->space.count;
    struct text text;

    if (arena == NULL) {
        return status_no_memory();
    }
    text_init(&text);
    tapml_status status = host_knobs_edits(knobs, number, arena, &edits);

    if (status == TAPML_OK) {
        if (dir != NULL) {
            edits[count++] = (struct ini_edit){"run", "dir", dir};
        }
        status = ini_edit_all(ini, edits, count, &text);
    }
    if (status == TAPML_OK) {
        status = file_write(path, text.data, text.length);
    }
    text_release(&text);
    arena_destroy(arena);
    return status;
}

// -- A run ---------------------------------------------------------------------------------------

// The last line of what it has printed says why it failed.
static void take_last_line(const struct keys_work *work, struct tuning_trial_outcome *outcome)
{
    char *words = NULL;
    size_t size = 0;

    (void)snprintf(outcome->wrong, sizeof(outcome->wrong), "%s", status_message());
    if (file_read(work->output, WORDS_BYTES_MAX, &words, &size) == TAPML_OK) {
        while (size > 0 && words[size - 1] == '\n') {
            words[--size] = '\0';
        }
        const char *line = strrchr(words, '\n');

        if (size > 0) {
            (void)snprintf(outcome->wrong, sizeof(outcome->wrong), "%s",
                           line != NULL ? line + 1 : words);
        }
    }
    alloc_free(words);
}

// What the run says beside times and costs has to be what the file as it is says. Takes the report.
static tapml_status
check_report(struct keys_work *work, json_t *report, struct tuning_trial_outcome *outcome)
{
    json_t *comparison = NULL;

    if (work->report == NULL) {
        work->report = report;
        return TAPML_OK;
    }
    const tapml_status status =
        comparison_create(&(struct comparison_side){"first", work->report},
                          &(struct comparison_side){"second", report}, &comparison);

    if (status == TAPML_OK && !comparison_is_alike(comparison)) {
        (void)snprintf(outcome->wrong, sizeof(outcome->wrong), "its report says something else");
    }
    json_decref(comparison);
    json_decref(report);
    return status;
}

// Runs by the file once.
static tapml_status run_once(struct keys_work *work, struct tuning_trial_outcome *io_outcome)
{
    char *const arguments[] = {(char *)(uintptr_t)work->options->command->program,
                               (char *)(uintptr_t) "--config", (char *)(uintptr_t)work->file,
                               NULL}; // Of which nothing is changed.
    json_t *report = NULL;
    uint64_t elapsed_ns = 0;

    folder_remove(work->dir);
    tapml_status status =
        second_run_wait(&(struct second_run){arguments, work->output}, &elapsed_ns);

    if (status == TAPML_INTERNAL) {
        take_last_line(work, io_outcome);
        return TAPML_OK;
    }
    TAPML_TRY(status);
    TAPML_TRY(report_data_read(work->dir, &report));
    if (io_outcome->time_ns == 0 || elapsed_ns < io_outcome->time_ns) {
        io_outcome->time_ns = elapsed_ns;
    }
    return check_report(work, report, io_outcome);
}

// Runs by a combination, the faster of two times.
static tapml_status
run_by(struct keys_work *work, uint32_t number, struct tuning_trial_outcome *out_outcome)
{
    *out_outcome = (struct tuning_trial_outcome){.time_ns = 0};
    TAPML_TRY(write_file(work->knobs, work->ini, number, work->dir, work->file));
    for (int i = 0; i < RUNS && out_outcome->wrong[0] == '\0'; i++) {
        TAPML_TRY(run_once(work, out_outcome));
    }
    return TAPML_OK;
}

// The file as it is runs first in each start, so that there is a report to compare with.
static tapml_status
attempt(void *user, uint32_t number, const char *values, struct tuning_trial_outcome *out_outcome)
{
    struct keys_work *work = user;
    const uint32_t own = knobs_chosen(&work->knobs->space);

    (void)values;
    if (number != own && work->report == NULL) {
        TAPML_TRY(run_by(work, own, out_outcome));
    }
    if (number == own || work->report != NULL) {
        TAPML_TRY(run_by(work, number, out_outcome));
    }
    return work->report != NULL ? TAPML_OK
                                : status_fail(TAPML_PRECONDITION, "'%s' does not run as it is: %s",
                                              work->options->config->path, out_outcome->wrong);
}

static tapml_status show(void *user, size_t now, const char *values, const char *outcome)
{
    const struct keys_work *work = user;
    const struct keys_tuning_options *options = work->options;

    return options->progress(options->user, now, work->all, values, outcome);
}

// -- All of it -----------------------------------------------------------------------------------

// A folder beside that of the run, on the same disk, and a file beside the run's.
static tapml_status make_scratch(struct keys_work *work)
{
    const char *dir = work->options->config->dir, *path = work->options->config->path;
    size_t length = strlen(dir);
    struct text text;

    while (length > 1 && dir[length - 1] == '/') {
        length--;
    }
    text_init(&text);
    text_append_bytes(&text, dir, length);
    text_append(&text, ".tune.XXXXXX");
    tapml_status status = text_status(&text);

    if (status == TAPML_OK && mkdtemp(text.data) == NULL) {
        status = status_fail(TAPML_UNAVAILABLE, "cannot make the folder '%s': %s", text.data,
                             strerror(errno));
    }
    if (status == TAPML_OK) {
        const char *ending = text.data + text.length - 6; // The random letters.

        work->folder = arena_text(work->arena, text.data);
        work->dir = arena_format(work->arena, "%s/run", text.data);
        work->output = arena_format(work->arena, "%s/output", text.data);
        work->file = arena_format(work->arena, "%s.tune.%s", path, ending);
        status =
            work->folder != NULL && work->dir != NULL && work->output != NULL && work->file != NULL
                ? TAPML_OK
                : status_no_memory();
    }
    text_release(&text);
    return status;
}

static void remove_scratch(const struct keys_work *work)
{
    if (work->folder != NULL) {
        folder_remove(work->folder);
    }
    if (work->file != NULL) {
        (void)unlink(work->file);
    }
}

static tapml_status tune(struct keys_work *work, struct keys_tuning *out_tuning)
{
    const struct keys_tuning_options *options = work->options;
    const struct knob_space *space = &work->knobs->space;

    work->all = options->trials < space->legal_count ? options->trials : space->legal_count;
    TAPML_TRY(make_scratch(work));
    return tuning_trials_run(
        &(struct tuning_trials_options){.key = {.component = "tapml-host",
                                                .device = "host",
                                                .driver = TAPML_VERSION,
                                                .op = "run",
                                                .version = 1,
                                                .digest = "keys",
                                                .shape_class = space->shape_class},
                                        .space = space,
                                        .chooser = options->chooser,
                                        .trials = options->trials,
                                        .seed = options->seed,
                                        .attempt = attempt,
                                        .progress = show,
                                        .user = work},
        work->arena, &out_tuning->result);
}

tapml_status keys_tuning_run(const struct keys_tuning_options *options,
                             struct arena *arena,
                             struct keys_tuning *out_tuning)
{
    struct keys_work work = {.options = options, .arena = arena, .knobs = &out_tuning->knobs};
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    char *ini = NULL;
    size_t bytes = 0;

    if (options->command->program == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "--keys: the file of this program is not known");
    }
    TAPML_TRY(host_knobs_find(options->config, processors > 0 ? (size_t)processors : 1, arena,
                              &out_tuning->knobs));
    TAPML_TRY(file_read(options->config->path, CONFIG_BYTES_MAX, &ini, &bytes));
    work.ini = ini;
    const tapml_status status = tune(&work, out_tuning);

    remove_scratch(&work);
    json_decref(work.report);
    alloc_free(ini);
    return status;
}

static tapml_status find_winner(const struct keys_tuning *tuning, uint32_t *out_number)
{
    struct arena *arena = arena_create();
    tapml_setting setting;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = knobs_read("*", tuning->result.winner, arena, &setting);

    if (status == TAPML_OK) {
        status = knobs_find(&tuning->knobs.space, &setting, out_number);
    }
    arena_destroy(arena);
    return status;
}

tapml_status keys_tuning_write(const struct run_config *config,
                               const struct keys_tuning *tuning,
                               const char *path)
{
    uint32_t number = 0;
    char *ini = NULL;
    size_t bytes = 0;

    TAPML_TRY(find_winner(tuning, &number));
    TAPML_TRY(file_read(config->path, CONFIG_BYTES_MAX, &ini, &bytes));
    const tapml_status status = write_file(&tuning->knobs, ini, number, NULL, path);

    alloc_free(ini);
    return status;
}
