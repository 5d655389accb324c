// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/watch_simulate.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "config/run_file.h"
#include "store/store.h"
#include "store/store_open.h"
#include "watch/simulation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POLICIES_MAX = 256, INTERVAL_S = 300, LIMIT_TEXT = 320 }; // The interval is that of [watch].

static const double PERCENT = 100;

// A row of the table.
struct simulated {
    struct simulation_policy policy;
    const char *triggers; // As they were given.
    struct simulation result;
};

struct simulating_command {
    const struct options *options;
    struct arena *arena;
    struct run_config config; // If --config is given.
    int has_config;
    const char *dir;
    struct store *store;
    struct recorded recorded;
    struct simulated rows[POLICIES_MAX];
    size_t row_count;
    double interval_s;
};

// -- What is asked for -------------------------------------------------------------------------

static tapml_status read_place(struct simulating_command *command)
{
    const struct options *options = command->options;
    const char *config = options_get(options, "--config");

    if ((config != NULL) == (options->plain_count == 1) || options->plain_count > 1) {
        return status_fail(TAPML_INVALID,
                           "nothing to simulate: give --config FILE, or the folder of a run");
    }
    if (config == NULL) {
        command->dir = options->plain[0];
        return TAPML_OK;
    }
    TAPML_TRY(run_file_load(config, &command->config));
    command->has_config = 1;
    command->dir = command->config.dir;
    return TAPML_OK;
}

static tapml_status read_interval(struct simulating_command *command)
{
    const int64_t fallback = command->has_config ? command->config.watch.interval_s : INTERVAL_S;
    int64_t interval_s = 0;

    TAPML_TRY(options_i64(command->options, "--interval", fallback, 1, INT32_MAX, &interval_s));
    command->interval_s = (double)interval_s;
    return TAPML_OK;
}

static tapml_status add_row(struct simulating_command *command,
                            const char *triggers,
                            int ensemble,
                            const struct case_budget *budget)
{
    struct simulated *row = &command->rows[command->row_count];

    if (command->row_count == POLICIES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d sets of triggers", POLICIES_MAX);
    }
    *row = (struct simulated){.triggers = triggers, .policy.interval_s = command->interval_s};
    if (watch_settings_read(triggers, &row->policy.settings) != TAPML_OK) {
        return status_explain(TAPML_INVALID, "--triggers");
    }
    row->policy.settings.ensemble = ensemble;
    row->policy.settings.budget = *budget;
    command->row_count++;
    return TAPML_OK;
}

static int has_several(const char *triggers)
{
    struct watch_settings settings;

    return watch_settings_read(triggers, &settings) == TAPML_OK &&
           (settings.is_on & (settings.is_on - 1)) != 0;
}

// All ensembles that are asked for; without any, those that differ.
static tapml_status add_ensembles(struct simulating_command *command,
                                  const char *triggers,
                                  const struct case_budget *budget)
{
    const char *word = options_at(command->options, "--ensemble", 0);

    if (word == NULL) {
        TAPML_TRY(add_row(command, triggers, WATCH_ANY, budget));
        return has_several(triggers) ? add_row(command, triggers, WATCH_MAJORITY, budget)
                                     : TAPML_OK;
    }
    for (size_t i = 0; word != NULL; word = options_at(command->options, "--ensemble", ++i)) {
        if (strcmp(word, "any") != 0 && strcmp(word, "majority") != 0) {
            return status_fail(TAPML_INVALID, "--ensemble is '%s', expected one of: %s", word,
                               WATCH_ENSEMBLES);
        }
        TAPML_TRY(add_row(command, triggers, strcmp(word, "any") == 0 ? WATCH_ANY : WATCH_MAJORITY,
                          budget));
    }
    return TAPML_OK;
}

