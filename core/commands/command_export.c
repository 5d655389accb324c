// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/arena.h"
#include "model/checkpoint.h"
#include "run/case_export.h"
#include "run/case_onnx.h"
#include "run/case_program.h"
#include "run/case_weights.h"
#include "run/setup.h"
#include "schema/catalogue.h"
#include "store/case.h"
#include "store/limit.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/target.h"
#include "verify/compare.h"
#include "verify/replay.h"
#include "verify/verdict.h"

#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--case", "ID", "the case, as `tapml-host show STORE` lists it"},
    {"--as", "npy|pytest|c|onnx",
     "npy (default): arrays and case.json; pytest: a test beside them, too; c: one C file instead; "
     "onnx: a model with its test data"},
    {"--model", "PATH", "the weights' folder, a name or a GGUF file; by default those of the run"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_export_manual = {
    .usage = "tapml-host export STORE DIR --case ID",
    .about = "Writes a case of a store as files for people without TapML: arrays of NumPy, "
             "a description, and a test.",
    .specs = specs,
};

// A case on its way out.
struct exporting {
    const struct options *options;
    struct setup setup;
    struct store *store;
    struct arena *arena;
    struct checkpoint *checkpoint;
    struct carved_case item;
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
};

// The limits that a run has measured for the outputs of a verdict.
static tapml_status take_limits(struct exporting *exporting, const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->error_count && i < REPLAY_OUTPUTS_MAX; i++) {
        struct limit_row row = {.op = verdict->op_name,
                                .version = verdict->op_version,
                                .shape_class = verdict->shape_class,
                                .param = verdict->errors[i].param,
                                .oracle = verdict->oracle};
        int has = 0;

        TAPML_TRY(limit_find(exporting->store, &row, &has));
        if (has) {
            exporting->limits[i].ulp = row.ulp;
            exporting->limits[i].nmse = row.nmse;
            exporting->limits[i].row_error = row.row_error;
        }
    }
    return TAPML_OK;
}

static tapml_status look_at_target(struct exporting *exporting, const char *target)
{
    struct verdict_list list;
    tapml_status status = verdict_read(exporting->store, target, &list);

    TAPML_TRY(status);
    for (size_t i = 0; status == TAPML_OK && i < list.count; i++) {
        if (list.items[i].case_id == exporting->item.id) {
            status = take_limits(exporting, &list.items[i]);
        }
    }
    verdict_list_release(&list);
    return status;
}

// The floor of the op's class, and what was measured where a target has run the case.
static tapml_status find_limits(struct exporting *exporting)
{
    const struct compiled_op *schema =
        catalogue_find(registry_catalogue(exporting->setup.registry), exporting->item.op_name,
                       exporting->item.op_version);
    enum compare_class class_ = COMPARE_REDUCTION;
    struct target_row *targets = NULL;
    size_t count = 0;

    if (schema != NULL) {
        TAPML_TRY(compare_class_of(schema->op->tolerance, &class_));
    }
    for (size_t i = 0; i < REPLAY_OUTPUTS_MAX; i++) {
        exporting->limits[i] = compare_floor(class_);
    }
    TAPML_TRY(target_list(exporting->store, exporting->arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(look_at_target(exporting, targets[i].name));
    }
    return TAPML_OK;
}

enum form { FORM_NPY, FORM_PYTEST, FORM_C, FORM_ONNX };

static tapml_status read_form(const struct options *options, enum form *out_form)
{
    static const char *const words[] = {
        [FORM_NPY] = "npy", [FORM_PYTEST] = "pytest", [FORM_C] = "c", [FORM_ONNX] = "onnx"};
    const char *word = options_get(options, "--as");

    *out_form = FORM_NPY;
    for (size_t i = 0; word != NULL && i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(word, words[i]) == 0) {
            *out_form = (enum form)i;
            return TAPML_OK;
        }
    }
    return word == NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--as is '%s', expected 'npy', 'pytest', 'c' or 'onnx'",
                             word);
}

static tapml_status export_case(struct exporting *exporting, int64_t case_id, enum form form)
{
    const struct options *options = exporting->options;
    const char *folder = options->plain[1];

    exporting->arena = arena_create();
    if (exporting->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(stored_case_load(exporting->store, case_id, exporting->arena, &exporting->item));
    TAPML_TRY(case_weights_open(&exporting->setup, exporting->store,
                                options_get(options, "--model"), &exporting->checkpoint));
    TAPML_TRY(find_limits(exporting));
    const struct case_export export_ = {.item = &exporting->item,
                                        .checkpoint = exporting->checkpoint,
                                        .limits = exporting->limits,
                                        .folder = folder,
                                        .with_pytest = form == FORM_PYTEST};

    TAPML_TRY(form == FORM_C      ? case_program_write(&export_)
              : form == FORM_ONNX ? case_onnx_write(&export_)
                                  : case_export_write(&export_));
    (void)printf("%s: %s, %s, %s\n", folder, exporting->item.instance, exporting->item.op_name,
                 exporting->item.phase);
    return TAPML_OK;
}

static tapml_status run(const struct command *command, struct exporting *exporting)
{
    const struct options *options = exporting->options;
    int64_t case_id = 0;
    enum form form = FORM_NPY;

    if (options->plain_count != 2 || options_get(options, "--case") == NULL) {
        return status_fail(TAPML_INVALID, "a store, a folder and --case expected");
    }
    TAPML_TRY(options_i64(options, "--case", 0, 1, INT64_MAX, &case_id));
    TAPML_TRY(read_form(options, &form));
    TAPML_TRY(store_open_to_read(options->plain[0], &exporting->store));
    TAPML_TRY(setup_open(command->program, options, NULL, &exporting->setup));
    return export_case(exporting, case_id, form);
}

enum outcome command_export_main(const struct command *command)
{
    struct options options;
    struct exporting exporting = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_export_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &exporting);
    }
    const enum outcome outcome = outcome_report(status);

    setup_close(&exporting.setup);
    checkpoint_close(exporting.checkpoint);
    arena_destroy(exporting.arena);
    store_close(exporting.store);
    return outcome;
}
