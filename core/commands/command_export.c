// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "run/case_export.h"
#include "run/case_onnx.h"
#include "run/case_program.h"
#include "run/case_tensors.h"
#include "run/case_weights.h"
#include "run/interrupt.h"
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
#include <stdlib.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--case", "ID",
     "the case, as `tapml-host show STORE` lists it; of safetensors several may be given, and all "
     "are taken if none is"},
    {"--as", "npy|pytest|c|onnx|safetensors",
     "npy (default): arrays and case.json; pytest: a test beside them, too; c: one C file instead; "
     "onnx: a model with its test data; safetensors: one file, cases.safetensors, of all cases"},
    {"--model", "PATH", "the weights' folder, a name or a GGUF file; by default those of the run"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_export_manual = {
    .usage = "tapml-host export STORE DIR --case ID\n"
             "tapml-host export STORE DIR --as safetensors [--case ID ...]",
    .about = "Writes a case of a store as files for people without TapML: arrays of NumPy, "
             "a description, and a test; or all cases as one file of safetensors.",
    .specs = specs,
};

// Cases on their way out.
struct exporting {
    const struct options *options;
    struct setup setup;
    struct store *store;
    struct arena *arena; // Of all cases.
    struct checkpoint *checkpoint;
    struct verdict_list *verdicts; // Of each target, in the order of its cases.
    size_t target_count;
};

// -- Limits ------------------------------------------------------------------------------------

static tapml_status read_targets(struct exporting *exporting)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(exporting->store, exporting->arena, &targets, &count));
    exporting->verdicts = arena_array(exporting->arena, count + 1, sizeof(*exporting->verdicts));
    if (exporting->verdicts == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(verdict_read(exporting->store, targets[i].name, &exporting->verdicts[i]));
        exporting->target_count++;
    }
    return TAPML_OK;
}

static int compare_case(const void *key, const void *item)
{
    const int64_t id = *(const int64_t *)key, other = ((const struct verdict *)item)->case_id;

    return id < other ? -1 : id > other;
}

// The limits that a run has measured for the outputs of a verdict.
static tapml_status take_limits(const struct exporting *exporting,
                                const struct verdict *verdict,
                                struct compare_limit *io_limits)
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
            io_limits[i].ulp = row.ulp;
            io_limits[i].nmse = row.nmse;
            io_limits[i].row_error = row.row_error;
        }
    }
    return TAPML_OK;
}

// The floor of the op's class, and what was measured where a target has run the case.
static tapml_status find_limits(const struct exporting *exporting,
                                const struct carved_case *item,
                                struct compare_limit out_limits[REPLAY_OUTPUTS_MAX])
{
    const struct compiled_op *schema = catalogue_find(registry_catalogue(exporting->setup.registry),
                                                      item->op_name, item->op_version);
    enum compare_class class_ = COMPARE_REDUCTION;

    if (schema != NULL) {
        TAPML_TRY(compare_class_of(schema->op->tolerance, &class_));
    }
    for (size_t i = 0; i < REPLAY_OUTPUTS_MAX; i++) {
        out_limits[i] = compare_floor(class_);
    }
    for (size_t i = 0; i < exporting->target_count; i++) {
        const struct verdict_list *list = &exporting->verdicts[i];
        const struct verdict *verdict =
            list->count > 0
                ? bsearch(&item->id, list->items, list->count, sizeof(*list->items), compare_case)
                : NULL;

        TAPML_TRY(verdict != NULL ? take_limits(exporting, verdict, out_limits) : TAPML_OK);
    }
    return TAPML_OK;
}

// -- Cases -------------------------------------------------------------------------------------

enum form { FORM_NPY, FORM_PYTEST, FORM_C, FORM_ONNX, FORM_SAFETENSORS };

static tapml_status read_form(const struct options *options, enum form *out_form)
{
    static const char *const words[] = {[FORM_NPY] = "npy",
                                        [FORM_PYTEST] = "pytest",
                                        [FORM_C] = "c",
                                        [FORM_ONNX] = "onnx",
                                        [FORM_SAFETENSORS] = "safetensors"};
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
               : status_fail(TAPML_INVALID,
                             "--as is '%s', expected 'npy', 'pytest', 'c', 'onnx' or 'safetensors'",
                             word);
}

static tapml_status write_one(const struct case_export *export_, enum form form)
{
    return form == FORM_C      ? case_program_write(export_)
           : form == FORM_ONNX ? case_onnx_write(export_)
                               : case_export_write(export_);
}

static tapml_status export_case(struct exporting *exporting, int64_t case_id, enum form form)
{
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct carved_case item;

    TAPML_TRY(stored_case_load(exporting->store, case_id, exporting->arena, &item));
    TAPML_TRY(find_limits(exporting, &item, limits));
    const struct case_export export_ = {.item = &item,
                                        .checkpoint = exporting->checkpoint,
                                        .limits = limits,
                                        .folder = exporting->options->plain[1],
                                        .with_pytest = form == FORM_PYTEST};

    TAPML_TRY(write_one(&export_, form));
    (void)printf("%s: %s, %s, %s\n", export_.folder, item.instance, item.op_name, item.phase);
    return TAPML_OK;
}