static tapml_status add_triggers(struct simulating_command *command,
                                 const struct case_budget *budget)
{
    static const char *const usual[] = {"identity", "cost"};
    const char *triggers = options_at(command->options, "--triggers", 0);

    for (size_t i = 0; triggers != NULL;
         triggers = options_at(command->options, "--triggers", ++i)) {
        TAPML_TRY(add_ensembles(command, triggers, budget));
    }
    if (options_at(command->options, "--triggers", 0) != NULL) {
        return TAPML_OK;
    }
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
        TAPML_TRY(add_ensembles(command, usual[i], budget));
    }
    return TAPML_OK;
}

// Everything at each look, what the INI says, and all that is asked for.
static tapml_status add_rows(struct simulating_command *command)
{
    const struct case_budget all = {.kind = BUDGET_ALL};
    const struct watch_settings *own = &command->config.watch;
    const char *word = options_at(command->options, "--budget", 0);

    TAPML_TRY(add_row(command, "identity", WATCH_ANY, &all));
    command->rows[0].policy.is_everything = 1;
    command->rows[0].triggers = "everything at each look";
    if (command->has_config) {
        TAPML_TRY(add_row(command, own->triggers, own->ensemble, &own->budget));
    }
    if (word == NULL) {
        return add_triggers(command, command->has_config ? &own->budget : &all);
    }
    for (size_t i = 0; word != NULL; word = options_at(command->options, "--budget", ++i)) {
        struct case_budget budget = all;

        if (strcmp(word, "all") != 0 && budget_read(word, &budget) != TAPML_OK) {
            return status_explain(TAPML_INVALID, "--budget");
        }
        TAPML_TRY(add_triggers(command, &budget));
    }
    return TAPML_OK;
}

static tapml_status open_records(struct simulating_command *command)
{
    char *path = file_join(command->dir, "run.tapmlrun");

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = store_open_to_read(path, &command->store);

    alloc_free(path);
    if (status == TAPML_OK) {
        status = store_begin_to_read(command->store);
    }
    return status == TAPML_OK ? recorded_read(command->store, command->arena, &command->recorded)
                              : status;
}

// -- Printing ----------------------------------------------------------------------------------

static int64_t sum_everything(const struct simulating_command *command)
{
    int64_t everything = 0;

    for (size_t i = 0; i < command->recorded.look_count; i++) {
        everything += command->recorded.looks[i].everything;
    }
    return everything;
}

static double share_of(const struct simulating_command *command, const struct simulation *result)
{
    const int64_t everything = sum_everything(command);

    return everything > 0 ? (double)(result->replayed + result->sampled) / (double)everything : 0;
}

static double mean_of(double sum, const struct simulation *result)
{
    return result->ends[SIMULATION_FOUND] > 0 ? sum / (double)result->ends[SIMULATION_FOUND] : 0;
}

static const char *ensemble_name(const struct simulated *row)
{
    return row->policy.settings.ensemble == WATCH_MAJORITY ? "majority" : "any";
}

static void
print_row(const struct simulating_command *command, const struct simulated *row, struct text *out)
{
    const struct simulation *result = &row->result;
    char budget[BUDGET_TEXT];

    budget_print(&row->policy.settings.budget, budget);
    text_format(out, "%-26s %-8s %6s %5" PRId64 " %7" PRId64 " %7" PRId64 " %6.2f %8.3g ",
                row->triggers, ensemble_name(row), budget, result->looks, result->replayed,
                result->sampled, PERCENT * share_of(command, result), result->seconds);
    text_format(out, "%5" PRId64 " %6" PRId64 " %4" PRId64 " %7" PRId64 " ",
                result->ends[SIMULATION_FOUND], result->ends[SIMULATION_MISSED],
                result->ends[SIMULATION_OPEN], result->ends[SIMULATION_UNKNOWN]);
    text_format(out, "%7.1f %4" PRId64 " %9.4g %6.4g\n",
                mean_of((double)result->late_looks, result), result->late_looks_max,
                mean_of(result->late_s, result), result->late_s_max);
}

typedef void (*say_fn)(void *user, const char *sentence);

