// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/tuning_trials.h"

#include "base/duration.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A class at work.
struct class_trials {
    const struct tuning_trials_options *options;
    struct arena *arena;
    struct tuning_file file;    // What is known of all.
    struct tuning_class *known; // Of the class,
    struct tuner_trial *tried;  // and the same as combinations.
    size_t count;
    struct tuning_result result;
};

// -- What is known -----------------------------------------------------------------------------

static double ratio_of(const struct tuning_class *known, const struct tuning_trial *trial)
{
    const double own = known->own.time_ns > 0 ? (double)known->own.time_ns : 1e6;

    return trial->wrong == NULL ? (double)trial->time_ns / own : NAN;
}

// The combination of a trial in the space of the class; 0 where it has none.
static int find_number(const struct class_trials *trials, const char *values, uint32_t *out_number)
{
    struct arena *arena = arena_create();
    tapml_setting setting;
    const int has = arena != NULL && knobs_read("*", values, arena, &setting) == TAPML_OK &&
                    knobs_find(trials->options->space, &setting, out_number) == TAPML_OK;

    arena_destroy(arena);
    return has;
}

static void take_trial(const struct class_trials *trials,
                       const struct tuning_class *known,
                       const struct tuning_trial *trial,
                       struct tuner_trial *io_trials,
                       size_t *io_count)
{
    uint32_t number = 0;

    if (find_number(trials, trial->values, &number)) {
        io_trials[(*io_count)++] = (struct tuner_trial){number, ratio_of(known, trial)};
    }
}

static tapml_status read_known(struct class_trials *trials)
{
    const struct tuning_class *known = trials->known;

    trials->tried = arena_array(trials->arena, known->count + trials->options->trials + 2,
                                sizeof(*trials->tried));
    if (trials->tried == NULL) {
        return status_no_memory();
    }
    if (known->own.values != NULL) {
        trials->tried[trials->count++] = (struct tuner_trial){knobs_chosen(trials->options->space),
                                                              ratio_of(known, &known->own)};
    }
    for (size_t i = 0; i < known->count; i++) {
        take_trial(trials, known, &known->trials[i], trials->tried, &trials->count);
    }
    return TAPML_OK;
}

// How alike another class of the op is.
static int likeness(const struct tuning_class *known, const struct tuning_class *other)
{
    const int is_device = strcmp(known->key.device, other->key.device) == 0;

    return (strcmp(known->key.component, other->key.component) == 0) + is_device;
}

// What was measured of other classes of the op, those of this device first.
static tapml_status
gather_others(const struct class_trials *trials, struct tuner_trial **out_others, size_t *out_count)
{
    struct tuner_trial *others =
        arena_array(trials->arena, TUNER_OTHERS_MAX + TUNING_FILE_TRIALS_MAX, sizeof(*others));
    size_t count = 0;

    if (others == NULL) {
        return status_no_memory();
    }
    for (int like = 2; like >= 0; like--) {
        for (size_t i = 0; i < trials->file.count; i++) {
            const struct tuning_class *other = &trials->file.classes[i];

            if (other == trials->known || strcmp(other->key.op, trials->known->key.op) != 0 ||
                other->own.time_ns == 0 || likeness(trials->known, other) != like) {
                continue;
            }
            for (size_t k = 0; k < other->count && count < TUNER_OTHERS_MAX; k++) {
                take_trial(trials, other, &other->trials[k], others, &count);
            }
        }
    }
    *out_others = others;
    *out_count = count;
    return TAPML_OK;
}

// -- A trial -----------------------------------------------------------------------------------

static tapml_status tell(const struct class_trials *trials, const struct tuning_trial *trial)
{
    static const double second_ns = 1e9;
    char outcome[TUNING_TRIAL_WHY_TEXT + DURATION_TEXT];

    if (trial->wrong != NULL) {
        (void)snprintf(outcome, sizeof(outcome), "wrong: %s", trial->wrong);
    } else {
        duration_print((double)trial->time_ns / second_ns, outcome);
    }
    return trials->options->progress(trials->options->user, trials->result.now, trial->values,
                                     outcome);
}

static tapml_status keep_own(struct class_trials *trials, const struct tuning_trial *trial)
{
    struct tuning_trial *own = &trials->known->own;

    *own = *trial;
    own->values = arena_text(trials->file.arena, trial->values);
    own->wrong = trial->wrong != NULL ? arena_text(trials->file.arena, trial->wrong) : NULL;
    return own->values == NULL || (trial->wrong != NULL && own->wrong == NULL) ? status_no_memory()
                                                                               : TAPML_OK;
}

