// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/plan_output.h"

#include "base/alloc.h"
#include "exec/session.h"
#include "schema/catalogue.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double US_NS = 1e3, PERCENT = 100;

void plan_output_size(uint64_t bytes, char out[PLAN_OUTPUT_SIZE])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(*units)) {
        value /= 1024;
        unit++;
    }
    (void)snprintf(out, PLAN_OUTPUT_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

// -- What a plan comes to ----------------------------------------------------------------------

static tapml_status predict(struct plan_shown *shown)
{
    const struct plan_columns *columns = &shown->ground->columns;
    double *row = alloc_array(columns->width + 1, sizeof(*row));

    if (row == NULL) {
        return status_no_memory();
    }
    plan_columns_fill(columns, shown->places, &shown->count, row);
    for (size_t i = 0; i < columns->width; i++) {
        shown->whole_ns += row[i] * columns->guesses[i];
    }
    alloc_free(row);
    shown->crossing_ns = shown->whole_ns;
    for (uint32_t i = 0; i < shown->ground->question.n_places; i++) {
        shown->crossing_ns -= shown->times_ns[i];
    }
    return TAPML_OK;
}

tapml_status
plan_output_find(struct plan_ground *ground, const uint8_t *places, struct plan_shown *out_shown)
{
    struct plan_shown shown = {.ground = ground, .places = places};

    TAPML_TRY(session_count_steps(ground->session, places, 1, &shown.count));
    for (uint32_t i = 0; i < ground->question.n_ops; i++) {
        const tapml_policy_op *op = ground->question.ops[i];

        shown.times_ns[places[i]] += plan_build_time_ns(op, places[i]);
        shown.unproved += !op->may_run[places[i]];
    }
    TAPML_TRY(predict(&shown));
    *out_shown = shown;
    return TAPML_OK;
}

// -- Kinds -------------------------------------------------------------------------------------

// The operators of a kind at a place, and all of it. `index` is the kind's number.
static uint32_t
count_kind(const struct plan_shown *shown, uint32_t index, uint32_t place, uint32_t *out_all)
{
    const struct plan_columns *columns = &shown->ground->columns;
    uint32_t count = 0;

    *out_all = 0;
    for (uint32_t i = 0; i < columns->question->n_ops; i++) {
        if (columns->kinds[i] == index) {
            ++*out_all;
            count += shown->places[i] == place;
        }
    }
    return count;
}

static const char *kind_name(const struct plan_shown *shown, uint32_t index)
{
    const struct plan_columns *columns = &shown->ground->columns;
    uint32_t i = 0;

    while (columns->kinds[i] != index) {
        i++;
    }
    return catalogue_short_name(columns->question->ops[i]->op);
}

// "linear 28 of 29, silu", what is whole without numbers.
static void append_kinds(const struct plan_shown *shown, uint32_t place, struct text *out)
{
    const char *between = "";

    for (uint32_t kind = 0; kind < shown->ground->columns.kind_count; kind++) {
        uint32_t all = 0;
        const uint32_t count = count_kind(shown, kind, place, &all);

        if (count > 0) {
            text_format(out, "%s%s", between, kind_name(shown, kind));
            if (count < all) {
                text_format(out, " %" PRIu32 " of %" PRIu32, count, all);
            }
            between = ", ";
        }
    }
}

// -- One plan ----------------------------------------------------------------------------------

static void append_memory(const struct step_count_place *place, struct text *out)
{
    char whole[PLAN_OUTPUT_SIZE], weights[PLAN_OUTPUT_SIZE], states[PLAN_OUTPUT_SIZE],
        others[PLAN_OUTPUT_SIZE];

    plan_output_size(step_count_memory(place), whole);
    plan_output_size(place->weights_bytes, weights);
    plan_output_size(place->states_bytes, states);
    plan_output_size(place->activations_bytes, others);
    text_format(out, "%s (weights %s, states %s, activations %s)", whole, weights, states, others);
}

static void append_place(const struct plan_shown *shown, uint32_t place, struct text *out)
{
    const struct step_count_place *own = &shown->count.places[place];
    const struct plan_ground *ground = shown->ground;

    text_format(out, "%s: %" PRIu32 " of %" PRIu32 " operators", ground->names[place], own->calls,
                ground->question.n_ops);
    if (own->calls == 0) {
        text_append(out, "\n");
        return;
    }
    text_append(out, ": ");
    append_kinds(shown, place, out);
    text_format(out, "\n  predicted %.4g us of a token\n  memory ", shown->times_ns[place] / US_NS);
    append_memory(own, out);
    text_append(out, "\n");
}

static void append_sources(const struct plan_shown *shown, uint32_t place, struct text *out)
{
    const struct plan_ground *ground = shown->ground;
    const struct plan_ground_place *own = &ground->places[place];

    text_format(out, "%s: times of %zu cases", ground->names[place], own->times.known);
    if (own->times.predicted > 0) {
        text_format(out, ", those of %zu operators predicted, half of them within a factor %.2f",
                    own->times.predicted, own->times.factor);
    }
    if (own->times.traced > 0) {
        text_format(out, ", those of %zu operators scaled to the traced run of the final plan",
                    own->times.traced);
    }
    if (place > 0) {
        text_format(out,
                    "; %" PRIu32 " operators may run there, %" PRIu32 " have failed, %" PRIu32
                    " have no fresh result, %" PRIu32 " are refused%s%s",
                    own->may_run, own->failed, own->unknown, own->refused,
                    own->reason != NULL ? ": " : "", own->reason != NULL ? own->reason : "");
    }
    text_append(out, "\n");
}

void plan_output_text(const struct plan_shown *shown, int explains, struct text *out)
{
    const uint32_t places = shown->ground->question.n_places;
    char size[PLAN_OUTPUT_SIZE];

    for (uint32_t place = 0; place < places; place++) {
        append_place(shown, place, out);
    }
    plan_output_size(step_count_bytes(&shown->count), size);
    text_format(out,
                "crossing: %" PRIu32 " values a token, %s; predicted %.4g us\n"
                "a token: predicted %.4g us\n",
                step_count_moves(&shown->count), size, shown->crossing_ns / US_NS,
                shown->whole_ns / US_NS);
    if (shown->unproved > 0) {
        text_format(out,
                    "not proved: %" PRIu32 " operators are where some case of theirs has failed or "
                    "has no fresh result\n",
                    shown->unproved);
    }
    for (uint32_t place = 0; explains && place < places; place++) {
        append_sources(shown, place, out);
    }
}

static void append_json_kinds(const struct plan_shown *shown, uint32_t place, struct text *out)
{
    const char *between = "";

    text_append(out, ", \"kinds\": {");
    for (uint32_t kind = 0; kind < shown->ground->columns.kind_count; kind++) {
        uint32_t all = 0;
        const uint32_t count = count_kind(shown, kind, place, &all);

        if (count > 0) {
            text_append(out, between);
            text_append_json(out, kind_name(shown, kind));
            text_format(out, ": %" PRIu32, count);
            between = ", ";
        }
    }
    text_append(out, "}");
}

void plan_output_json(const struct plan_shown *shown, struct text *out)
{
    const char *between = "\n";

    text_append(out, "\"places\": [");
    for (uint32_t place = 0; place < shown->ground->question.n_places; place++) {
        const struct step_count_place *own = &shown->count.places[place];

        text_format(out, "%s{\"name\": ", between);
        text_append_json(out, shown->ground->names[place]);
        text_format(out,
                    ", \"operators\": %" PRIu32 ", \"predicted_ns\": %.9g, \"moves_in\": %" PRIu32
                    ", \"moves_out\": %" PRIu32 ", \"bytes_in\": %" PRIu64
                    ", \"bytes_out\": %" PRIu64 ", \"weights_bytes\": %" PRIu64
                    ", \"states_bytes\": %" PRIu64 ", \"activations_bytes\": %" PRIu64,
                    own->calls, shown->times_ns[place], own->moves_in, own->moves_out,
                    own->bytes_in, own->bytes_out, own->weights_bytes, own->states_bytes,
                    own->activations_bytes);
        append_json_kinds(shown, place, out);
        text_append(out, "}");
        between = ",\n";
    }
    text_format(out,
                "], \"moves\": %" PRIu32 ", \"moved_bytes\": %" PRIu64
                ", \"crossing_ns\": %.9g, \"predicted_ns\": %.9g, \"unproved\": %" PRIu32,
                step_count_moves(&shown->count), step_count_bytes(&shown->count),
                shown->crossing_ns, shown->whole_ns, shown->unproved);
}

// -- Two plans ---------------------------------------------------------------------------------

// Operators of a kind that go from one place to another, and what their own times change by.
struct moved_kind {
    uint32_t kind, from, to;
    uint32_t count;
    double change_ns;
};

static int
find_moved(const struct plan_shown *a, const struct plan_shown *b, struct moved_kind *io_moved)
{
    const struct plan_columns *columns = &a->ground->columns;

    for (uint32_t i = 0; i < columns->question->n_ops; i++) {
        const tapml_policy_op *op = columns->question->ops[i];

        if (columns->kinds[i] == io_moved->kind && a->places[i] == io_moved->from &&
            b->places[i] == io_moved->to) {
            io_moved->count++;
            io_moved->change_ns +=
                plan_build_time_ns(op, io_moved->to) - plan_build_time_ns(op, io_moved->from);
        }
    }
    return io_moved->count > 0;
}

// Calls `append` with all that moves. Returns how many operators do.
static uint32_t each_moved(const struct plan_shown *a,
                           const struct plan_shown *b,
                           void (*append)(const struct plan_shown *shown,
                                          const struct moved_kind *moved,
                                          struct text *out),
                           struct text *out)
{
    const uint32_t places = a->ground->question.n_places;
    uint32_t count = 0;

    for (uint32_t kind = 0; kind < a->ground->columns.kind_count; kind++) {
        for (uint32_t pair = 0; pair < places * places; pair++) {
            struct moved_kind moved = {.kind = kind, .from = pair / places, .to = pair % places};

            if (moved.from != moved.to && find_moved(a, b, &moved)) {
                append(a, &moved, out);
                count += moved.count;
            }
        }
    }
    return count;
}

static void
append_moved(const struct plan_shown *shown, const struct moved_kind *moved, struct text *out)
{
    text_format(out, "%s: %" PRIu32 " from '%s' to '%s', predicted %+.4g us of a token\n",
                kind_name(shown, moved->kind), moved->count, shown->ground->names[moved->from],
                shown->ground->names[moved->to], moved->change_ns / US_NS);
}

void plan_output_diff_text(const struct plan_shown *a, const struct plan_shown *b, struct text *out)
{
    char before[PLAN_OUTPUT_SIZE], after[PLAN_OUTPUT_SIZE];

    if (each_moved(a, b, append_moved, out) == 0) {
        text_append(out, "nothing moves: both plans have each operator at the same place\n");
        return;
    }
    plan_output_size(step_count_bytes(&a->count), before);
    plan_output_size(step_count_bytes(&b->count), after);
    text_format(out,
                "crossing: %" PRIu32 " values a token, %s; then %" PRIu32 ", %s: predicted "
                "%+.4g us\n",
                step_count_moves(&a->count), before, step_count_moves(&b->count), after,
                (b->crossing_ns - a->crossing_ns) / US_NS);
    for (uint32_t place = 0; place < a->ground->question.n_places; place++) {
        plan_output_size(step_count_memory(&a->count.places[place]), before);
        plan_output_size(step_count_memory(&b->count.places[place]), after);
        text_format(out, "memory of %s: %s, then %s\n", a->ground->names[place], before, after);
    }
    text_format(out, "a token: predicted %.4g us, then %.4g us: %+.3g %%\n", a->whole_ns / US_NS,
                b->whole_ns / US_NS, PERCENT * (b->whole_ns / a->whole_ns - 1));
}

static void
append_json_moved(const struct plan_shown *shown, const struct moved_kind *moved, struct text *out)
{
    const int is_first = out->length > 0 && out->data[out->length - 1] == '[';

    text_append(out, is_first ? "\n{\"kind\": " : ",\n{\"kind\": ");
    text_append_json(out, kind_name(shown, moved->kind));
    text_append(out, ", \"from\": ");
    text_append_json(out, shown->ground->names[moved->from]);
    text_append(out, ", \"to\": ");
    text_append_json(out, shown->ground->names[moved->to]);
    text_format(out, ", \"operators\": %" PRIu32 ", \"change_ns\": %.9g}", moved->count,
                moved->change_ns);
}

void plan_output_diff_json(const struct plan_shown *a, const struct plan_shown *b, struct text *out)
{
    text_append(out, "\"moved\": [");
    (void)each_moved(a, b, append_json_moved, out);
    text_append(out, "], \"before\": {");
    plan_output_json(a, out);
    text_append(out, "}, \"after\": {");
    plan_output_json(b, out);
    text_append(out, "}");
}
