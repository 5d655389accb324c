// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/tuner.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/random.h"
#include "choose/plan_model.h"

#include <math.h>
#include <string.h>

// Spreads of weights before anything is known, in logarithms of times: a value of a knob, a value
// together with one of the first knob, two knobs together. Noises of a time of this class, and of
// what another one says of it.
static const double SPREAD_VALUE = 0.5, SPREAD_FORM = 0.5, SPREAD_PAIR = 0.2;
static const double NOISE_OWN = 0.1, NOISE_OTHER = 0.4;

struct tuner_work {
    const struct tuner_input *input;
    struct arena *arena;
    unsigned char *is_known; // Of each combination.
    uint32_t left;           // Legal ones that were not tried.
    size_t width;            // Columns of a row.
    double *row;             // Of a candidate.
};

const struct tuner_trial *tuner_best(const struct tuner_trial *trials, size_t count)
{
    const struct tuner_trial *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!isnan(trials[i].ratio) && (!best || trials[i].ratio < best->ratio)) {
            best = &trials[i];
        }
    }
    return best;
}

static tapml_status find_known(struct tuner_work *work)
{
    const struct tuner_input *input = work->input;
    work->is_known = arena_array(work->arena, (size_t)input->space->size + 1, 1);
    if (!work->is_known) {
        return status_no_memory();
    }
    work->left = input->space->legal_count;
    for (size_t i = 0; i < input->count; i++) {
        const uint32_t number = input->trials[i].number;
        work->left -= number < input->space->size && !work->is_known[number] &&
                      knobs_is_legal(input->space, number);
        work->is_known[number] = 1;
    }
    return TAPML_OK;
}

static int is_open(const struct tuner_work *work, uint32_t number)
{
    return knobs_is_legal(work->input->space, number) && !work->is_known[number];
}

// -- Choosers ----------------------------------------------------------------------------------

// Another stream of numbers for each trial, so that a tuner that goes on later chooses the same.
static struct random begin_random(const struct tuner_input *input)
{
    struct random random;
    random_init(&random, input->seed * UINT64_C(0x9e3779b97f4a7c15) + input->count);
    return random;
}

static uint32_t draw(const struct tuner_work *work, struct random *random)
{
    uint64_t place = random_below(random, work->left);
    uint32_t number = 0;
    while (!is_open(work, number) || place-- > 0) {
        number++;
    }
    return number;
}

// -- The predictor -----------------------------------------------------------------------------

static double scale(const struct knob *knob, uint32_t place)
{
    return knob->count > 1 ? 2 * (double)place / (double)(knob->count - 1) - 1 : 0;
}

static size_t count_columns(const struct knob_space *space)
{
    size_t values = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        values += space->knobs[i].count;
    }
    const size_t pairs = (size_t)space->count * (space->count + 1) / 2;
    return 1 + values + space->knobs[0].count * (size_t)space->count * 2 + pairs;
}

// The columns of a setting: 1, each value, the place of each knob and its square for each value of
// the first knob, and products of places.
static void make_row(const struct knob_space *space, uint32_t number, double *out_row)
{
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {0};
    size_t at = 1;
    knobs_places(space, number, places);
    memset(out_row, 0, count_columns(space) * sizeof(*out_row));
    out_row[0] = 1;
    for (uint32_t i = 0; i < space->count; at += space->knobs[i++].count) {
        out_row[at + places[i]] = 1;
    }
    for (uint32_t i = 0; i < space->count; i++, at += 2 * (size_t)space->knobs[0].count) {
        const double value = scale(&space->knobs[i], places[i]);
        out_row[at + 2 * (size_t)places[0]] = value;
        out_row[at + 2 * (size_t)places[0] + 1] = value * value;
    }
    for (uint32_t i = 0; i < space->count; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            out_row[at++] = scale(&space->knobs[i], places[i]) * scale(&space->knobs[k], places[k]);
        }
    }
}

static void set_spreads(const struct knob_space *space, double *out_spreads, size_t width)
{
    size_t values = 0;
    for (uint32_t i = 0; i < space->count; i++) {
        values += space->knobs[i].count;
    }
    const size_t forms = 2 * (size_t)space->count * space->knobs[0].count;
    for (size_t i = 0; i < width; i++) {
        out_spreads[i] = i <= values           ? SPREAD_VALUE
                         : i <= values + forms ? SPREAD_FORM
                                               : SPREAD_PAIR;
    }
}

static size_t others_of(const struct tuner_input *input)
{
    const size_t count =
        input->other_count < TUNER_OTHERS_MAX ? input->other_count : (size_t)TUNER_OTHERS_MAX;
    return input->chooser == TUNER_TRANSFERRED ? count : 0;
}

// Rows of what was measured.
struct measured_rows {
    const double **rows;
    double *values, *noises;
    size_t count;
};

