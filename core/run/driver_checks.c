// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/driver_checks.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "exec/place.h"
#include "plugin/registry.h"
#include "run/follow_up.h"
#include "run/forgetting.h"
#include "run/progress.h"
#include "run/vendor_program.h"
#include "store/blame.h"
#include "store/bundled.h"
#include "store/offloaded.h"
#include "store/step.h"
#include "store/store.h"
#include "verify/driver_check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const steps[] = {[DRIVER_CHECKS_BEGIN] = "driver check at the begin",
                                    [DRIVER_CHECKS_FAILURE] = "driver check after a failure",
                                    [DRIVER_CHECKS_END] = "driver check at the end"};

// A check of a target's driver, and what is written about it.
struct checked_driver {
    const struct driver_checks_options *options;
    const char *name; // Of the target.
    const char *step;
    struct driver_summary summary;
    const char *sentence; // What it came to.
    const char *repeat;   // What repeats it: seed and the trial that failed.
    const char *file;     // Of the bundle, in the folder of the run,
    const char *program;  // and of the program for the vendor; NULL: there is none.
    const char *command;  // For a shell in that folder.
    uint64_t time_ns;
    struct arena *arena;
};

// -- Texts -------------------------------------------------------------------------------------

static const char *name_of_failed(const struct checked_driver *checked)
{
    return driver_check_name(checked->summary.failed);
}

// No time is part of it: the same driver gives the same sentence.
static const char *print_sentence(const struct checked_driver *checked)
{
    const struct driver_summary *summary = &checked->summary;

    return summary->is_wrong ? arena_format(checked->arena, "'%s' fails: %s",
                                            name_of_failed(checked), summary->failure.reason)
                             : arena_format(checked->arena,
                                            "%zu checks of memory and queue passed in %" PRIu64
                                            " trials, %zu skipped",
                                            summary->passed, summary->trials, summary->skipped);
}

static const char *print_repeat(const struct checked_driver *checked)
{
    const struct driver_result *failure = &checked->summary.failure;

    return arena_format(checked->arena, "seed %d, trial %" PRIu64 ": %" PRIu64 " bytes at %" PRIu64,
                        DRIVER_CHECK_SEED, failure->trials, failure->size, failure->offset);
}

// The run's INI has the options of the component, the isolation, and the injected faults.
static const char *print_command(const struct checked_driver *checked)
{
    struct text command;

    text_init(&command);
    text_append(&command, "tapml-host replay ");
    text_append_shell(&command, checked->file);
    text_append(&command, " --config ");
    follow_up_print_path(checked->options->config, &command);
    text_append(&command, " --target ");
    text_append_shell(&command, checked->name);
    text_append(&command, checked->options->arguments);
    const char *made = command.failed ? NULL : arena_text(checked->arena, command.data);

    text_release(&command);
    return made;
}

static tapml_status print_texts(struct checked_driver *checked)
{
    checked->sentence = print_sentence(checked);
    checked->repeat = print_repeat(checked);
    return checked->sentence != NULL && checked->repeat != NULL ? TAPML_OK : status_no_memory();
}

// -- The bundle --------------------------------------------------------------------------------

static tapml_status print_bundle_texts(struct checked_driver *checked)
{
    checked->file =
        arena_format(checked->arena, "FAULT-%u.tapmlrun", *checked->options->io_bundles);
    checked->command = checked->file != NULL ? print_command(checked) : NULL;
    return checked->command != NULL ? TAPML_OK : status_no_memory();
}

