// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/pool.h"
#include "base/text.h"
#include "config/model_path.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "model/delta_judge.h"
#include "model/delta_levels.h"
#include "model/delta_make.h"
#include "model/safetensors_writer.h"
#include "model/weight_files.h"
#include "report/report_files.h"
#include "report/report_maker.h"
#include "run/interrupt.h"
#include "run/progress.h"
#include "verify/input_moments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHTS_SHOWN = 8 };

static const struct options_spec specs[] = {
    {"--out", "FILE", "the delta, or of apply the weights, in place of what is there"},
    {"--as", "xor|sparse|24q2|24q4",
     "xor (default): bit for bit; sparse: the largest changes of each matrix, rounded; 24q2, 24q4: "
     "two of four neighbours of each row, in 2 or 4 bits"},
    {"--density", "PART", "of sparse: which part of the changes stays; 0.1 by default"},
    {"--cases", "STORE",
     "of 24q2 and 24q4: the store of a run, whose inputs of products say which changes count; of "
     "check with --fine: by which it judges"},
    {"--fine", "PATH",
     "of check: prints what the outputs of products lose, over the cases of --cases"},
    {"--json", "FILE", "of check with --fine: writes what the outputs of each weight lose"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_delta_manual = {
    .usage = "tapml-host delta make BASE FINE --out FILE [--as xor|sparse|24q2|24q4]"
             " [--density PART] [--cases STORE]\n"
             "tapml-host delta apply BASE FILE --out FILE\n"
             "tapml-host delta check BASE FILE [--fine PATH --cases STORE [--json FILE]]",
    .about =
        "make writes what changes from the weights of a base to those of a fine-tune; both "
        "are folders, names or GGUF files, of plain numbers. [model] delta, or --delta, takes "
        "the file beside the base (docs/deltas.md).\n"
        "apply writes the weights of the fine-tune as a safetensors file.\n"
        "check makes each weight in memory, and ends with 2 if one of them is not what the "
        "file says, or the base is another one. With --fine and --cases it prints what the "
        "outputs of products lose: the root of their squared errors over that of their squared "
        "changes, of all and of the weights that lose most.",
    .specs = specs,
};

// -- make --------------------------------------------------------------------------------------

static tapml_status
open_model(const char *program, const char *word, struct checkpoint **out_checkpoint)
{
    char *folder = NULL;

    TAPML_TRY(model_path_find(program, word, &folder));
    const tapml_status status = weight_files_open(folder, out_checkpoint);

    alloc_free(folder);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "model '%s'", word);
}

static tapml_status read_density(const struct options *options, double *out_density)
{
    const char *word = options_get(options, "--density");

    *out_density = 0.1;
    return word == NULL || (text_parse_f64(word, out_density) == TAPML_OK && *out_density > 0 &&
                            *out_density <= 1)
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "--density is '%s', expected a number above 0, at most 1", word);
}

static tapml_status read_make(const struct options *options, struct delta_make_options *make)
{
    int kind = DELTA_XOR;

    TAPML_TRY(options_word(options, "--as", DELTA_WORDS, &kind));
    make->kind = (enum delta_kind)kind;
    TAPML_TRY(read_density(options, &make->density));
    if (options_get(options, "--density") != NULL && kind != DELTA_SPARSE) {
        return status_fail(TAPML_INVALID, "--density is of --as sparse alone");
    }
    return options_get(options, "--cases") == NULL || delta_levels_bits(make->kind) > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--cases is of --as 24q2 and 24q4 alone");
}

static void print_effect(uint64_t weights, const struct delta_effect *effect)
{
    (void)printf("outputs of the products with %" PRIu64
                 " weights lose %.3g of what changes, over the given cases\n",
                 weights, delta_calibration_part(effect));
}

static void print_made(const char *path, const struct delta_make_counts *counts)
{
    (void)printf("%s: %" PRIu64 " bytes for %" PRIu64 ", 1/%.2f; %zu tensors stay, %zu change "
                 "bit for bit",
                 path, counts->file_bytes, counts->fine_bytes,
                 counts->file_bytes > 0 ? (double)counts->fine_bytes / (double)counts->file_bytes
                                        : 0,
                 counts->same, counts->exact);
    if (counts->lossy > 0) {
        (void)printf(", %zu lose %.3g of what changes", counts->lossy, counts->lost);
    }
    (void)printf("\n");
    if (counts->calibrated > 0) {
        print_effect(counts->calibrated, &counts->effect);
    }
}

// What a delta is calibrated and judged with: threads, and the inputs of `--cases` if there are.
struct calibrating {
    struct input_moments *moments;
    struct delta_calibration calibration;
    struct progress progress;
};

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

