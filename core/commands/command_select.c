// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "choose/choice.h"
#include "choose/risk.h"
#include "config/options.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--budget", "N", "how many cases to choose: 200, 2% of them, or 600s by predicted times"},
    {"--order", "carved|balance|cover", "the order of the list; cover by default"},
    {"--target", "NAME", "a target of the run, whose times and failures count"},
    {"--explain", NULL, "prints why each case was chosen, and what the choice is worth"},
    {"--json", NULL, "prints it as JSON"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_select_manual = {
    .usage = "tapml-host select DIR --budget N [--explain] [--order ORDER]",
    .about = "Chooses the cases of a run that are worth replaying if not all can be, as [select] "
             "of a run's file does, and lists them. Nothing is run, and nothing is written. DIR "
             "is the folder of a run, or a store.",
    .specs = specs,
};

struct select_listing {
    struct options options;
    struct choice_options choosing;
    struct store *store;
    struct arena *arena;
    struct verdict_list verdicts; // Of the target.
    struct case_choice choice;
    const struct select_pick **picks;
};

// -- What is asked for -------------------------------------------------------------------------

_Static_assert(CHOICE_BALANCE == CHOICE_CARVED + 1 && CHOICE_COVER == CHOICE_CARVED + 2,
               "the words of --order are numbered alike");

static tapml_status read_order(const struct options *options, enum choice_order *out_order)
{
    int place = CHOICE_COVER - CHOICE_CARVED;

    TAPML_TRY(options_word(options, "--order", "carved balance cover", &place));
    *out_order = (enum choice_order)(CHOICE_CARVED + place);
    return TAPML_OK;
}

static tapml_status read_options(struct select_listing *listing)
{
    const struct options *options = &listing->options;
    const char *budget = options_get(options, "--budget");
    struct choice_settings *settings = &listing->choosing.settings;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "expected the folder of one run, found %zu words",
                           options->plain_count);
    }
    if (budget == NULL) {
        return status_fail(TAPML_INVALID, "no budget: give --budget 200, --budget 2%% or "
                                          "--budget 600s");
    }
    TAPML_TRY(budget_read(budget, &settings->budget));
    return read_order(options, &settings->order);
}

// -- Choosing ----------------------------------------------------------------------------------

// The share of the cases of an op that have failed on the target.
static double find_failures(void *user, const char *op)
{
    const struct verdict_list *list = user;
    size_t count = 0, failed = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].op_name, op) == 0) {
            count++;
            failed += verdict_count_failed(&list->items[i], 1);
        }
    }
    return count > 0 ? (double)failed / (double)count : 0;
}

static tapml_status read_target(struct select_listing *listing)
{
    const char *name = options_get(&listing->options, "--target");
    struct target_row row;

    listing->choosing.target = name != NULL ? name : "";
    if (name == NULL) {
        return TAPML_OK;
    }
    const tapml_status status = target_find(listing->store, name, listing->arena, &row);

    if (status == TAPML_NOT_FOUND) {
        return status_fail(TAPML_NOT_FOUND, "--target is '%s', which is no target of the run",
                           name);
    }
    TAPML_TRY(status);
    TAPML_TRY(verdict_read(listing->store, name, &listing->verdicts));
    listing->choosing.find_failures = find_failures;
    listing->choosing.user = &listing->verdicts;
    return TAPML_OK;
}

// The store is read as it is at one moment.
static tapml_status choose(struct select_listing *listing)
{
    const char *given = listing->options.plain[0];
    char *path = file_is_folder(given) ? file_join(given, "run.tapmlrun") : alloc_text(given);

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = store_open_to_read(path, &listing->store);

    alloc_free(path);
    TAPML_TRY(status);
    TAPML_TRY(store_begin_to_read(listing->store));
    status = read_target(listing);
    if (status == TAPML_OK) {
        status = choice_make(listing->store, &listing->choosing, listing->arena, &listing->choice);
    }
    store_rollback(listing->store);
    return status;
}

// -- Printing ----------------------------------------------------------------------------------

// By the index of its case; NULL: it was not chosen, or nothing was.
static tapml_status find_picks(struct select_listing *listing)
{
    const struct case_choice *choice = &listing->choice;

    listing->picks = arena_array(listing->arena, choice->count + 1, sizeof(*listing->picks));
    for (size_t i = 0; listing->picks != NULL && i < choice->selected.count; i++) {
        listing->picks[choice->selected.picks[i].index] = &choice->selected.picks[i];
    }
    return listing->picks != NULL ? TAPML_OK : status_no_memory();
}