// A case is loaded into an arena of its own, since its contents may be large.
static tapml_status
add_case(struct exporting *exporting, int64_t case_id, struct case_tensors *tensors)
{
    struct arena *arena = arena_create();
    struct compare_limit limits[REPLAY_OUTPUTS_MAX];
    struct carved_case item;
    tapml_status status = arena != NULL ? stored_case_load(exporting->store, case_id, arena, &item)
                                        : status_no_memory();

    if (status == TAPML_OK) {
        status = find_limits(exporting, &item, limits);
    }
    if (status == TAPML_OK) {
        status = case_tensors_add(
            tensors, &(struct case_export){
                         .item = &item, .checkpoint = exporting->checkpoint, .limits = limits});
    }
    arena_destroy(arena);
    return status;
}

static tapml_status
add_cases(struct exporting *exporting, struct case_tensors *tensors, size_t *out_count)
{
    const struct options *options = exporting->options;
    const char *word = NULL;
    int64_t *ids = NULL;
    size_t count = 0;
    tapml_status status = TAPML_OK;

    for (; (word = options_at(options, "--case", count)) != NULL; count++) {
        int64_t id = 0;

        if (text_parse_i64(word, &id) != TAPML_OK || id < 1) {
            return status_fail(TAPML_INVALID, "--case is '%.40s', expected the number of a case",
                               word);
        }
        TAPML_TRY(add_case(exporting, id, tensors));
    }
    *out_count = count;
    if (count > 0) {
        return TAPML_OK;
    }
    TAPML_TRY(stored_case_ids(exporting->store, &ids, out_count));
    for (size_t i = 0; status == TAPML_OK && i < *out_count; i++) {
        status = interrupt_check();
        status = status == TAPML_OK ? add_case(exporting, ids[i], tensors) : status;
    }
    alloc_free(ids);
    return status;
}

static tapml_status write_tensors(struct exporting *exporting, struct case_tensors *tensors)
{
    const char *folder = exporting->options->plain[1];
    size_t count = 0;

    TAPML_TRY(file_make_folder(folder));
    char *path = file_join(folder, "cases.safetensors");
    tapml_status status = path != NULL ? file_try_writing(path) : status_no_memory();

    if (status == TAPML_OK) {
        status = add_cases(exporting, tensors, &count);
    }
    if (status == TAPML_OK && count == 0) {
        status =
            status_fail(TAPML_NOT_FOUND, "store '%s' has no cases", exporting->options->plain[0]);
    }
    if (status == TAPML_OK) {
        status = case_tensors_write(tensors, path);
    }
    if (status == TAPML_OK) {
        (void)printf("%s: %zu cases\n", path, count);
    }
    alloc_free(path);
    return status;
}

static tapml_status export_all(struct exporting *exporting)
{
    struct case_tensors *tensors = NULL;

    interrupt_watch();
    TAPML_TRY(case_tensors_create(&tensors));
    const tapml_status status = write_tensors(exporting, tensors);

    case_tensors_destroy(tensors);
    return status;
}

static tapml_status export_form(struct exporting *exporting, int64_t case_id, enum form form)
{
    exporting->arena = arena_create();
    if (exporting->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(store_begin_to_read(exporting->store));
    TAPML_TRY(case_weights_open(&exporting->setup, exporting->store,
                                options_get(exporting->options, "--model"),
                                &exporting->checkpoint));
    TAPML_TRY(read_targets(exporting));
    return form == FORM_SAFETENSORS ? export_all(exporting) : export_case(exporting, case_id, form);
}

static tapml_status run(const struct command *command, struct exporting *exporting)
{
    const struct options *options = exporting->options;
    int64_t case_id = 0;
    enum form form = FORM_NPY;

    TAPML_TRY(read_form(options, &form));
    if (options->plain_count != 2 ||
        (form != FORM_SAFETENSORS && options_get(options, "--case") == NULL)) {
        return status_fail(TAPML_INVALID, "a store, a folder and --case expected");
    }
    if (form != FORM_SAFETENSORS && options_at(options, "--case", 1) != NULL) {
        return status_fail(TAPML_INVALID, "--case is there twice, and --as safetensors alone takes "
                                          "several cases");
    }
    TAPML_TRY(options_i64(options, "--case", 0, 1, INT64_MAX, &case_id));
    TAPML_TRY(store_open_to_read(options->plain[0], &exporting->store));
    TAPML_TRY(setup_open(command->program, options, NULL, &exporting->setup));
    return export_form(exporting, case_id, form);
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

    for (size_t i = 0; i < exporting.target_count; i++) {
        verdict_list_release(&exporting.verdicts[i]);
    }
    setup_close(&exporting.setup);
    checkpoint_close(exporting.checkpoint);
    arena_destroy(exporting.arena);
    store_close(exporting.store);
    return outcome;
}
