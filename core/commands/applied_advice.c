// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/applied_advice.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "commands/second_run.h"
#include "config/ini_edit.h"
#include "report/report_data.h"
#include "report/report_markup.h"

#include <stdio.h>
#include <string.h>

enum { CONFIG_BYTES_MAX = 1 << 20, ARGUMENTS_MAX = 64 };

// -- The file ------------------------------------------------------------------------------------

static tapml_status print_dir(const struct applied_advice *advice, struct text *out)
{
    const size_t length = strlen(advice->dir);

    text_append_bytes(out, advice->dir,
                      length > 1 && advice->dir[length - 1] == '/' ? length - 1 : length);
    text_append(out, ".applied");
    return text_status(out);
}

static tapml_status check_new(const char *path, const char *what)
{
    return file_exists(path)
               ? status_fail(TAPML_INVALID,
                             "--apply: the %s '%s' is there already; it is not written over", what,
                             path)
               : TAPML_OK;
}

tapml_status applied_advice_check(const struct applied_advice *advice)
{
    struct text dir;

    text_init(&dir);
    tapml_status status = print_dir(advice, &dir);

    if (status == TAPML_OK) {
        status = check_new(advice->into, "file");
    }
    if (status == TAPML_OK) {
        status = check_new(dir.data, "folder");
    }
    text_release(&dir);
    return status == TAPML_OK ? file_try_writing(advice->into) : status;
}

static tapml_status
write_file(const struct applied_advice *advice, const json_t *remedy, const char *dir)
{
    const char *section = report_markup_string(remedy, "section");
    const struct ini_edit edits[] = {
        {"run", "dir", dir},
        {section, report_markup_string(remedy, "key"),
         json_string_value(json_object_get(remedy, "value"))},
    };
    char *ini = NULL;
    size_t bytes = 0;
    struct text text;

    TAPML_TRY(file_read(advice->config, CONFIG_BYTES_MAX, &ini, &bytes));
    text_init(&text);
    tapml_status status = ini_edit_all(ini, edits, *section != '\0' ? 2 : 1, &text);

    if (status == TAPML_OK) {
        status = file_write(advice->into, text.data, text.length);
    }
    alloc_free(ini);
    text_release(&text);
    return status;
}

// -- The second run ------------------------------------------------------------------------------

// Whether an option is of the first run alone; `*out_takes`: a value stands behind it.
static int is_own(const char *argument, int *out_takes)
{
    static const char *const with_value[] = {"--config", "--apply",    "--json",
                                             "--junit",  "--timeline", "--trace-link"};

    *out_takes = 0;
    for (size_t i = 0; i < sizeof(with_value) / sizeof(*with_value); i++) {
        const size_t length = strlen(with_value[i]);

        if (strncmp(argument, with_value[i], length) == 0 &&
            (argument[length] == '\0' || argument[length] == '=')) {
            *out_takes = argument[length] == '\0';
            return 1;
        }
    }
    return strcmp(argument, "--explain-bottleneck") == 0;
}

static tapml_status make_arguments(const struct applied_advice *advice,
                                   const json_t *remedy,
                                   char *arguments[ARGUMENTS_MAX])
{
    static char config[] = "--config";
    const struct command *command = advice->command;
    const char *option = json_string_value(json_object_get(remedy, "option"));
    size_t count = 0;
    int takes = 0;

    arguments[count++] = (char *)(uintptr_t)command->program; // posix_spawn changes nothing of it,
    arguments[count++] = config;
    arguments[count++] = (char *)(uintptr_t)advice->into; // nor of this.
    if (option != NULL) {
        arguments[count++] = (char *)(uintptr_t)option;
    }
    for (int i = 0; i < command->argc; i++) {
        if (is_own(command->argv[i], &takes)) {
            i += takes;
        } else if (count + 1 < ARGUMENTS_MAX) {
            arguments[count++] = command->argv[i];
        } else {
            return status_fail(TAPML_INVALID, "--apply: more than %d options", ARGUMENTS_MAX);
        }
    }
    arguments[count] = NULL;
    return TAPML_OK;
}

static tapml_status run_again(const struct applied_advice *advice, const json_t *remedy)
{
    char *arguments[ARGUMENTS_MAX];
    uint64_t elapsed_ns = 0;

    if (advice->command->program == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "--apply: the file of this program is not known");
    }
    TAPML_TRY(make_arguments(advice, remedy, arguments));
    const tapml_status status =
        second_run_wait(&(struct second_run){.arguments = arguments}, &elapsed_ns);

    return status == TAPML_INTERNAL
               ? status_fail(TAPML_INTERNAL, "--apply: the run of '%s' has failed", advice->into)
               : status;
}

static tapml_status print_times(const json_t *part, const json_t *remedy, const char *dir)
{
    static const double second_ns = 1e9;
    json_t *report = NULL;

    TAPML_TRY(report_data_read(dir, &report));
    const json_t *after = json_object_get(report, "bottleneck");
    const double before_s = (double)report_markup_count(part, "elapsed_ns") / second_ns;
    const double predicted_s = (double)report_markup_count(remedy, "predicted_ns") / second_ns;
    const double measured_s = (double)report_markup_count(after, "elapsed_ns") / second_ns;

    (void)printf("\napplied: %s\nbefore %.2f s, predicted %.2f s%s, measured %.2f s (%+.0f %% of "
                 "what was predicted)\n",
                 report_markup_string(remedy, "sentence"), before_s, predicted_s,
                 json_is_true(json_object_get(remedy, "is_guess")) ? " (a guess)" : "", measured_s,
                 predicted_s > 0 ? 100 * (measured_s / predicted_s - 1) : 0);
    (void)printf("bottleneck by now: %s\n", report_markup_string(after, "sentence"));
    json_decref(report);
    return TAPML_OK;
}

tapml_status applied_advice_try(const struct applied_advice *advice, const json_t *report)
{
    const json_t *part = json_object_get(report, "bottleneck");
    const json_t *remedy = json_object_get(part, "remedy");
    struct text dir;

    if (remedy == NULL) {
        (void)printf("nothing is applied, since nothing is to be set: '%s' is not written\n",
                     advice->into);
        return TAPML_OK;
    }
    text_init(&dir);
    tapml_status status = print_dir(advice, &dir);

    if (status == TAPML_OK) {
        status = write_file(advice, remedy, dir.data);
    }
    if (status == TAPML_OK) {
        log_say("%s; running '%s'", report_markup_string(remedy, "sentence"), advice->into);
        status = run_again(advice, remedy);
    }
    if (status == TAPML_OK) {
        status = print_times(part, remedy, dir.data);
    }
    text_release(&dir);
    return status;
}
