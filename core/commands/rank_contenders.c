// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/rank_contenders.h"

#include "base/arena.h"
#include "base/file.h"
#include "commands/rank_output.h"
#include "config/device_file.h"
#include "run/interrupt.h"
#include "run/perplexity.h"
#include "run/progress.h"
#include "run/setup.h"
#include "run/trial_store.h"
#include "run/trials.h"
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct rank_words words = {"chunks", "run", "runs"};
static const char *const kinds[] = {"model", "encoding", "plan"};

struct ranked_contenders {
    const struct rank_contenders *asked;
    struct trials_options options;
    struct setup setup; // Over encodings: as long as it is open, those of plugins are known.
    struct device_file device;
    struct store *store;
    struct arena *arena;
    struct contender_list list;
    struct progress progress;
    struct trials_result trials;
};

static const char *given(const struct ranked_contenders *ranked, const char *option)
{
    return options_get(ranked->asked->options, option);
}

// -- What is asked for -------------------------------------------------------------------------

// What a divergence is measured from: --base, else the same without what is ranked.
static tapml_status read_base(struct ranked_contenders *ranked)
{
    struct contender_options *how = &ranked->options.contender;

    if (how->measure != CONTENDER_KL) {
        return given(ranked, "--base") == NULL
                   ? TAPML_OK
                   : status_fail(TAPML_INVALID, "--base is for --by kl");
    }
    how->base = given(ranked, "--base");
    if (how->base == NULL && ranked->asked->over == CONTENDER_MODELS) {
        return status_fail(TAPML_INVALID,
                           "models have no base of their own to diverge from: give --base PATH");
    }
    if (how->base == NULL && ranked->asked->over == CONTENDER_ENCODINGS) {
        how->base = given(ranked, "--model");
    }
    return TAPML_OK;
}

static tapml_status read_measure(struct ranked_contenders *ranked)
{
    struct contender_options *how = &ranked->options.contender;
    int measure =
        ranked->asked->over == CONTENDER_MODELS ? (int)CONTENDER_PERPLEXITY : (int)CONTENDER_KL;

    TAPML_TRY(options_word(ranked->asked->options, "--by", CONTENDER_MEASURES, &measure));
    how->measure = (enum contender_measure)measure;
    ranked->options.is_per_byte =
        ranked->asked->over == CONTENDER_MODELS && how->measure == CONTENDER_PERPLEXITY;
    return TAPML_OK;
}

static tapml_status read_options(struct ranked_contenders *ranked)
{
    const char *fits = given(ranked, "--fits");

    if (given(ranked, "--text") == NULL) {
        return status_fail(TAPML_INVALID, "no text: give --text FILE");
    }
    TAPML_TRY(file_expect(given(ranked, "--text")));
    if (ranked->asked->over == CONTENDER_ENCODINGS && given(ranked, "--model") == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model PATH");
    }
    TAPML_TRY(read_measure(ranked));
    TAPML_TRY(read_base(ranked));
    if (fits != NULL) {
        TAPML_TRY(device_file_load(fits, &ranked->device));
        ranked->options.contender.fits = &ranked->device;
    }
    if (ranked->asked->over == CONTENDER_ENCODINGS) {
        TAPML_TRY(setup_open(ranked->asked->command->program, ranked->asked->options, NULL,
                             &ranked->setup));
    }
    TAPML_TRY(contender_list_find(ranked->asked->command->program, ranked->asked->options,
                                  ranked->asked->over, ranked->options.contender.measure,
                                  ranked->arena, &ranked->list));
    return ranked->list.count > 0
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE,
                             "none of the %zu published models is on this machine: give --model "
                             "PATH, or see `tapml-host models NAME`",
                             ranked->list.absent_count);
}

// -- Units -------------------------------------------------------------------------------------

// How a mean is shown, in the units of people.
struct contender_shown {
    double value, spread;
    double beside; // NaN: there is none.
};

static double rate_of(double nanoseconds)
{
    return 1e9 / nanoseconds;
}

static struct contender_shown show_arm(const struct ranked_contenders *ranked,
                                       const struct trials_arm *arm)
{
    const double value = trials_value(arm);
    const double spread = trials_spread(&ranked->trials, arm);

    if (arm->race->judged == 0) {
        return (struct contender_shown){NAN, NAN, NAN};
    }
    switch (ranked->options.contender.measure) {
    case CONTENDER_KL:
        return (struct contender_shown){value, spread, perplexity_value(&arm->beside)};
    case CONTENDER_SPEED: // By the derivative: 1 / x^2.
        return (struct contender_shown){rate_of(value), rate_of(value) / value * spread,
                                        rate_of(arm->beside.mean)};
    case CONTENDER_PERPLEXITY:
        break;
    }
    return ranked->options.is_per_byte
               ? (struct contender_shown){value / log(2), spread / log(2),
                                          perplexity_value(&arm->value)}
               : (struct contender_shown){exp(value), exp(value) * spread, NAN};
}