// Writes bundle and program to `path` and beside it.
static tapml_status write_files(struct checked_driver *checked, const char *path)
{
    const struct driver_checks_options *options = checked->options;
    const struct driver_bundle_options what = {.path = path,
                                               .place = options->place,
                                               .check = checked->summary.failed,
                                               .seed = DRIVER_CHECK_SEED,
                                               .failure = &checked->summary.failure};
    const char *program = vendor_program_path(path, checked->arena);
    const char *name = vendor_program_path(checked->file, checked->arena);
    int has_program = 0;

    if (program == NULL || name == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(driver_bundle_write(&what));
    TAPML_TRY(vendor_program_write(&what, options->registry, program, &has_program));
    checked->program = has_program ? name : NULL;
    return TAPML_OK;
}

// Each start counts the bundle of a driver that is wrong, and writes it anew.
static tapml_status write_bundle(struct checked_driver *checked)
{
    *checked->options->io_bundles += 1;
    TAPML_TRY(print_bundle_texts(checked));
    const char *path = arena_format(checked->arena, "%s/%s", checked->options->dir, checked->file);

    return path != NULL ? write_files(checked, path) : status_no_memory();
}

// In place of those of an earlier start.
static tapml_status write_bundle_rows(const struct checked_driver *checked)
{
    struct store *store = checked->options->store;

    TAPML_TRY(bundled_forget(store, checked->name));
    if (checked->file == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(bundled_write(store, checked->name,
                            &(struct bundled_row){.instance = BLAME_DRIVER,
                                                  .file = checked->file,
                                                  .shape_class = "",
                                                  .command = checked->command}));
    return checked->program != NULL
               ? bundled_write(store, checked->name,
                               &(struct bundled_row){.instance = BUNDLED_PROGRAM,
                                                     .file = checked->program,
                                                     .shape_class = "",
                                                     .command = ""})
               : TAPML_OK;
}

// -- Rows --------------------------------------------------------------------------------------

// The row about the driver that an earlier start has written, or NULL.
static tapml_status find_blame(const struct checked_driver *checked,
                               const struct blame_row **out_blame)
{
    struct blame_row *rows = NULL;
    size_t count = 0;

    *out_blame = NULL;
    TAPML_TRY(blame_list(checked->options->store, checked->name, checked->arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        if (blame_is_driver(&rows[i])) {
            *out_blame = &rows[i];
        }
    }
    return TAPML_OK;
}

static tapml_status write_step(const struct checked_driver *checked)
{
    ASSERT(checked->sentence != NULL);
    const struct step_row row = {.target = checked->name,
                                 .step = checked->step,
                                 .verdict = checked->summary.is_wrong ? STEP_FAILED : STEP_PASSED,
                                 .reason = checked->sentence,
                                 .plan = "",
                                 .margin = NAN,
                                 .time_ns = checked->time_ns};
    struct step_row known;
    const tapml_status status =
        step_find(checked->options->store, checked->name, checked->step, checked->arena, &known);

    if (status != TAPML_NOT_FOUND &&
        (status != TAPML_OK ||
         (strcmp(known.verdict, row.verdict) == 0 && strcmp(known.reason, row.reason) == 0))) {
        return status;
    }
    return step_add(checked->options->store, &row);
}

static tapml_status write_offload(const struct checked_driver *checked)
{
    struct store *store = checked->options->store;
    const char *sentence =
        arena_format(checked->arena, "not judged: the driver is wrong: %s", checked->sentence);

    if (sentence == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(offloaded_write(store, &(struct offloaded_row){.target = checked->name,
                                                             .margin = NAN,
                                                             .sentence = sentence,
                                                             .unexplained = "",
                                                             .plan = DRIVER_CHECKS_PLAN}));
    return offloaded_finish(store, checked->name);
}

// Blames the driver, and nothing else.
static tapml_status write_blame(const struct checked_driver *checked)
{
    struct store *store = checked->options->store;

    TAPML_TRY(forgetting_results(store, checked->name));
    TAPML_TRY(forgetting_steps(store, checked->name));
    TAPML_TRY(write_step(checked));
    TAPML_TRY(blame_write(store, checked->name,
                          &(struct blame_row){.instance = BLAME_DRIVER,
                                              .kind = BLAME_ALONE,
                                              .margin = NAN,
                                              .reason = checked->summary.failure.reason,
                                              .evidence = "",
                                              .source = name_of_failed(checked),
                                              .label = checked->repeat,
                                              .tried = 1,
                                              .failed = 1}));
    TAPML_TRY(write_bundle_rows(checked));
    return write_offload(checked);
}

// An earlier start may have written the same, or something else.
static tapml_status write_rows(const struct checked_driver *checked)
{
    const struct blame_row *known = NULL;

    TAPML_TRY(find_blame(checked, &known));
    if (checked->summary.is_wrong) {
        const int is_same = known != NULL && strcmp(known->source, name_of_failed(checked)) == 0 &&
                            strcmp(known->reason, checked->summary.failure.reason) == 0;

        return is_same ? write_bundle_rows(checked) : write_blame(checked);
    }
    if (known != NULL) { // It passes now: all is judged anew.
        TAPML_TRY(forgetting_steps(checked->options->store, checked->name));
    }
    return write_step(checked);
}

static tapml_status write_at_once(const struct checked_driver *checked)
{
    struct store *store = checked->options->store;

    TAPML_TRY(store_begin(store));
    tapml_status status = write_rows(checked);

    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

// -- The check ---------------------------------------------------------------------------------

static tapml_status check(struct checked_driver *checked)
{
    const uint64_t begin_ns = clock_now_ns();
    struct progress progress;
    char phase[160];

    (void)snprintf(phase, sizeof(phase), "driver of %s", checked->name);
    progress_begin(&progress, phase, 0);
    TAPML_TRY(driver_check_all(driver_check_backend(checked->options->place),
                               registry_catalogue(checked->options->registry), DRIVER_CHECK_SEED,
                               &checked->summary));
    checked->time_ns = clock_now_ns() - begin_ns;
    TAPML_TRY(print_texts(checked));
    progress_end(&progress, "%s", checked->sentence);
    if (checked->summary.is_wrong && checked->options->io_bundles != NULL) {
        TAPML_TRY(write_bundle(checked));
    }
    return write_at_once(checked);
}

tapml_status driver_checks_make(const struct driver_checks_options *options,
                                enum driver_checks_moment moment,
                                int *out_is_wrong)
{
    struct checked_driver checked = {.options = options,
                                     .name = options->place->settings.name,
                                     .step = steps[moment],
                                     .arena = arena_create()};
    const tapml_status status = checked.arena != NULL ? check(&checked) : status_no_memory();

    arena_destroy(checked.arena);
    TAPML_TRY(status);
    *out_is_wrong = checked.summary.is_wrong;
    return TAPML_OK;
}

tapml_status driver_checks_find(struct store *store,
                                const char *target,
                                enum driver_checks_moment moment,
                                int *out_is_made)
{
    struct arena *arena = arena_create();
    struct step_row row;

    if (arena == NULL) {
        return status_no_memory();
    }
    const tapml_status status = step_find(store, target, steps[moment], arena, &row);

    arena_destroy(arena);
    *out_is_made = status == TAPML_OK;
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}