static tapml_status
begin_calibrating(const struct options *options, const char *phase, struct calibrating *calibrating)
{
    const char *cases = options_get(options, "--cases");

    *calibrating =
        (struct calibrating){.calibration = {.progress = show, .told = &calibrating->progress}};
    progress_begin(&calibrating->progress, phase, 0);
    calibrating->progress.unit = "tensors";
    TAPML_TRY(pool_create(0, &calibrating->calibration.pool));
    if (cases != NULL) {
        TAPML_TRY(input_moments_open(cases, &calibrating->moments));
        calibrating->calibration.find_moments = input_moments_find;
        calibrating->calibration.user = calibrating->moments;
    }
    return TAPML_OK;
}

static void end_calibrating(struct calibrating *calibrating)
{
    input_moments_close(calibrating->moments);
    pool_destroy(calibrating->calibration.pool);
}

// Models that `make` and `check` open.
struct models {
    struct checkpoint *base, *fine;
};

static tapml_status
open_models(const char *program, const char *base, const char *fine, struct models *models)
{
    TAPML_TRY(open_model(program, base, &models->base));
    return open_model(program, fine, &models->fine);
}

static void close_models(struct models *models)
{
    checkpoint_close(models->base);
    checkpoint_close(models->fine);
}

static tapml_status make(const char *program, const struct options *options, const char *out)
{
    struct delta_make_options made = {.kind = DELTA_XOR};
    struct delta_make_counts counts;
    struct calibrating calibrating = {.moments = NULL};
    struct models models = {NULL, NULL};

    TAPML_TRY(read_make(options, &made));
    tapml_status status = open_models(program, options->plain[1], options->plain[2], &models);

    if (status == TAPML_OK) {
        status = begin_calibrating(options, "make", &calibrating);
    }
    if (status == TAPML_OK) {
        made.base = models.base;
        made.fine = models.fine;
        made.calibration = calibrating.calibration;
        status = delta_make(&made, out, &counts);
    }
    if (status == TAPML_OK) {
        progress_end(&calibrating.progress, "%zu tensors", checkpoint_count(models.fine));
        print_made(out, &counts);
    }
    end_calibrating(&calibrating);
    close_models(&models);
    return status;
}

// -- apply, check ------------------------------------------------------------------------------

static tapml_status write_tensors(const struct checkpoint *checkpoint,
                                  struct safetensors_writer *writer)
{
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        const char *type = safetensors_writer_type(tensor->tensor.dtype);
        uint64_t count = 0;

        TAPML_TRY(delta_count_values(tensor, &count));
        if (type == NULL) {
            return status_fail(TAPML_UNIMPLEMENTED,
                               "tensor '%s': its type has no name in safetensors", tensor->name);
        }
        TAPML_TRY(safetensors_writer_add(
            writer,
            &(struct safetensors_writer_tensor){tensor->name, type, tensor->tensor.shape,
                                                tensor->tensor.rank, tensor->data, tensor->bytes}));
    }
    return TAPML_OK;
}

static tapml_status write_weights(const struct checkpoint *checkpoint, const char *path)
{
    struct safetensors_writer *writer = NULL;
    uint64_t room = 0, bytes = 0;

    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        room += safetensors_writer_room(checkpoint_at(checkpoint, i)->name);
    }
    TAPML_TRY(safetensors_writer_open(path, room, &writer));
    const tapml_status status = write_tensors(checkpoint, writer);

    if (status != TAPML_OK) {
        safetensors_writer_drop(writer);
        return status;
    }
    TAPML_TRY(safetensors_writer_end(writer, &bytes));
    (void)printf("%s: %zu tensors, %" PRIu64 " bytes\n", path, checkpoint_count(checkpoint), bytes);
    return TAPML_OK;
}

static void print_checked(const struct delta *delta, const struct checkpoint *checkpoint)
{
    size_t counts[DELTA_KINDS] = {0};

    for (size_t i = 0; i < delta_count(delta); i++) {
        counts[delta_at(delta, i)->form.kind]++;
    }
    (void)printf("%zu tensors stay, %zu are made as the file says:",
                 checkpoint_count(checkpoint) - delta_count(delta), delta_count(delta));
    for (int kind = 0; kind < DELTA_KINDS; kind++) {
        (void)printf(" %zu %s%s", counts[kind], delta_form_word((enum delta_kind)kind),
                     kind + 1 < DELTA_KINDS ? "," : "\n");
    }
}

// Those that lose most, one line each.
static void print_judged(const struct delta_judged *judged)
{
    print_effect(judged->count, &judged->effect);
    for (size_t i = 0; i < judged->count && i < WEIGHTS_SHOWN; i++) {
        const struct delta_item *item = judged->weights[i].item;

        (void)printf("  %s (%s) %.3g\n", item->name, delta_form_word(item->form.kind),
                     delta_calibration_part(&judged->weights[i].effect));
    }
    if (judged->count > WEIGHTS_SHOWN) {
        (void)printf("  and %zu that lose less\n", judged->count - WEIGHTS_SHOWN);
    }
}