static void
print_case(const struct select_listing *listing, uint32_t index, int explains, struct text *out)
{
    const struct case_choice *choice = &listing->choice;
    const struct feature_case *item = &choice->cases[index];
    const struct select_pick *pick = explains ? listing->picks[index] : NULL;

    text_format(out, "%6" PRId64 "  %-8s %-24s %-32s", item->id, item->phase, item->op,
                item->instance);
    if (pick != NULL) {
        const struct risk *risk = &choice->risks[index];

        text_format(out, "  %s %.3f: new %.2f, edge %.2f, remainders %.2f, failures %.2f",
                    pick->is_first ? "first of its signature, adds" : "adds", pick->gain,
                    pick->novelty, risk->extremes, risk->remainders, risk->failures);
    }
    text_append(out, "\n");
}

static void print_times(const struct case_choice *choice, struct text *out)
{
    const struct time_model *times = &choice->times;

    if (!choice->has_times) {
        text_format(out, "times: not predicted, fewer than %d are known\n", (int)TIME_MODEL_LEAST);
        return;
    }
    text_format(out,
                "times: %.3g s of calls predicted, from %zu times of %s; of times that the "
                "predictor had not seen half are within a factor of %.2f, and their sum is "
                "predicted as %.2f of what it is\n",
                choice->seconds, times->known, choice->is_of_target ? "the target" : "the source",
                times->factor, times->total);
}

static void print_explanation(const struct case_choice *choice, struct text *out)
{
    const struct select_result *selected = &choice->selected;

    print_times(choice, out);
    text_format(out,
                "signatures: %zu, %zu of them without a case; value %.3f, at most %.3f; bounding "
                "has decided %zu in and %zu out in %zu rounds; %zu graphs\n",
                choice->group_count, selected->groups_left, selected->certificate.value,
                selected->certificate.most, selected->bounding.in, selected->bounding.out,
                selected->bounding.rounds, selected->parts);
}

static tapml_status print_text(const struct select_listing *listing, int explains)
{
    const struct case_choice *choice = &listing->choice;
    char sentence[CHOICE_TEXT];
    struct text text;

    text_init(&text);
    for (size_t i = 0; i < choice->chosen; i++) {
        print_case(listing, choice->order[i], explains, &text);
    }
    choice_print(choice, sentence);
    text_format(&text, "%s%s\n", choice->chosen > 0 ? "\n" : "", sentence);
    if (explains) {
        print_explanation(choice, &text);
    }
    return text_print(&text);
}

static void append_case(const struct select_listing *listing, uint32_t index, struct text *out)
{
    const struct case_choice *choice = &listing->choice;
    const struct feature_case *item = &choice->cases[index];
    const struct select_pick *pick = listing->picks[index];

    text_format(out, "{\"id\": %" PRId64 ", \"instance\": ", item->id);
    text_append_json(out, item->instance);
    text_append(out, ", \"signature\": ");
    text_append_json(out, item->row.signature);
    if (pick != NULL) {
        text_format(out, ", \"is_first\": %s, \"gain\": %.9g, \"utility\": %.9g",
                    pick->is_first ? "true" : "false", pick->gain, pick->utility);
    }
    if (choice->has_times) {
        text_format(out, ", \"predicted_ns\": %.9g", choice->times.times_ns[index]);
    }
    text_append(out, "}");
}

static tapml_status print_json(const struct select_listing *listing)
{
    const struct case_choice *choice = &listing->choice;
    const struct objective_certificate *certificate = &choice->selected.certificate;
    char sentence[CHOICE_TEXT];
    struct text text;

    choice_print(choice, sentence);
    text_init(&text);
    text_append(&text, "{\"sentence\": ");
    text_append_json(&text, sentence);
    text_format(&text, ", \"cases\": %zu, \"value\": %.9g, \"most\": %.9g, \"bound\": \"%s\"",
                choice->count, certificate->value, certificate->most,
                certificate->bound == OBJECTIVE_BY_GAINS ? "gains" : "utilities");
    text_append(&text, ", \"chosen\": [");
    for (size_t i = 0; i < choice->chosen; i++) {
        text_append(&text, i > 0 ? ",\n" : "\n");
        append_case(listing, choice->order[i], &text);
    }
    text_append(&text, "]}\n");
    return text_print(&text);
}

static tapml_status run(struct select_listing *listing)
{
    const struct options *options = &listing->options;

    TAPML_TRY(read_options(listing));
    listing->arena = arena_create();
    if (listing->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(choose(listing));
    TAPML_TRY(find_picks(listing));
    return options_get(options, "--json") != NULL
               ? print_json(listing)
               : print_text(listing, options_get(options, "--explain") != NULL);
}

enum outcome command_select_main(const struct command *command)
{
    struct select_listing listing = {.store = NULL};
    tapml_status status = options_parse(specs, command->argc, command->argv, &listing.options);

    if (status == TAPML_OK && options_get(&listing.options, "--help") != NULL) {
        return outcome_report(options_help(&command_select_manual));
    }
    if (status == TAPML_OK) {
        status = run(&listing);
    }
    verdict_list_release(&listing.verdicts);
    store_close(listing.store);
    arena_destroy(listing.arena);
    return outcome_report(status);
}
