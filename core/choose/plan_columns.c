// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_columns.h"

#include "base/arena.h"
#include "choose/plan_build.h"

#include <math.h>
#include <string.h>

enum { THIRDS = 3, MOVE_COLUMNS = 2 };

// Of a value that crosses, and of a byte of it: a move is waited for by the device that reads it.
// What it is on this device is learned.
static const double MOVE_NS = 30e3, BYTE_NS = 0.25;

// Of the weights of times: a kind, a place, a call, a move, a byte, and the rest as a share of the
// time of all on the source.
static const double KIND_SPREAD = 0.4, PLACE_SPREAD = 0.3, CALL_SPREAD_NS = 5e3,
                    MOVE_SPREAD_NS = 30e3, BYTE_SPREAD_NS = 0.5, REST_SPREAD = 0.2;

// Of a divergence: of a kind, as a share of the guess.
static const double SHARE_SPREAD = 2;

// The least factor of a place: what else a plan costs cannot be all of it.
static const double FACTOR_LEAST = 0.01;

static uint32_t find_kind(const tapml_policy_ops *question, const uint32_t *kinds, uint32_t index)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < index; i++) {
        if (question->ops[i]->op == question->ops[index]->op) {
            return kinds[i];
        }
        next = kinds[i] >= next ? kinds[i] + 1 : next;
    }
    return next;
}

// Where the columns of a time begin.
static size_t place_column(const struct plan_columns *columns)
{
    return columns->kind_count * columns->question->n_places;
}

static size_t call_column(const struct plan_columns *columns)
{
    return place_column(columns) + columns->question->n_places;
}

static size_t move_column(const struct plan_columns *columns)
{
    return call_column(columns) + columns->question->n_places;
}

static size_t rest_column(const struct plan_columns *columns)
{
    return move_column(columns) + (size_t)MOVE_COLUMNS * (columns->question->n_places - 1);
}

static void guess(struct plan_columns *columns)
{
    double all_ns = 0;
    for (uint32_t i = 0; i < columns->question->n_ops; i++) {
        all_ns += plan_build_time_ns(columns->question->ops[i], 0);
    }
    for (size_t i = 0; i < place_column(columns); i++) {
        columns->guesses[i] = 1;
        columns->spreads[i] = KIND_SPREAD;
    }
    for (size_t i = place_column(columns); i < call_column(columns); i++) {
        columns->spreads[i] = PLACE_SPREAD;
    }
    for (size_t i = call_column(columns); i < move_column(columns); i++) {
        columns->spreads[i] = CALL_SPREAD_NS;
    }
    for (size_t i = move_column(columns); i < rest_column(columns); i += MOVE_COLUMNS) {
        columns->guesses[i] = MOVE_NS;
        columns->spreads[i] = MOVE_SPREAD_NS;
        columns->guesses[i + 1] = BYTE_NS;
        columns->spreads[i + 1] = BYTE_SPREAD_NS;
    }
    columns->spreads[rest_column(columns)] = REST_SPREAD * all_ns;
}

tapml_status plan_columns_init(const tapml_policy_ops *question,
                               const uint8_t *is_reduced,
                               struct arena *arena,
                               struct plan_columns *out_columns)
{
    struct plan_columns columns = {
        .question = question,
        .is_reduced = is_reduced,
        .kinds = arena_array(arena, (size_t)question->n_ops + 1, sizeof(*columns.kinds))};
    if (!columns.kinds) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < question->n_ops; i++) {
        columns.kinds[i] = find_kind(question, columns.kinds, i);
        columns.kind_count =
            columns.kinds[i] >= columns.kind_count ? columns.kinds[i] + 1 : columns.kind_count;
    }
    columns.width = is_reduced ? columns.kind_count * THIRDS : rest_column(&columns) + 1;
    columns.guesses = arena_array(arena, columns.width + 1, sizeof(double));
    columns.spreads = arena_array(arena, columns.width + 1, sizeof(double));
    if (!columns.guesses || !columns.spreads) {
        return status_no_memory();
    }
    if (!is_reduced) {
        guess(&columns);
    }
    *out_columns = columns;
    return TAPML_OK;
}

static void fill_reduced(const struct plan_columns *columns, const uint8_t *places, double *out)
{
    const uint32_t count = columns->question->n_ops;
    for (uint32_t i = 0; i < count; i++) {
        const size_t third = (size_t)i * THIRDS / count;
        out[columns->kinds[i] * THIRDS + third] += columns->is_reduced[places[i]];
    }
}