// Keeps what came out, in the user's file at once. A file that cannot be written loses what is
// known when this ends, and nothing else.
static tapml_status
keep(struct class_trials *trials, uint32_t number, const struct tuning_trial *trial)
{
    TAPML_TRY(number == knobs_chosen(trials->options->space)
                  ? keep_own(trials, trial)
                  : tuning_file_add_trial(&trials->file, trials->known, trial));
    trials->tried[trials->count++] = (struct tuner_trial){number, ratio_of(trials->known, trial)};
    tuning_file_choose(trials->known);
    (void)tuning_file_save(trials->known);
    trials->result.now++;
    return tell(trials, trial);
}

static tapml_status attempt(struct class_trials *trials, uint32_t number)
{
    struct tuning_trial_outcome outcome = {.time_ns = 0};
    struct text values;

    text_init(&values);
    knobs_print(trials->options->space, number, &values);
    tapml_status status = text_status(&values);

    if (status == TAPML_OK) {
        status = trials->options->attempt(trials->options->user, number, values.data, &outcome);
    }
    if (status == TAPML_OK) {
        const int is_wrong = outcome.wrong[0] != '\0';

        status = keep(trials, number,
                      &(struct tuning_trial){.values = values.data,
                                             .time_ns = is_wrong ? 0 : outcome.time_ns,
                                             .wrong = is_wrong ? outcome.wrong : NULL});
    }
    text_release(&values);
    return status;
}

static tapml_status attempt_all(struct class_trials *trials)
{
    const struct tuning_trials_options *options = trials->options;
    struct tuner_input input = {.space = options->space,
                                .chooser = options->chooser,
                                .trials = trials->tried,
                                .budget = options->trials,
                                .seed = options->seed};
    struct tuner_trial *others = NULL;

    TAPML_TRY(gather_others(trials, &others, &input.other_count));
    input.others = others;
    while (1) {
        uint32_t number = 0;
        int has = 0;

        input.count = trials->count;
        TAPML_TRY(tuner_next(&input, &number, &has));
        if (!has) {
            return TAPML_OK;
        }
        TAPML_TRY(attempt(trials, number));
    }
}

// -- What came out -----------------------------------------------------------------------------

static tapml_status copy_texts(struct class_trials *trials)
{
    struct tuning_result *result = &trials->result;
    const char **const texts[] = {&result->own, &result->own_wrong, &result->winner};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (*texts[i] != NULL) {
            *texts[i] = arena_text(trials->arena, *texts[i]);
            if (*texts[i] == NULL) {
                return status_no_memory();
            }
        }
    }
    return TAPML_OK;
}

static tapml_status set_result(struct class_trials *trials)
{
    const struct tuning_class *known = trials->known;
    struct tuning_result *result = &trials->result;

    result->own_ns = known->own.time_ns;
    result->own = known->own.values;
    result->own_wrong = known->own.wrong;
    result->winner = known->winner;
    result->tried = trials->count;
    for (size_t i = 0; i < trials->count; i++) {
        result->wrong += isnan(trials->tried[i].ratio);
    }
    for (size_t i = 0; i < known->count && known->winner != NULL; i++) {
        if (strcmp(known->trials[i].values, known->winner) == 0) {
            result->best_ns = known->trials[i].time_ns;
        }
    }
    return copy_texts(trials);
}

static tapml_status run(struct class_trials *trials)
{
    TAPML_TRY(tuning_file_load(&trials->file));
    TAPML_TRY(tuning_file_add(&trials->file, &trials->options->key, &trials->known));
    TAPML_TRY(read_known(trials));
    TAPML_TRY(attempt_all(trials));
    return set_result(trials);
}

tapml_status tuning_trials_run(const struct tuning_trials_options *options,
                               struct arena *arena,
                               struct tuning_result *out_result)
{
    struct class_trials trials = {.options = options,
                                  .arena = arena,
                                  .result = {.op = options->key.op,
                                             .shape_class = options->space->shape_class,
                                             .legal = options->space->legal_count}};
    const tapml_status status = run(&trials);

    tuning_file_release(&trials.file);
    *out_result = trials.result;
    return status;
}