// All of them, as a list of objects; of each also the sums of squares.
static tapml_status write_judged(const struct delta_judged *judged, const char *path)
{
    struct report_maker whole = {.object = json_array()};

    for (size_t i = 0; i < judged->count; i++) {
        const struct delta_judged_weight *weight = &judged->weights[i];
        struct report_maker part = report_maker_begin();

        report_maker_text(&part, "weight", weight->item->name);
        report_maker_text(&part, "kind", delta_form_word(weight->item->form.kind));
        report_maker_put(&part, "lost",
                         report_maker_number(delta_calibration_part(&weight->effect)));
        report_maker_put(&part, "squared_errors", report_maker_number(weight->effect.lost));
        report_maker_put(&part, "squared_changes", report_maker_number(weight->effect.whole));
        report_maker_append(&whole, whole.object, &part);
    }
    const tapml_status status =
        whole.failed ? status_no_memory() : report_files_write_json(whole.object, path);

    json_decref(whole.object);
    return status;
}

// Prints what outputs lose. `made` is the base with the delta.
static tapml_status judge(const char *program,
                          const struct options *options,
                          const struct delta *delta,
                          const struct checkpoint *made)
{
    struct calibrating calibrating = {.moments = NULL};
    struct models models = {NULL, NULL};
    struct delta_judged judged = {.weights = NULL};
    const char *path = options_get(options, "--json");
    tapml_status status =
        open_models(program, options->plain[1], options_get(options, "--fine"), &models);

    if (status == TAPML_OK) {
        status = begin_calibrating(options, "check", &calibrating);
    }
    if (status == TAPML_OK) {
        status =
            delta_judge(delta, models.base, models.fine, made, &calibrating.calibration, &judged);
    }
    if (status == TAPML_OK) {
        progress_end(&calibrating.progress, "%zu tensors", delta_count(delta));
        print_judged(&judged);
    }
    if (status == TAPML_OK && path != NULL) {
        status = write_judged(&judged, path);
    }
    delta_judge_release(&judged);
    end_calibrating(&calibrating);
    close_models(&models);
    return status;
}

static tapml_status check(const char *program,
                          const struct options *options,
                          const struct delta *delta,
                          const struct checkpoint *checkpoint)
{
    print_checked(delta, checkpoint);
    return options_get(options, "--fine") != NULL ? judge(program, options, delta, checkpoint)
                                                  : TAPML_OK;
}

// With `out` the weights are written.
static tapml_status use(const char *program, const struct options *options, const char *out)
{
    struct checkpoint *checkpoint = NULL;
    struct delta *delta = NULL;
    tapml_status status = open_model(program, options->plain[1], &checkpoint);

    if (status == TAPML_OK) {
        status = delta_open(options->plain[2], &delta);
        status = status == TAPML_OK ? delta_apply(delta, checkpoint) : status;
        status =
            status == TAPML_OK ? TAPML_OK : status_explain(status, "delta '%s'", options->plain[2]);
    }
    if (status == TAPML_OK && out != NULL) {
        status = write_weights(checkpoint, out);
    } else if (status == TAPML_OK) {
        status = check(program, options, delta, checkpoint);
    }
    delta_close(delta);
    checkpoint_close(checkpoint);
    return status;
}

static int has_any(const struct options *options, const char *const *names)
{
    int has = 0;

    for (; *names != NULL; names++) {
        has |= options_get(options, *names) != NULL;
    }
    return has;
}

static tapml_status do_action(const char *program, const struct options *options)
{
    static const char *const of_judging[] = {"--fine", "--json", NULL};
    static const char *const of_make[] = {"--as", "--density", NULL};
    static const char *const of_check[] = {"--fine", "--cases", "--json", NULL};
    const char *action = options->plain_count == 3 ? options->plain[0] : "";
    const char *out = options_get(options, "--out");
    const int is_made = has_any(options, of_make);

    if (strcmp(action, "make") == 0 && out != NULL && !has_any(options, of_judging)) {
        return make(program, options, out);
    }
    if (strcmp(action, "apply") == 0 && out != NULL && !is_made && !has_any(options, of_check)) {
        return use(program, options, out);
    }
    if (strcmp(action, "check") == 0 && out == NULL && !is_made) {
        const int is_judged = options_get(options, "--fine") != NULL;

        if (is_judged != (options_get(options, "--cases") != NULL)) {
            return status_fail(TAPML_INVALID, "check takes --fine and --cases, or neither");
        }
        return is_judged || options_get(options, "--json") == NULL
                   ? use(program, options, NULL)
                   : status_fail(TAPML_INVALID, "--json is of check with --fine alone");
    }
    return status_fail(TAPML_INVALID, "delta takes 'make BASE FINE --out FILE', 'apply BASE FILE "
                                      "--out FILE' or 'check BASE FILE', see --help");
}

enum outcome command_delta_main(const struct command *command)
{
    struct options options;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_delta_manual));
    }
    interrupt_watch();
    return outcome_report(status == TAPML_OK ? do_action(command->program, &options) : status);
}