static void fill_times(const struct plan_columns *columns,
                       const uint8_t *places,
                       const struct step_count *count,
                       double *out)
{
    const tapml_policy_ops *question = columns->question;
    for (uint32_t i = 0; i < question->n_ops; i++) {
        const double time_ns = plan_build_time_ns(question->ops[i], places[i]);
        out[(size_t)columns->kinds[i] * question->n_places + places[i]] += time_ns;
        out[place_column(columns) + places[i]] += time_ns;
        out[call_column(columns) + places[i]] += 1;
    }
    for (uint32_t place = 1; place < question->n_places; place++) {
        const struct step_count_place *own = &count->places[place];
        double *moves = out + move_column(columns) + (size_t)MOVE_COLUMNS * (place - 1);
        moves[0] = (double)own->moves_in + (double)own->moves_out;
        moves[1] = (double)own->bytes_in + (double)own->bytes_out;
    }
    out[rest_column(columns)] = 1;
}

void plan_columns_fill(const struct plan_columns *columns,
                       const uint8_t *places,
                       const struct step_count *count,
                       double *out_columns)
{
    memset(out_columns, 0, columns->width * sizeof(*out_columns));
    if (columns->is_reduced) {
        fill_reduced(columns, places, out_columns);
    } else {
        fill_times(columns, places, count, out_columns);
    }
}

// -- What was measured -------------------------------------------------------------------------

// What a plan is predicted to take beside the operators of a place, whose factors are known for
// those before it.
static double time_beside(const struct plan_columns *columns,
                          const double *row,
                          uint32_t place,
                          const double *factors)
{
    double time_ns = 0;
    for (uint32_t i = 0; i < columns->question->n_places; i++) {
        time_ns += i != place ? factors[i] * row[place_column(columns) + i] : 0;
    }
    for (size_t i = move_column(columns); i < rest_column(columns); i++) {
        time_ns += columns->guesses[i] * row[i];
    }
    return time_ns;
}

// By the plan with most calls at the place, if that are more than half of them.
static double find_factor(const struct plan_columns *columns,
                          const double *const *rows,
                          const double *values,
                          size_t count,
                          uint32_t place,
                          const double *factors)
{
    const size_t calls = call_column(columns) + place;
    double most = (double)columns->question->n_ops / 2;
    double factor = factors[place];
    for (size_t i = 0; i < count; i++) {
        const double own = rows[i][place_column(columns) + place];
        if (rows[i][calls] > most && own > 0) {
            const double left = values[i] - time_beside(columns, rows[i], place, factors);
            most = rows[i][calls];
            factor = fmax(left, FACTOR_LEAST * values[i]) / own;
        }
    }
    return factor;
}

static void guess_times(const struct plan_columns *columns,
                        const double *const *rows,
                        const double *values,
                        size_t count,
                        double *out_guesses,
                        double *out_spreads)
{
    const uint32_t places = columns->question->n_places;
    double factors[SPACE_PLACES_MAX];
    for (uint32_t place = 0; place < places; place++) {
        factors[place] = 1;
    }
    for (uint32_t place = 0; place < places; place++) {
        factors[place] = find_factor(columns, rows, values, count, place, factors);
    }
    for (size_t i = 0; i < call_column(columns); i++) {
        out_guesses[i] *= factors[i % places];
        out_spreads[i] *= factors[i % places];
    }
}

static void guess_shares(const struct plan_columns *columns,
                         const double *row,
                         double value,
                         double *out_guesses,
                         double *out_spreads)
{
    double reduced = 0;
    for (size_t i = 0; i < columns->width; i++) {
        reduced += row[i];
    }
    for (size_t i = 0; i < columns->width; i++) {
        out_guesses[i] = reduced > 0 ? value / reduced : 0;
        out_spreads[i] = SHARE_SPREAD * out_guesses[i];
    }
}

void plan_columns_guess(const struct plan_columns *columns,
                        const double *const *rows,
                        const double *values,
                        size_t count,
                        double *out_guesses,
                        double *out_spreads)
{
    memcpy(out_guesses, columns->guesses, columns->width * sizeof(*out_guesses));
    memcpy(out_spreads, columns->spreads, columns->width * sizeof(*out_spreads));
    if (!columns->is_reduced) {
        guess_times(columns, rows, values, count, out_guesses, out_spreads);
    } else if (count > 0) {
        guess_shares(columns, rows[0], values[0], out_guesses, out_spreads);
    }
}