// What the records cannot say, one sentence at a time.
static void say_limits(const struct simulating_command *command, say_fn say, void *user)
{
    const struct recorded *recorded = &command->recorded;
    struct simulation sums = {0};
    char text[LIMIT_TEXT];

    for (size_t i = 0; i < command->row_count; i++) {
        const struct simulation *result = &command->rows[i].result;

        sums.unknown = result->unknown > sums.unknown ? result->unknown : sums.unknown;
        sums.unordered = result->unordered > sums.unordered ? result->unordered : sums.unordered;
        sums.unsampled = result->unsampled > sums.unsampled ? result->unsampled : sums.unsampled;
    }
    if (recorded->looks_before > 0) {
        (void)snprintf(text, sizeof(text),
                       "%zu looks before have no rows of single cases: what was judged before is "
                       "not known",
                       recorded->looks_before);
        say(user, text);
    }
    if (recorded->turned_unseen > 0) {
        (void)snprintf(text, sizeof(text),
                       "%" PRId64 " verdicts that were worse are of drivers, or of a content that "
                       "another case has, too, and are not simulated",
                       recorded->turned_unseen);
        say(user, text);
    }
    if (sums.unknown > 0) {
        (void)snprintf(text, sizeof(text),
                       "up to %" PRId64 " replays of a row have no verdict in the records, which "
                       "ran the case later or not at all: regressions of these are unknown",
                       sums.unknown);
        say(user, text);
    }
    if (sums.unordered > 0) {
        (void)snprintf(text, sizeof(text),
                       "up to %" PRId64 " replays of a row are of cases that the run does not have "
                       "any more: they stand last in the order within a budget",
                       sums.unordered);
        say(user, text);
    }
    if (sums.unsampled > 0) {
        (void)snprintf(text, sizeof(text),
                       "no sample is recorded at up to %" PRId64 " of %zu looks of a row whose "
                       "triggers ask for some: nothing moved there, as far as is known",
                       sums.unsampled, recorded->look_count);
        say(user, text);
    }
    (void)snprintf(text, sizeof(text),
                   "seconds are those of calls: predicted for %zu of %zu cases, for %zu the last "
                   "that was recorded, else 0.01",
                   recorded->predicted, recorded->case_count, recorded->timed);
    say(user, text);
    say(user, "looks are those that found something, and between them one at each interval; a "
              "change that came and went between two looks is in no record");
}

static void say_in_text(void *user, const char *sentence)
{
    text_format(user, "%s.\n", sentence);
}

static void print_table(const struct simulating_command *command, struct text *out)
{
    const struct recorded *recorded = &command->recorded;
    const int64_t begin_s = recorded->looks[0].at_s;
    const int64_t end_s = recorded->looks[recorded->look_count - 1].at_s;

    text_format(out,
                "%zu looks in %" PRId64 " s at %zu cases of %zu targets have recorded %zu "
                "regressions: an operator of a target that was worse at a look\n\n",
                recorded->look_count, end_s - begin_s, recorded->case_count, recorded->target_count,
                recorded->regression_count);
    text_format(out, "%-26s %-8s %6s %5s %7s %7s %6s %8s %5s %6s %4s %7s %7s %4s %9s %6s\n",
                "triggers", "ensemble", "budget", "looks", "replays", "samples", "% all", "seconds",
                "found", "missed", "open", "unknown", "late by", "most", "late by s", "most s");
    for (size_t i = 0; i < command->row_count; i++) {
        print_row(command, &command->rows[i], out);
    }
    text_append(out, "\n");
    say_limits(command, say_in_text, out);
}

static void print_json_row(const struct simulating_command *command,
                           const struct simulated *row,
                           struct text *out)
{
    const struct simulation *result = &row->result;
    char budget[BUDGET_TEXT];

