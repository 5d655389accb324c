// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/plan_search_output.h"

#include "base/assert.h"
#include "choose/plan_rules.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROWS_MOST = 12, NAME_MOST = 32 };

static const double US_NS = 1e3, PERCENT = 100;

static const char *const objectives[] = {"latency", "memory", "precision"};

static int is_precision(const struct plan_search_shown *shown)
{
    return shown->sought->input.objective == PLAN_PRECISION;
}

// In the units of people: microseconds of a token, or nats.
static double shown_value(const struct plan_search_shown *shown, double value)
{
    return is_precision(shown) ? value : value / US_NS;
}

static const char *unit_of(const struct plan_search_shown *shown)
{
    return is_precision(shown) ? "nats" : "us";
}

static double regret_of(const struct plan_search_shown *shown, const struct plan_trial *trial)
{
    const struct plan_trial *best = shown->sought->search.best;

    return best != NULL && best->value > 0 ? trial->value / best->value - 1 : NAN;
}

// -- The table ---------------------------------------------------------------------------------

static void append_number(double value, int width, struct text *out)
{
    if (isfinite(value)) {
        text_format(out, "%*.4g", width, value);
    } else {
        text_format(out, "%*s", width, "-");
    }
}

static void
append_row(const struct plan_search_shown *shown, const struct plan_trial *trial, struct text *out)
{
    const struct plan_search_input *input = &shown->sought->input;
    const int is_best = trial == shown->sought->search.best;
    char size[PLAN_OUTPUT_SIZE];

    ASSERT(trial != NULL); // A measured one.
    text_format(out, "%c %-*.*s", is_best ? '*' : ' ', NAME_MOST, NAME_MOST, trial->name);
    append_number(shown_value(shown, trial->predicted), 10, out);
    append_number(shown_value(shown, trial->value), 10, out);
    append_number(shown_value(shown, trial->spread), 9, out);
    if (is_precision(shown)) {
        text_format(out, " %8" PRIu32, plan_search_wide(input, trial->places));
    } else {
        append_number(PERCENT * regret_of(shown, trial), 7, out);
        text_append(out, " %");
    }
    plan_output_size(plan_search_away(input, trial), size);
    text_format(out, " %7" PRIu32 " %11s %7zu\n", trial->look.moves, size, trial->chunks);
}

static void append_table(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_search *search = &shown->sought->search;
    size_t rows = 0;

    text_format(out, "  %-*s%10s%10s%9s %s %7s %11s %7s\n", NAME_MOST, "plan", "predicted",
                "measured", "+-", is_precision(shown) ? "    wide" : "  regret", "crosses",
                "memory", "chunks");
    for (; rows < search->measured_count && rows < ROWS_MOST; rows++) {
        append_row(shown, search->measured[rows], out);
    }
    if (rows < search->measured_count) {
        text_format(out, "  and %zu more, up to ", search->measured_count - rows);
        append_number(shown_value(shown, search->measured[search->measured_count - 1]->value), 1,
                      out);
        text_format(out, " %s\n", unit_of(shown));
    }
}

static void append_failed(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_search *search = &shown->sought->search;

    for (size_t i = 0; i < search->measured_count; i++) {
        if (search->measured[i]->failed != NULL) {
            text_format(out, "failed: '%s': %s\n", search->measured[i]->name,
                        search->measured[i]->failed);
        }
    }
}

// -- Sentences ---------------------------------------------------------------------------------

static void
append_edit(const struct plan_search_shown *shown, const struct plan_edit *edit, struct text *out)
{
    const char *place = shown->ground->names[edit->place];

    text_format(out, "moving %s %sto %s %s %.3g %%%s (%s)\n", edit->unit,
                edit->place == 0 ? "back " : "", place, edit->change >= 0 ? "costs" : "saves",
                PERCENT * fabs(edit->change), is_precision(shown) ? " of the divergence" : "",
                edit->is_measured ? "measured" : "predicted");
}

static void append_best(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_search_input *input = &shown->sought->input;
    const struct plan_trial *best = shown->sought->search.best;

    if (best == NULL && shown->sought->search.measured_count == 0) {
        text_append(out, "no plan was measured: that with all operators in reduced activations, "
                         "with which a search begins, is too large for --memory\n");
        return;
    }
    if (best == NULL && is_precision(shown)) {
        text_format(out, "no plan was found whose divergence is at most %.4g nats\n", input->bound);
        return;
    }
    if (best == NULL) {
        text_append(out, "no plan could be measured\n");
        return;
    }
    switch (input->objective) {
    case PLAN_LATENCY:
        text_format(out, "best: %.4g us of a token", best->value / US_NS);
        break;
    case PLAN_MEMORY:
        text_format(out,
                    "best: %" PRIu64 " bytes away from the source, at %.4g us of a token, of at "
                    "most %.4g",
                    plan_search_away(input, best), best->value / US_NS,
                    shown->sought->search.limit / US_NS);
        break;
    case PLAN_PRECISION:
        text_format(out,
                    "best: %" PRIu32 " of %" PRIu32 " operators kept wider, at %.4g nats of "
                    "at most %.4g",
                    plan_search_wide(input, best->places), input->question->n_ops, best->value,
                    input->bound);
        break;
    }
    text_append(out, "\n");
}

static void append_cost(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_sought *sought = shown->sought;
    const struct plan_search *search = &sought->search;

    text_format(out, "%zu plans measured in %zu rounds, of %zu that were looked at",
                search->measured_count, search->rounds, search->looked);
    if (search->too_large > 0) {
        text_format(out, ", %zu of them too large", search->too_large);
    }
    text_format(out, "; %zu chunks of %" PRIi64 " tokens run now, %.3g s\n", sought->runs,
                sought->context, sought->seconds);
    if (isfinite(search->correlation)) {
        text_format(out, "ranks of predicted and measured correlate by %.2f\n",
                    search->correlation);
    }
}

