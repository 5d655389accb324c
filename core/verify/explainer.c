// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/explainer.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "tensor/arithmetic.h"

#include <tapml/backend.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    OPS_MAX = 64,  // That are remembered; further ones are not explained.
    CASES_MAX = 3, // Of an op, without an explanation.
    Q8_BLOCK = 32,
    NO_GUESS = -1,
};

// A form explains what it brings so much nearer, as NMSE.
static const double NEARER = 1.0 / 16;

// From the most precise to the least. The format of results is not guessed: it shows.
static const struct guess {
    uint32_t inputs, block, weights;
} guesses[] = {
    {TAPML_FORMAT_F32, 0, TAPML_FORMAT_F32},
    {TAPML_FORMAT_F16, 0, TAPML_FORMAT_F32},
    {TAPML_FORMAT_F16, 0, TAPML_FORMAT_F16},
    {TAPML_FORMAT_F32, 0, TAPML_FORMAT_F16},
    {TAPML_FORMAT_TF32, 0, TAPML_FORMAT_F32},
    {TAPML_FORMAT_TF32, 0, TAPML_FORMAT_TF32},
    {TAPML_FORMAT_BF16, 0, TAPML_FORMAT_F32},
    {TAPML_FORMAT_BF16, 0, TAPML_FORMAT_BF16},
    {TAPML_FORMAT_F32, 0, TAPML_FORMAT_BF16},
    {TAPML_FORMAT_Q8_HALF, Q8_BLOCK, TAPML_FORMAT_F32},
    {TAPML_FORMAT_Q8, Q8_BLOCK, TAPML_FORMAT_F32},
    {TAPML_FORMAT_E4M3, 0, TAPML_FORMAT_F32},
};

enum { GUESS_COUNT = sizeof(guesses) / sizeof(guesses[0]) };

struct explainer {
    struct calibrator *calibrator;
    struct known {
        const tapml_op *op;
        int tries; // Without an explanation, one after the other.
        int guess; // That explained the last one, or NO_GUESS.
    } known[OPS_MAX];
    size_t known_count;
};

tapml_status explainer_create(struct registry *registry,
                              const struct checkpoint *checkpoint,
                              struct backend *target,
                              struct explainer **out_explainer)
{
    struct explainer *explainer = alloc_new(sizeof(*explainer));
    if (!explainer) {
        return status_no_memory();
    }
    const tapml_status status =
        calibrator_create(registry, checkpoint, target, &explainer->calibrator);
    if (status != TAPML_OK) {
        explainer_destroy(explainer);
        return status;
    }
    *out_explainer = explainer;
    return TAPML_OK;
}

void explainer_destroy(struct explainer *explainer)
{
    if (explainer) {
        calibrator_destroy(explainer->calibrator);
        alloc_free(explainer);
    }
}

static int has_only(uint32_t format, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float value = values[i];
        arithmetic_round(format, 0, &value, 1, 1);
        if (isfinite(value) != isfinite(values[i]) || (isfinite(value) && value != values[i])) {
            return 0;
        }
    }
    return 1;
}

// The format that all outputs have.
static uint32_t format_of_results(const struct explainer_question *question)
{
    static const uint32_t formats[] = {TAPML_FORMAT_BF16, TAPML_FORMAT_F16, TAPML_FORMAT_TF32};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        int has = 1;
        for (uint32_t k = 0; k < question->output_count; k++) {
            const struct replay_output *output = &question->outputs[k];
            has &= output->dtype != TAPML_F32 ||
                   has_only(formats[i], output->computed, replay_output_count(output));
        }
        if (has) {
            return formats[i];
        }
    }
    return TAPML_FORMAT_F32;
}

static const void *find_right(const struct carved_case *item, const char *param)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (strcmp(item->arguments[i].name, param) == 0) {
            return item->arguments[i].after;
        }
    }
    return NULL;
}

// What an output should be by a form: what is exact, rounded to the format of results.
static const void *round_right(const struct replay_output *output,
                               const void *right,
                               uint32_t format,
                               struct arena *arena)
{
    const size_t count = replay_output_count(output);
    if (output->dtype != TAPML_F32 || format == TAPML_FORMAT_F32 || !right) {
        return right;
    }
    float *rounded = arena_array(arena, count + 1, sizeof(*rounded));
    if (rounded) {
        memcpy(rounded, right, count * sizeof(*rounded));
        arithmetic_round(format, 0, rounded, 1, count);
    }
    return rounded;
}