    budget_print(&row->policy.settings.budget, budget);
    text_append(out, "{\"triggers\": ");
    text_append_json(out, row->triggers);
    text_format(out,
                ", \"ensemble\": \"%s\", \"budget\": \"%s\", \"looks\": %" PRId64
                ", \"replays\": %" PRId64 ", \"samples\": %" PRId64
                ", \"share\": %.6g, \"seconds\": %.6g, ",
                ensemble_name(row), budget, result->looks, result->replayed, result->sampled,
                share_of(command, result), result->seconds);
    text_format(out,
                "\"found\": %" PRId64 ", \"missed\": %" PRId64 ", \"open\": %" PRId64
                ", \"unknown\": %" PRId64 ", ",
                result->ends[SIMULATION_FOUND], result->ends[SIMULATION_MISSED],
                result->ends[SIMULATION_OPEN], result->ends[SIMULATION_UNKNOWN]);
    text_format(out,
                "\"late_looks\": {\"mean\": %.6g, \"most\": %" PRId64
                "}, \"late_s\": {\"mean\": %.6g, \"most\": %.6g}, \"unknown_replays\": %" PRId64
                ", \"unordered_replays\": %" PRId64 ", \"unsampled_looks\": %" PRId64 "}",
                mean_of((double)result->late_looks, result), result->late_looks_max,
                mean_of(result->late_s, result), result->late_s_max, result->unknown,
                result->unordered, result->unsampled);
}

struct sentences {
    struct text *out;
    int count;
};

static void say_in_json(void *user, const char *sentence)
{
    struct sentences *sentences = user;

    text_append(sentences->out, sentences->count++ > 0 ? ",\n  " : "\n  ");
    text_append_json(sentences->out, sentence);
}

static void print_json(const struct simulating_command *command, struct text *out)
{
    const struct recorded *recorded = &command->recorded;
    struct sentences sentences = {.out = out};

    text_format(out,
                "{\"looks\": %zu, \"cases\": %zu, \"targets\": %zu, \"regressions\": %zu, "
                "\"began_s\": %" PRId64 ", \"ended_s\": %" PRId64 ", \"interval_s\": %.0f,\n"
                " \"policies\": [",
                recorded->look_count, recorded->case_count, recorded->target_count,
                recorded->regression_count, recorded->looks[0].at_s,
                recorded->looks[recorded->look_count - 1].at_s, command->interval_s);
    for (size_t i = 0; i < command->row_count; i++) {
        text_append(out, i > 0 ? ",\n  " : "\n  ");
        print_json_row(command, &command->rows[i], out);
    }
    text_append(out, "],\n \"limits\": [");
    say_limits(command, say_in_json, &sentences);
    text_append(out, "]}\n");
}

static tapml_status print(const struct simulating_command *command)
{
    struct text text;

    text_init(&text);
    if (options_get(command->options, "--json") != NULL) {
        print_json(command, &text);
    } else {
        print_table(command, &text);
    }
    return text_print(&text);
}

// -- The command -------------------------------------------------------------------------------

static tapml_status simulate(struct simulating_command *command)
{
    TAPML_TRY(read_place(command));
    TAPML_TRY(read_interval(command));
    TAPML_TRY(add_rows(command));
    TAPML_TRY(open_records(command));
    for (size_t i = 0; i < command->row_count; i++) {
        struct simulated *row = &command->rows[i];

        TAPML_TRY(simulation_run(&command->recorded, &row->policy, &row->result));
    }
    return print(command);
}

tapml_status watch_simulate_run(const struct options *options)
{
    struct simulating_command *command = alloc_new(sizeof(*command));
    struct arena *arena = arena_create();
    tapml_status status = command != NULL && arena != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        command->options = options;
        command->arena = arena;
        status = simulate(command);
    }
    if (command != NULL) {
        if (command->store != NULL) {
            store_rollback(command->store);
        }
        store_close(command->store);
        if (command->has_config) {
            run_config_release(&command->config);
        }
    }
    alloc_free(command);
    arena_destroy(arena);
    return status;
}