void plan_search_output_text(const struct plan_search_shown *shown, int explains, struct text *out)
{
    const struct plan_search *search = &shown->sought->search;

    append_table(shown, out);
    text_append(out, "\n");
    append_failed(shown, out);
    append_best(shown, out);
    for (size_t i = 0; i < search->edits.count; i++) {
        append_edit(shown, &search->edits.items[i], out);
    }
    append_cost(shown, out);
    if (search->best != NULL) {
        text_append(out, "\n");
        plan_output_text(&shown->best, explains, out);
    }
}

// -- The plan as a file ------------------------------------------------------------------------

tapml_status plan_search_output_plan(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_trial *best = shown->sought->search.best;

    text_format(out, "# tapml-host plan search --by %s: %.6g %s",
                objectives[shown->sought->input.objective], shown_value(shown, best->value),
                unit_of(shown));
    text_append(out, is_precision(shown) ? "\n" : " of a token\n");
    for (size_t i = 0; i < shown->sought->search.edits.count; i++) {
        text_append(out, "# ");
        append_edit(shown, &shown->sought->search.edits.items[i], out);
    }
    return plan_rules_write(shown->sought->input.question, best->places, out);
}

// -- JSON --------------------------------------------------------------------------------------

static void append_json_number(const char *name, double value, struct text *out)
{
    text_format(out, isfinite(value) ? ", \"%s\": %.9g" : ", \"%s\": null", name, value);
}

static tapml_status append_json_rules(const struct plan_search_shown *shown,
                                      const struct plan_trial *trial,
                                      struct text *out)
{
    struct text rules;

    text_init(&rules);
    const tapml_status status =
        plan_rules_write(shown->sought->input.question, trial->places, &rules);

    text_append(out, ", \"rules\": ");
    text_append_json(out, status == TAPML_OK ? rules.data : "");
    text_release(&rules);
    return status;
}

static tapml_status append_json_trial(const struct plan_search_shown *shown,
                                      const struct plan_trial *trial,
                                      struct text *out)
{
    const struct plan_search_input *input = &shown->sought->input;

    text_append(out, "{\"name\": ");
    text_append_json(out, trial->name);
    append_json_number("analytic", trial->analytic, out);
    append_json_number("predicted", trial->predicted, out);
    append_json_number("measured", trial->value, out);
    append_json_number("spread", trial->spread, out);
    append_json_number("regret", regret_of(shown, trial), out);
    text_format(out,
                ", \"round\": %zu, \"chunks\": %zu, \"moves\": %" PRIu32
                ", \"moved_bytes\": %" PRIu64 ", \"away_bytes\": %" PRIu64,
                trial->round, trial->chunks, trial->look.moves, trial->look.moved_bytes,
                plan_search_away(input, trial));
    if (is_precision(shown)) {
        text_format(out, ", \"wide\": %" PRIu32, plan_search_wide(input, trial->places));
    }
    if (trial->failed != NULL) {
        text_append(out, ", \"failed\": ");
        text_append_json(out, trial->failed);
    }
    TAPML_TRY(append_json_rules(shown, trial, out));
    text_append(out, "}");
    return TAPML_OK;
}

static void append_json_edits(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_edits *edits = &shown->sought->search.edits;

    text_append(out, ", \"edits\": [");
    for (size_t i = 0; i < edits->count; i++) {
        const struct plan_edit *edit = &edits->items[i];

        text_append(out, i > 0 ? ",\n{\"kind\": " : "\n{\"kind\": ");
        text_append_json(out, edit->unit);
        text_append(out, ", \"to\": ");
        text_append_json(out, shown->ground->names[edit->place]);
        append_json_number("change", edit->change, out);
        text_format(out, ", \"is_measured\": %s}", edit->is_measured ? "true" : "false");
    }
    text_append(out, "]");
}

tapml_status plan_search_output_json(const struct plan_search_shown *shown, struct text *out)
{
    const struct plan_sought *sought = shown->sought;
    const struct plan_search *search = &sought->search;

    text_format(out, "{\"by\": \"%s\", \"unit\": \"%s\", \"text\": ",
                objectives[sought->input.objective], is_precision(shown) ? "nats" : "ns");
    text_append_json(out, shown->text);
    text_format(out,
                ", \"context\": %" PRIi64 ", \"trials\": %zu, \"measured\": %zu, \"rounds\": %zu, "
                "\"looked\": %zu, \"too_large\": %zu, \"runs\": %zu, \"openings\": %zu",
                sought->context, sought->input.trials, search->measured_count, search->rounds,
                search->looked, search->too_large, sought->runs, sought->openings);
    append_json_number("seconds", sought->seconds, out);
    append_json_number("openings_seconds", sought->openings_s, out);
    append_json_number("correlation", search->correlation, out);
    text_append(out, ", \"plans\": [");
    for (size_t i = 0; i < search->measured_count; i++) {
        text_append(out, i > 0 ? ",\n" : "\n");
        TAPML_TRY(append_json_trial(shown, search->measured[i], out));
    }
    text_append(out, "]");
    append_json_edits(shown, out);
    text_append(out, ", \"best\": ");
    if (search->best == NULL) {
        text_append(out, "null}\n");
        return TAPML_OK;
    }
    TAPML_TRY(append_json_trial(shown, search->best, out));
    text_append(out, ", \"plan\": {");
    plan_output_json(&shown->best, out);
    text_append(out, "}}\n");
    return TAPML_OK;
}