// Whether all outputs are much nearer to what is right by a form. `out_results` gets the distances.
static int is_nearer(const struct explainer_question *question,
                     const struct carved_case *item,
                     const struct arithmetic *form,
                     struct arena *arena,
                     struct compare_result *out_results)
{
    int is_nearer = 1;
    for (uint32_t i = 0; is_nearer && i < question->output_count; i++) {
        const struct replay_output *output = &question->outputs[i];
        const void *right =
            round_right(output, find_right(item, output->param), form->result, arena);
        if (!right) {
            return 0;
        }
        const struct compare_result before = compare_tensors(
            output->dtype, output->expected, output->computed, output->rows, output->width);
        out_results[i] =
            compare_tensors(output->dtype, right, output->computed, output->rows, output->width);
        is_nearer = out_results[i].mismatched_non_finite == 0 &&
                    (before.nmse == 0 || out_results[i].nmse < NEARER * before.nmse);
    }
    return is_nearer;
}

static tapml_status try_form(struct explainer *explainer,
                             const struct explainer_question *question,
                             const struct arithmetic *form,
                             struct arena *arena,
                             int *out_explains)
{
    struct compare_result results[REPLAY_OUTPUTS_MAX];
    struct compare_limit limits[REPLAY_OUTPUTS_MAX] = {{0}};
    struct carved_case item;
    int has = 0;
    *out_explains = 0;
    calibrator_assume(explainer->calibrator, form);
    TAPML_TRY(calibrator_as_declared(explainer->calibrator, question->item, question->schema, arena,
                                     &item, &has));
    if (!has || !is_nearer(question, &item, form, arena, results)) {
        return TAPML_OK;
    }
    TAPML_TRY(
        calibrator_widen(explainer->calibrator, NULL, question->item, question->schema, limits));
    *out_explains = 1;
    for (uint32_t i = 0; i < question->output_count; i++) {
        *out_explains &= compare_margin(&results[i], &limits[i]) <= 1;
    }
    return TAPML_OK;
}

static void print(const struct arithmetic *form, char out_text[EXPLAINER_TEXT])
{
    const char *inputs = arithmetic_format_name(form->inputs);
    const char *weights = arithmetic_format_name(form->weights);
    const int has_inputs = form->inputs != TAPML_FORMAT_F32;
    const int has_weights = form->weights != TAPML_FORMAT_F32;
    if (has_inputs || has_weights) {
        (void)snprintf(out_text, EXPLAINER_TEXT, "as if %s%s%s were %s",
                       has_inputs ? "activations" : "", has_inputs && has_weights ? " and " : "",
                       has_weights ? "weights" : "", has_inputs ? inputs : weights);
    } else {
        (void)snprintf(out_text, EXPLAINER_TEXT, "as if results were rounded to %s",
                       arithmetic_format_name(form->result));
    }
}

static tapml_status try_guess(struct explainer *explainer,
                              const struct explainer_question *question,
                              int index,
                              uint32_t result,
                              char out_text[EXPLAINER_TEXT],
                              int *out_explains)
{
    const struct guess *guess = &guesses[index];
    const struct arithmetic form = {.inputs = guess->inputs,
                                    .block = guess->block,
                                    .weights = guess->weights,
                                    .result = result};
    *out_explains = 0;
    if (!arithmetic_is_reduced(&form)) {
        return TAPML_OK;
    }
    struct arena *arena = arena_create();
    if (!arena) {
        return status_no_memory();
    }
    const tapml_status status = try_form(explainer, question, &form, arena, out_explains);
    calibrator_assume(explainer->calibrator, NULL);
    arena_destroy(arena);
    if (status == TAPML_OK && *out_explains) {
        print(&form, out_text);
    }
    return status;
}

static struct known *find_known(struct explainer *explainer, const tapml_op *op)
{
    for (size_t i = 0; i < explainer->known_count; i++) {
        if (explainer->known[i].op == op) {
            return &explainer->known[i];
        }
    }
    if (explainer->known_count == OPS_MAX) {
        return NULL;
    }
    struct known *known = &explainer->known[explainer->known_count++];
    *known = (struct known){.op = op, .guess = NO_GUESS};
    return known;
}

tapml_status explainer_ask(struct explainer *explainer,
                           const struct explainer_question *question,
                           char out_text[EXPLAINER_TEXT])
{
    struct known *known = find_known(explainer, question->schema->op);
    int explains = 0;
    out_text[0] = '\0';
    if (!known || known->tries == CASES_MAX) {
        return TAPML_OK;
    }
    const uint32_t result = format_of_results(question);
    if (known->guess != NO_GUESS) {
        TAPML_TRY(try_guess(explainer, question, known->guess, result, out_text, &explains));
    }
    for (int i = 0; !explains && i < GUESS_COUNT; i++) {
        TAPML_TRY(try_guess(explainer, question, i, result, out_text, &explains));
        known->guess = explains ? i : known->guess;
    }
    known->tries = explains ? 0 : known->tries + 1;
    return TAPML_OK;
}

uint64_t explainer_executions(const struct explainer *explainer)
{
    return calibrator_executions(explainer->calibrator);
}