static const char *unit_of(const struct ranked_contenders *ranked)
{
    switch (ranked->options.contender.measure) {
    case CONTENDER_KL:
        return "KL divergence";
    case CONTENDER_SPEED:
        return "tokens/s";
    case CONTENDER_PERPLEXITY:
        break;
    }
    return ranked->options.is_per_byte ? "bits per byte" : "perplexity";
}

static const char *unit_beside(const struct ranked_contenders *ranked)
{
    return ranked->options.contender.measure == CONTENDER_SPEED ? "prefill/s" : "perplexity";
}

static int has_beside(const struct ranked_contenders *ranked)
{
    return ranked->options.contender.measure != CONTENDER_PERPLEXITY || ranked->options.is_per_byte;
}

// -- Text --------------------------------------------------------------------------------------

static void append_number(double value, int width, struct text *out)
{
    if (isnan(value)) {
        text_format(out, "%*s", width, "-");
    } else {
        text_format(out, "%*.5g", width, value);
    }
}

static int name_width(const struct ranked_contenders *ranked)
{
    size_t width = strlen("encoding");

    for (size_t i = 0; i < ranked->trials.contest.race.arm_count; i++) {
        const size_t length = strlen(ranked->trials.arms[i].contender->name);

        width = length > width && length < 64 ? length : width;
    }
    return (int)width;
}

static void
append_arm(const struct ranked_contenders *ranked, size_t index, int width, struct text *out)
{
    const struct trials_arm *arm = &ranked->trials.arms[index];
    const struct contender_shown shown = show_arm(ranked, arm);

    text_format(out, "%-*s ", width, arm->contender->name);
    append_number(shown.value, 14, out);
    text_append(out, " +-");
    append_number(shown.spread, 11, out);
    if (has_beside(ranked)) {
        append_number(shown.beside, 12, out);
    }
    text_format(out, " %7zu of %zu\n", arm->race->taken, arm->race->count);
}

// Those that halving left out, and those that could not go on.
static void append_stopped(const struct ranked_contenders *ranked, struct text *out)
{
    for (size_t i = 0; i < ranked->trials.contest.race.arm_count; i++) {
        const struct trials_arm *arm = &ranked->trials.arms[ranked->trials.contest.order[i]];

        if (arm->failed != NULL) {
            text_format(out, "failed: '%s': %s\n", arm->contender->name, arm->failed);
        } else if (arm->race->last_round > 0) {
            text_format(out, "stopped early: '%s' behind round %zu, after %zu of %zu chunks\n",
                        arm->contender->name, arm->race->last_round, arm->race->taken,
                        arm->race->count);
        }
    }
}

// Those that may be as good as the first, for all that is known.
static void append_close(const struct ranked_contenders *ranked, struct text *out)
{
    const struct contest *contest = &ranked->trials.contest;
    const char *between = "not told apart from the first: ";

    for (size_t i = 1; !ranked->options.is_per_byte && i < contest->race.arm_count; i++) {
        const struct trials_arm *arm = &ranked->trials.arms[contest->order[i]];

        if (arm->failed == NULL && !trials_is_behind(arm)) {
            text_format(out, "%s'%s'", between, arm->contender->name);
            between = ", ";
        }
    }
    text_append(out, strcmp(between, ", ") == 0 ? "\n" : "");
}

static void append_left_out(const struct ranked_contenders *ranked, struct text *out)
{
    for (size_t i = 0; i < ranked->trials.left_out_count; i++) {
        const struct trials_left_out *left_out = &ranked->trials.left_out[i];

        text_format(out, "left out: '%s': %s\n", left_out->contender->name, left_out->why);
    }
    if (ranked->list.absent_count > 0) {
        text_format(out,
                    "left out: %zu of %zu published models that are not on this machine; "
                    "`tapml-host models NAME` says of one where it was looked for\n",
                    ranked->list.absent_count, ranked->list.absent_count + ranked->list.count);
    }
}

static tapml_status print_text(const struct ranked_contenders *ranked)
{
    const struct contest *contest = &ranked->trials.contest;
    const int width = name_width(ranked);
    char end[RANK_OUTPUT_END];
    struct text text;

    text_init(&text);
    text_format(&text, "%-*s %14s    %11s", width, kinds[ranked->asked->over], unit_of(ranked), "");
    if (has_beside(ranked)) {
        text_format(&text, "%12s", unit_beside(ranked));
    }
    text_append(&text, "  chunks\n");
    for (size_t i = 0; i < contest->race.arm_count; i++) {
        append_arm(ranked, contest->order[i], width, &text);
    }
    text_append(&text, "\n");
    append_close(ranked, &text);
    append_stopped(ranked, &text);
    append_left_out(ranked, &text);
    rank_output_end(contest, &words, end);
    text_format(&text, "%s\ntext: '%s' in chunks of %" PRIi64 " tokens\n", end,
                given(ranked, "--text"), ranked->trials.context);
    rank_output_cost(contest, &words, &text);
    if (ranked->trials.openings > 0) {
        text_format(&text, "opened: %zu times, in %.3g s\n", ranked->trials.openings,
                    ranked->trials.openings_s);
    }
    return text_print(&text);
}

// -- JSON --------------------------------------------------------------------------------------