static tapml_status add_measured(const struct tuner_work *work,
                                 const struct tuner_trial *trial,
                                 double noise,
                                 struct measured_rows *io)
{
    double *row = arena_array(work->arena, work->width, sizeof(*row));
    if (!row) {
        return status_no_memory();
    }
    make_row(work->input->space, trial->number, row);
    io->rows[io->count] = row;
    io->values[io->count] = log(trial->ratio);
    io->noises[io->count++] = noise;
    return TAPML_OK;
}

static tapml_status gather(const struct tuner_work *work, struct measured_rows *out)
{
    const struct tuner_input *input = work->input;
    const size_t others = others_of(input), most = input->count + others;
    *out = (struct measured_rows){.rows = arena_array(work->arena, most + 1, sizeof(*out->rows)),
                                  .values = arena_array(work->arena, most + 1, sizeof(double)),
                                  .noises = arena_array(work->arena, most + 1, sizeof(double))};
    if (!out->rows || !out->values || !out->noises) {
        return status_no_memory();
    }
    for (size_t i = 0; i < input->count; i++) {
        if (input->trials[i].ratio > 0) {
            TAPML_TRY(add_measured(work, &input->trials[i], NOISE_OWN, out));
        }
    }
    for (size_t i = 0; i < others; i++) {
        if (input->others[i].ratio > 0) {
            TAPML_TRY(add_measured(work, &input->others[i], NOISE_OTHER, out));
        }
    }
    return TAPML_OK;
}

// The open setting that is predicted to be the fastest.
static tapml_status predict(struct tuner_work *work, uint32_t *out_number)
{
    struct measured_rows measured;
    struct plan_model model;
    double best = INFINITY;
    work->width = count_columns(work->input->space);
    work->row = arena_array(work->arena, work->width, sizeof(*work->row));
    double *guesses = arena_array(work->arena, work->width, sizeof(*guesses));
    double *spreads = arena_array(work->arena, work->width, sizeof(*spreads));
    if (!work->row || !guesses || !spreads) {
        return status_no_memory();
    }
    TAPML_TRY(gather(work, &measured));
    set_spreads(work->input->space, spreads, work->width);
    const struct plan_model_input input = {.width = work->width,
                                           .guesses = guesses,
                                           .spreads = spreads,
                                           .rows = measured.rows,
                                           .values = measured.values,
                                           .noises = measured.noises,
                                           .count = measured.count};
    TAPML_TRY(plan_model_fit(&input, work->arena, &model));
    for (uint32_t number = 0; number < work->input->space->size; number++) {
        if (!is_open(work, number)) {
            continue;
        }
        make_row(work->input->space, number, work->row);
        const double value = plan_model_predict(&model, work->row);
        if (value < best) {
            best = value;
            *out_number = number;
        }
    }
    return TAPML_OK;
}

// The best open setting of the others, among the TUNER_SEEDS that are tried first.
static int find_seed(const struct tuner_work *work, uint32_t *out_number)
{
    const struct tuner_input *input = work->input;
    const size_t others = others_of(input);
    const struct tuner_trial *best = NULL;
    if (input->count > TUNER_SEEDS) {
        return 0;
    }
    for (size_t i = 0; i < others; i++) {
        const struct tuner_trial *other = &input->others[i];
        if (!isnan(other->ratio) && is_open(work, other->number) &&
            (!best || other->ratio < best->ratio)) {
            best = other;
        }
    }
    if (best) {
        *out_number = best->number;
    }
    return best != NULL;
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status choose(struct tuner_work *work, uint32_t *out_number)
{
    const struct tuner_input *input = work->input;
    struct random random = begin_random(input);
    const size_t half =
        input->budget / 2 < TUNER_RANDOM_MOST ? input->budget / 2 : (size_t)TUNER_RANDOM_MOST;
    const int is_first = input->count < half && others_of(input) == 0;
    const uint32_t any = draw(work, &random);
    if (find_seed(work, out_number)) {
        return TAPML_OK;
    }
    if (input->chooser == TUNER_RANDOM || is_first || random_below(&random, 10) == 0) {
        *out_number = any;
        return TAPML_OK;
    }
    return predict(work, out_number);
}

static tapml_status next(struct tuner_work *work, uint32_t *out_number, int *out_has)
{
    const struct tuner_input *input = work->input;
    TAPML_TRY(find_known(work));
    *out_has = input->count < input->budget && work->left > 0;
    if (!*out_has) {
        return TAPML_OK;
    }
    if (input->count == 0) {
        *out_number = knobs_chosen(input->space);
        return TAPML_OK;
    }
    return choose(work, out_number);
}

tapml_status tuner_next(const struct tuner_input *input, uint32_t *out_number, int *out_has)
{
    struct tuner_work work = {.input = input, .arena = arena_create()};
    const tapml_status status = work.arena ? next(&work, out_number, out_has) : status_no_memory();
    arena_destroy(work.arena);
    return status;
}
