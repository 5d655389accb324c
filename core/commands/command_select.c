// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "choose/choice.h"
#include "choose/feature_set.h"
#include "choose/risk.h"
#include "config/options.h"
#include "plugin/policy.h"
#include "report/run_folders.h"
#include "run/setup.h"
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
    {"--order", "carved|balance|cover",
     "the order of the list, or the id of a policy of a plugin; cover by default"},
    {"--policy", "ID", "a policy of a plugin that chooses in the host's place"},
    {"--target", "NAME", "a target of the runs, whose times and failures count"},
    {"--explain", NULL, "prints why each case was chosen, and what the choice is worth"},
    {"--json", NULL, "prints it as JSON"},
    {"--option", "COMPONENT.NAME=TEXT", "an option of a policy; may be given several times"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_select_manual = {
    .usage = "tapml-host select DIR [DIR ...] --budget N [--explain] [--order ORDER]",
    .about = "Chooses the cases of a run that are worth replaying if not all can be, as [select] "
             "of a run's file does, and lists them. Nothing is run, and nothing is written. DIR "
             "is the folder of a run, or a store; a folder without a run stands for the runs in "
             "its folders. Of several runs one choice is made, over all their cases.",
    .specs = specs,
};

// A run, with the place of its first case among those of all.
struct select_run {
    const char *name; // The folder or the store.
    struct store *store;
    struct feature_case *cases;
    size_t first, count;
};

// The cases of an op that were run on the target, and how many of them have failed.
struct select_failures {
    size_t count, failed;
};

struct select_listing {
    struct options options;
    const char *program;
    struct setup setup; // Open where a policy is named.
    struct choice_options choosing;
    struct arena *arena;
    struct run_folders runs;
    struct select_run *items; // Of the runs.
    size_t open_count;
    struct table op_of;               // The place of an op, by its name, in
    struct select_failures *failures; // those of all runs.
    size_t op_count, op_capacity;
    struct case_choice choice;
    const struct select_pick **picks;
};

// -- What is asked for -------------------------------------------------------------------------

static const char ORDERS[] = "carved balance cover";

_Static_assert(CHOICE_BALANCE == CHOICE_CARVED + 1 && CHOICE_COVER == CHOICE_CARVED + 2,
               "the words of --order are numbered alike");

// Whether it is a word of the host's; any other is a policy.
static int read_order(const struct options *options, enum choice_order *out_order)
{
    int place = CHOICE_COVER - CHOICE_CARVED;
    const tapml_status status = options_word(options, "--order", ORDERS, &place);

    *out_order = (enum choice_order)(CHOICE_CARVED + place);
    return status == TAPML_OK;
}

static tapml_status open_setup(struct select_listing *listing)
{
    return listing->setup.registry != NULL
               ? TAPML_OK
               : setup_open(listing->program, &listing->options, NULL, &listing->setup);
}

static tapml_status
open_sorter(struct select_listing *listing, const char *name, struct policy **out_policy)
{
    TAPML_TRY(open_setup(listing));
    const tapml_status status =
        policy_create(listing->setup.registry, name, POLICY_ORDER_CASES, out_policy);

    return status == TAPML_NOT_FOUND
               ? status_fail(status,
                             "--order is '%s', expected one of: %s, or the id of a policy that is "
                             "installed or named by --plugin",
                             name, ORDERS)
               : status;
}

static tapml_status open_policies(struct select_listing *listing)
{
    const struct options *options = &listing->options;
    struct choice_settings *settings = &listing->choosing.settings;
    const char *selector = options_get(options, "--policy");

    if (selector != NULL) {
        TAPML_TRY(open_setup(listing));
        const tapml_status status =
            policy_create(listing->setup.registry, selector, POLICY_SELECT, &settings->selector);

        TAPML_TRY(status == TAPML_OK ? status : status_explain(status, "--policy"));
    }
    return read_order(options, &settings->order)
               ? TAPML_OK
               : open_sorter(listing, options_get(options, "--order"), &settings->sorter);
}

static tapml_status read_options(struct select_listing *listing)
{
    const struct options *options = &listing->options;
    const char *budget = options_get(options, "--budget");

    if (options->plain_count == 0) {
        return status_fail(TAPML_INVALID, "expected the folder of a run, found none");
    }
    if (budget == NULL) {
        return status_fail(TAPML_INVALID, "no budget: give --budget 200, --budget 2%% or "
                                          "--budget 600s");
    }
    TAPML_TRY(budget_read(budget, &listing->choosing.settings.budget));
    return open_policies(listing);
}

// -- Choosing ----------------------------------------------------------------------------------

static tapml_status count_verdict(struct select_listing *listing, const struct verdict *verdict)
{
    size_t op = 0;

    if (!table_find(&listing->op_of, verdict->op_name, &op)) {
        void *failures = listing->failures;

        if (!alloc_grow(&failures, &listing->op_capacity, listing->op_count,
                        sizeof(*listing->failures))) {
            return status_no_memory();
        }
        listing->failures = failures;
        op = listing->op_count;
        TAPML_TRY(table_set(&listing->op_of, verdict->op_name, op));
        listing->failures[listing->op_count++] = (struct select_failures){0, 0};
    }
    listing->failures[op].count++;
    listing->failures[op].failed += verdict_count_failed(verdict, 1);
    return TAPML_OK;
}

static tapml_status
count_verdicts(struct select_listing *listing, const struct select_run *run, const char *target)
{
    struct verdict_list list;

    TAPML_TRY(verdict_read(run->store, target, &list));
    tapml_status status = TAPML_OK;

    for (size_t i = 0; i < list.count && status == TAPML_OK; i++) {
        status = count_verdict(listing, &list.items[i]);
    }
    verdict_list_release(&list);
    return status;
}

// The share of the cases of an op that have failed on the target.
static double find_failures(void *user, const char *op)
{
    const struct select_listing *listing = user;
    size_t at = 0;

    return table_find(&listing->op_of, op, &at)
               ? (double)listing->failures[at].failed / (double)listing->failures[at].count
               : 0;
}

// Of several runs not each needs to have the target.
static tapml_status
read_target(struct select_listing *listing, struct select_run *run, const char *name)
{
    struct target_row row;
    const tapml_status status = target_find(run->store, name, listing->arena, &row);

    if (status == TAPML_NOT_FOUND) {
        return TAPML_OK;
    }
    TAPML_TRY(status);
    listing->choosing.find_failures = find_failures;
    listing->choosing.user = listing;
    return count_verdicts(listing, run, name);
}

// A store is read as it is at one moment.
static tapml_status read_run(struct select_listing *listing, struct select_run *run)
{
    const char *target = options_get(&listing->options, "--target");
    char *path =
        file_is_folder(run->name) ? file_join(run->name, "run.tapmlrun") : alloc_text(run->name);

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = store_open_to_read(path, &run->store);

    alloc_free(path);
    TAPML_TRY(status);
    TAPML_TRY(store_begin_to_read(run->store));
    status = target != NULL ? read_target(listing, run, target) : TAPML_OK;
    if (status == TAPML_OK) {
        status = feature_set_load(run->store, listing->choosing.target, 0, listing->arena,
                                  &run->cases, &run->count);
    }
    store_rollback(run->store);
    return status;
}

// A store by its own name is one more run.
static tapml_status find_runs(struct select_listing *listing)
{
    const struct options *options = &listing->options;

    for (size_t i = 0; i < options->plain_count; i++) {
        const char *given = options->plain[i];
        void *names = listing->runs.names;

        if (file_is_folder(given)) {
            TAPML_TRY(run_folders_add(&listing->runs, listing->arena, given));
            continue;
        }
        if (!alloc_grow(&names, &listing->runs.capacity, listing->runs.count,
                        sizeof(*listing->runs.names))) {
            return status_no_memory();
        }
        listing->runs.names = names;
        listing->runs.names[listing->runs.count++] = given;
    }
    listing->items = arena_array(listing->arena, listing->runs.count + 1, sizeof(*listing->items));
    return listing->items != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status read_runs(struct select_listing *listing, size_t *out_count)
{
    size_t count = 0;

    TAPML_TRY(find_runs(listing));
    for (size_t i = 0; i < listing->runs.count; i++) {
        struct select_run *run = &listing->items[i];

        run->name = listing->runs.names[i];
        run->first = count;
        listing->open_count++;
        TAPML_TRY(read_run(listing, run));
        count += run->count;
    }
    *out_count = count;
    return TAPML_OK;
}

static tapml_status choose(struct select_listing *listing)
{
    const char *target = options_get(&listing->options, "--target");
    size_t count = 0;

    listing->choosing.target = target != NULL ? target : "";
    TAPML_TRY(read_runs(listing, &count));
    if (target != NULL && listing->choosing.find_failures == NULL) {
        return status_fail(TAPML_NOT_FOUND, "--target is '%s', which is no target of the run",
                           target);
    }
    struct feature_case *cases = arena_array(listing->arena, count + 1, sizeof(*cases));

    if (cases == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < listing->open_count; i++) {
        const struct select_run *run = &listing->items[i];

        for (size_t k = 0; k < run->count; k++) {
            cases[run->first + k] = run->cases[k];
        }
    }
    return choice_make_of(cases, count, &listing->choosing, listing->arena, &listing->choice);
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

// The run that a case is of.
static const char *find_run(const struct select_listing *listing, uint32_t index)
{
    size_t run = 0;

    while (run + 1 < listing->open_count && listing->items[run + 1].first <= index) {
        run++;
    }
    return listing->items[run].name;
}

static void
print_case(const struct select_listing *listing, uint32_t index, int explains, struct text *out)
{
    const struct case_choice *choice = &listing->choice;
    const struct feature_case *item = &choice->cases[index];
    const struct select_pick *pick = explains ? listing->picks[index] : NULL;

    if (listing->open_count > 1) {
        text_format(out, "%s  ", find_run(listing, index));
    }
    text_format(out, "%6" PRId64 "  %-8s %-24s %-32s", item->id, item->phase, item->op,
                item->instance);
    if (pick != NULL && choice->selected_by != NULL) {
        text_format(out, "  worth %.3f", pick->gain);
    } else if (pick != NULL) {
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
    if (choice->selected_by != NULL) {
        text_format(out, "signatures: %zu\n", choice->group_count);
        return;
    }
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

    text_append(out, "{\"run\": ");
    text_append_json(out, find_run(listing, index));
    text_format(out, ", \"id\": %" PRId64 ", \"instance\": ", item->id);
    text_append_json(out, item->instance);
    text_append(out, ", \"signature\": ");
    text_append_json(out, item->row.signature);
    if (pick != NULL && choice->selected_by != NULL) {
        text_format(out, ", \"worth\": %.9g", pick->gain);
    } else if (pick != NULL) {
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
    text_format(&text, ", \"cases\": %zu", choice->count);
    if (choice->selected_by == NULL) {
        text_format(&text, ", \"value\": %.9g, \"most\": %.9g, \"bound\": \"%s\"",
                    certificate->value, certificate->most,
                    certificate->bound == OBJECTIVE_BY_GAINS ? "gains" : "utilities");
    }
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

    listing->arena = arena_create();
    if (listing->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(read_options(listing));
    TAPML_TRY(choose(listing));
    TAPML_TRY(find_picks(listing));
    return options_get(options, "--json") != NULL
               ? print_json(listing)
               : print_text(listing, options_get(options, "--explain") != NULL);
}

enum outcome command_select_main(const struct command *command)
{
    struct select_listing listing = {.program = command->program};
    tapml_status status = options_parse(specs, command->argc, command->argv, &listing.options);

    if (status == TAPML_OK && options_get(&listing.options, "--help") != NULL) {
        return outcome_report(options_help(&command_select_manual));
    }
    if (status == TAPML_OK) {
        status = run(&listing);
    }
    const enum outcome outcome = outcome_report(status);

    for (size_t i = 0; i < listing.open_count; i++) {
        store_close(listing.items[i].store);
    }
    policy_destroy(listing.choosing.settings.selector);
    policy_destroy(listing.choosing.settings.sorter);
    setup_close(&listing.setup);
    run_folders_release(&listing.runs);
    table_release(&listing.op_of);
    alloc_free(listing.failures);
    arena_destroy(listing.arena);
    return outcome;
}