static void append_word(const char *name, const char *value, struct text *out)
{
    text_format(out, ", \"%s\": ", name);
    text_append_json(out, value);
}

static void append_json_arm(const struct ranked_contenders *ranked, size_t index, struct text *out)
{
    const struct trials_arm *arm = &ranked->trials.arms[index];
    const struct contender_shown shown = show_arm(ranked, arm);

    text_append(out, "{\"name\": ");
    text_append_json(out, arm->contender->name);
    rank_output_number("value", shown.value, out);
    rank_output_number("spread", shown.spread, out);
    if (has_beside(ranked)) {
        rank_output_number(unit_beside(ranked), shown.beside, out);
    }
    text_format(out, ", \"chunks\": %zu, \"taken\": %zu, \"judged\": %zu, \"last_round\": %zu",
                arm->race->count, arm->race->taken, arm->race->judged, arm->race->last_round);
    if (arm->behind.count > 0) {
        rank_output_number("behind", arm->behind.mean, out);
        rank_output_number("behind_spread", 2 * running_mean_error(&arm->behind), out);
        text_format(out, ", \"is_behind\": %s", trials_is_behind(arm) ? "true" : "false");
    }
    if (arm->look.bytes > 0) {
        text_format(out, ", \"bytes\": %" PRIu64, arm->look.bytes);
    }
    if (arm->failed != NULL) {
        append_word("failed", arm->failed, out);
    }
    text_append(out, "}");
}

static void append_json_left_out(const struct ranked_contenders *ranked, struct text *out)
{
    const char *between = "\n";

    text_append(out, "], \"left_out\": [");
    for (size_t i = 0; i < ranked->trials.left_out_count; i++) {
        const struct trials_left_out *left_out = &ranked->trials.left_out[i];

        text_format(out, "%s{\"name\": ", between);
        text_append_json(out, left_out->contender->name);
        append_word("why", left_out->why, out);
        if (left_out->bytes > 0) {
            text_format(out, ", \"bytes\": %" PRIu64, left_out->bytes);
        }
        text_append(out, "}");
        between = ",\n";
    }
    for (size_t i = 0; i < ranked->list.absent_count; i++) {
        text_format(out, "%s{\"name\": ", between);
        text_append_json(out, ranked->list.absent[i].name);
        append_word("why", ranked->list.absent[i].why, out);
        text_append(out, "}");
        between = ",\n";
    }
    text_append(out, "]");
}

static tapml_status print_json(const struct ranked_contenders *ranked)
{
    const struct contest *contest = &ranked->trials.contest;
    struct text text;

    text_init(&text);
    text_append(&text, "{");
    rank_output_json(contest, &words, &text);
    append_word("over", kinds[ranked->asked->over], &text);
    append_word("by", contender_measure_name(ranked->options.contender.measure), &text);
    append_word("unit", unit_of(ranked), &text);
    append_word("text", given(ranked, "--text"), &text);
    text_format(&text, ", \"context\": %" PRIi64 ", \"openings\": %zu", ranked->trials.context,
                ranked->trials.openings);
    rank_output_number("openings_seconds", ranked->trials.openings_s, &text);
    text_append(&text, ", \"ranking\": [");
    for (size_t i = 0; i < contest->race.arm_count; i++) {
        text_append(&text, i > 0 ? ",\n" : "\n");
        append_json_arm(ranked, contest->order[i], &text);
    }
    append_json_left_out(ranked, &text);
    text_append(&text, "}\n");
    return text_print(&text);
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

static tapml_status make(struct ranked_contenders *ranked)
{
    const struct options *options = ranked->asked->options;
    const int is_json = options_get(options, "--json") != NULL;

    ranked->options.contender.program = ranked->asked->command->program;
    ranked->options.contender.options = options;
    TAPML_TRY(read_options(ranked));
    TAPML_TRY(trial_store_open(given(ranked, "--store"), &ranked->store));
    interrupt_watch();
    progress_begin(&ranked->progress, "rank", is_json);
    ranked->progress.unit = words.cases;
    ranked->options.items = ranked->list.items;
    ranked->options.count = ranked->list.count;
    ranked->options.store = ranked->store;
    ranked->options.method = ranked->asked->method;
    ranked->options.budget = ranked->asked->budget;
    ranked->options.explains = options_get(options, "--explain") != NULL;
    ranked->options.progress = show;
    ranked->options.user = &ranked->progress;
    TAPML_TRY(trials_make(&ranked->options, ranked->arena, &ranked->trials));
    progress_end(&ranked->progress, "%zu chunks, %zu of them now",
                 ranked->trials.contest.race.spent, ranked->trials.contest.spent.runs);
    return is_json ? print_json(ranked) : print_text(ranked);
}

tapml_status rank_contenders_run(const struct rank_contenders *asked)
{
    struct ranked_contenders ranked = {.asked = asked, .arena = arena_create()};
    const tapml_status status = ranked.arena != NULL ? make(&ranked) : status_no_memory();

    store_close(ranked.store);
    setup_close(&ranked.setup);
    device_file_release(&ranked.device);
    arena_destroy(ranked.arena);
    return status;
}
