// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/choice.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/random.h"
#include "choose/balance.h"
#include "choose/case_policy.h"
#include "choose/feature_set.h"
#include "choose/risk.h"
#include "choose/vectors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHUFFLE_SEED = 1, SIGNATURES_MAX = 128 };

static const double SECOND_NS = 1e9;

struct choosing {
    const struct choice_options *options;
    struct arena *arena;
    struct case_choice choice;
    double *costs; // Of all cases, in seconds; NULL: they are counted.
};

const char *choice_order_name(enum choice_order order)
{
    static const char *const names[] = {"auto", "carved", "balance", "cover"};
    ASSERT((size_t)order < sizeof(names) / sizeof(*names));
    return names[order];
}

// -- Times -------------------------------------------------------------------------------------

static tapml_status fit_to(struct choosing *choosing, int is_of_target)
{
    struct case_choice *choice = &choosing->choice;
    double *times = arena_array(choosing->arena, choice->count + 1, sizeof(*times));
    if (!times) {
        return status_no_memory();
    }
    for (size_t i = 0; i < choice->count; i++) {
        const struct feature_case *item = &choice->cases[i];
        times[i] = (double)(is_of_target ? item->target_ns : item->source_ns);
    }
    choice->is_of_target = is_of_target;
    return time_model_fit(&(struct time_model_input){choice->cases, choice->count, choice->groups,
                                                     choice->group_count, times},
                          choosing->arena, &choice->times, &choice->has_times);
}

static tapml_status predict(struct choosing *choosing)
{
    TAPML_TRY(fit_to(choosing, 1));
    return choosing->choice.has_times ? TAPML_OK : fit_to(choosing, 0);
}

// -- Selecting ---------------------------------------------------------------------------------

static tapml_status find_costs(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    if (choosing->options->settings.budget.kind != BUDGET_SECONDS) {
        return TAPML_OK;
    }
    choosing->costs = arena_array(choosing->arena, choice->count + 1, sizeof(*choosing->costs));
    if (!choosing->costs) {
        return status_no_memory();
    }
    for (size_t i = 0; i < choice->count; i++) {
        const double time_ns = choice->has_times ? choice->times.times_ns[i] : 1;
        choosing->costs[i] = fmax(time_ns, 1) / SECOND_NS;
    }
    return TAPML_OK;
}

static tapml_status measure_risks(struct choosing *choosing, double **out_risks)
{
    struct case_choice *choice = &choosing->choice;
    double *failures = arena_array(choosing->arena, choice->count + 1, sizeof(*failures));
    double *whole = arena_array(choosing->arena, choice->count + 1, sizeof(*whole));
    choice->risks = arena_array(choosing->arena, choice->count + 1, sizeof(*choice->risks));
    if (!failures || !whole || !choice->risks) {
        return status_no_memory();
    }
    for (size_t i = 0; choosing->options->find_failures && i < choice->count; i++) {
        failures[i] =
            choosing->options->find_failures(choosing->options->user, choice->cases[i].op);
    }
    TAPML_TRY(risk_measure(choice->cases, choice->count, choice->groups, choice->group_count,
                           failures, choice->risks));
    for (size_t i = 0; i < choice->count; i++) {
        whole[i] = risk_whole(&choice->risks[i]);
    }
    *out_risks = whole;
    return TAPML_OK;
}

static struct case_policy_input policy_input(const struct choosing *choosing)
{
    const struct case_choice *choice = &choosing->choice;
    return (struct case_policy_input){.target = choosing->options->target,
                                      .cases = choice->cases,
                                      .groups = choice->groups,
                                      .count = choice->count,
                                      .group_count = choice->group_count,
                                      .times_ns = choice->has_times ? choice->times.times_ns : NULL,
                                      .budget = choosing->options->settings.budget};
}

static tapml_status select_by_policy(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    struct policy *policy = choosing->options->settings.selector;
    const struct case_policy_input input = policy_input(choosing);
    choice->selected_by = case_policy_name(policy, choosing->arena);
    return choice->selected_by
               ? case_policy_select(policy, &input, choosing->arena, &choice->selected)
               : status_no_memory();
}

static tapml_status select_by_worth(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    const struct case_budget *budget = &choosing->options->settings.budget;
    float *values = NULL;
    double *risks = NULL;
    TAPML_TRY(find_costs(choosing));
    TAPML_TRY(measure_risks(choosing, &risks));
    TAPML_TRY(vectors_make(choice->cases, choice->count, choice->groups, choice->group_count,
                           choosing->arena, &values));
    const struct select_input input = {
        .points = {values, FEATURE_COUNT, choice->groups, choice->count},
        .group_count = choice->group_count,
        .risks = risks,
        .costs = choosing->costs,
        .budget = choosing->costs ? budget->amount : (double)budget_cases(budget, choice->count),
        .bounding_from = SELECT_BOUNDING_FROM,
        .graph_max = SELECT_GRAPH_MAX};
    return select_run(&input, choosing->arena, &choice->selected);
}

// Chooses within the budget; within one of all cases if only their order is asked for.
static tapml_status select_cases(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    TAPML_TRY(choice->has_selected && choosing->options->settings.selector
                  ? select_by_policy(choosing)
                  : select_by_worth(choosing));
    choice->chosen = choice->selected.count;
    for (size_t i = 0; i < choice->chosen; i++) {
        choice->order[i] = choice->selected.picks[i].index;
    }
    return TAPML_OK;
}

// -- Ordering ----------------------------------------------------------------------------------

static int by_index(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return one < other ? -1 : one > other;
}

static void sort_as_carved(struct case_choice *choice)
{
    if (choice->chosen > 0) {
        qsort(choice->order, choice->chosen, sizeof(*choice->order), by_index);
    }
}

// What is balanced: features scaled over all cases; a column of variance 1 for each signature,
// since what a case takes and whether it passes depends on its kernel first; and the predicted
// time, of which a total is a sum. The weights are those that were best of five on three small
// carves.
static const double FEATURES = 1.0 / 3, SIGNATURE = 1, TIME = 2;

struct balancing {
    const float *values;    // Of all cases.
    double *signatures;     // What each signature has in its column.
    double mean, deviation; // Of predicted times.
    size_t columns;
};

static void put_point(const struct case_choice *choice,
                      const struct balancing *balancing,
                      uint32_t index,
                      float *point)
{
    const float *values = balancing->values + (size_t)index * FEATURE_COUNT;
    const uint32_t group = choice->groups[index];
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        point[i] = (float)FEATURES * values[i];
    }
    if (group < balancing->columns) {
        point[FEATURE_COUNT + group] = (float)balancing->signatures[group];
    }
    if (balancing->deviation > 0) {
        const double time =
            (choice->times.times_ns[index] - balancing->mean) / balancing->deviation;
        point[FEATURE_COUNT + balancing->columns] = (float)(TIME * time);
    }
}

static void find_signatures(const struct case_choice *choice, struct balancing *balancing)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->groups[i] < balancing->columns) {
            balancing->signatures[choice->groups[i]] += 1.0 / (double)choice->count;
        }
    }
    for (size_t i = 0; i < balancing->columns; i++) {
        const double share = balancing->signatures[i];
        balancing->signatures[i] = share < 1 ? SIGNATURE / sqrt(share * (1 - share)) : 0;
    }
}

static void find_times(const struct case_choice *choice, struct balancing *balancing)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; choice->has_times && i < choice->count; i++) {
        sum += choice->times.times_ns[i] / (double)choice->count;
        squares += choice->times.times_ns[i] * choice->times.times_ns[i] / (double)choice->count;
    }
    balancing->mean = sum;
    balancing->deviation = sqrt(fmax(squares - sum * sum, 0));
}

// The first pass begins from no order at all: pairs of neighbours would be pairs of a layer.
static void shuffle(uint32_t *order, size_t count)
{
    struct random random;
    random_init(&random, SHUFFLE_SEED);
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)random_below(&random, i);
        const uint32_t kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static tapml_status balance(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    struct balancing balancing = {
        .columns = choice->group_count < SIGNATURES_MAX ? choice->group_count : SIGNATURES_MAX};
    const size_t width = FEATURE_COUNT + balancing.columns + 1;
    float *values = NULL;
    float *points = arena_array(choosing->arena, choice->chosen * width + 1, sizeof(*points));
    uint32_t *order = arena_array(choosing->arena, choice->chosen + 1, sizeof(*order));
    balancing.signatures = arena_array(choosing->arena, balancing.columns + 1, sizeof(double));
    if (!points || !order || !balancing.signatures) {
        return status_no_memory();
    }
    TAPML_TRY(vectors_make(choice->cases, choice->count, NULL, 1, choosing->arena, &values));
    balancing.values = values;
    find_signatures(choice, &balancing);
    find_times(choice, &balancing);
    for (size_t i = 0; i < choice->chosen; i++) {
        put_point(choice, &balancing, choice->order[i], points + i * width);
    }
    shuffle(order, choice->chosen);
    TAPML_TRY(balance_run(&(struct balance_points){points, width, choice->chosen}, BALANCE_PASSES,
                          order));
    for (size_t i = 0; i < choice->chosen; i++) {
        order[i] = choice->order[order[i]];
    }
    choice->order = order;
    return TAPML_OK;
}

static tapml_status sort_by_policy(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    struct policy *policy = choosing->options->settings.sorter;
    const struct case_policy_input input = policy_input(choosing);
    choice->sorted_by = case_policy_name(policy, choosing->arena);
    sort_as_carved(choice);
    return choice->sorted_by
               ? case_policy_order(policy, &input, choosing->arena, choice->order, choice->chosen)
               : status_no_memory();
}

static tapml_status put_in_order(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    const struct choice_settings *settings = &choosing->options->settings;
    const enum choice_order automatic =
        settings->budget.kind == BUDGET_SECONDS ? CHOICE_COVER : CHOICE_CARVED;
    if (settings->sorter) {
        choice->policy = CHOICE_CARVED;
        return sort_by_policy(choosing);
    }
    choice->policy = settings->order == CHOICE_AUTO ? automatic : settings->order;
    if (choice->policy == CHOICE_COVER) {
        return TAPML_OK; // They are in the order in which they were chosen.
    }
    sort_as_carved(choice);
    return choice->policy == CHOICE_BALANCE ? balance(choosing) : TAPML_OK;
}

// -- All of it ---------------------------------------------------------------------------------

static void sum_times(struct case_choice *choice)
{
    choice->seconds = choice->has_times ? 0 : NAN;
    for (size_t i = 0; choice->has_times && i < choice->chosen; i++) {
        choice->seconds += choice->times.times_ns[choice->order[i]] / SECOND_NS;
    }
}

static tapml_status make(struct choosing *choosing)
{
    struct case_choice *choice = &choosing->choice;
    const struct choice_settings *settings = &choosing->options->settings;
    TAPML_TRY(vectors_group(choice->cases, choice->count, choosing->arena, &choice->groups,
                            &choice->group_count));
    choice->order = arena_array(choosing->arena, choice->count + 1, sizeof(*choice->order));
    if (!choice->order) {
        return status_no_memory();
    }
    TAPML_TRY(predict(choosing));
    choice->has_selected = settings->budget.kind != BUDGET_ALL;
    if (choice->has_selected || settings->order == CHOICE_COVER) {
        TAPML_TRY(select_cases(choosing));
    } else {
        choice->chosen = choice->count;
        for (size_t i = 0; i < choice->count; i++) {
            choice->order[i] = (uint32_t)i;
        }
    }
    TAPML_TRY(put_in_order(choosing));
    sum_times(choice);
    return TAPML_OK;
}

tapml_status choice_make_of(struct feature_case *cases,
                            size_t count,
                            const struct choice_options *options,
                            struct arena *arena,
                            struct case_choice *out_choice)
{
    struct choosing choosing = {
        .options = options, .arena = arena, .choice = {.cases = cases, .count = count}};
    ASSERT(options->target);
    TAPML_TRY(make(&choosing));
    *out_choice = choosing.choice;
    return TAPML_OK;
}

tapml_status choice_make(struct store *store,
                         const struct choice_options *options,
                         struct arena *arena,
                         struct case_choice *out_choice)
{
    struct feature_case *cases = NULL;
    size_t count = 0;
    TAPML_TRY(feature_set_load(store, options->target, options->keep, arena, &cases, &count));
    return choice_make_of(cases, count, options, arena, out_choice);
}

static void print_certificate(const struct case_choice *choice, char *out, size_t size)
{
    const struct objective_certificate *certificate = &choice->selected.certificate;
    if (choice->selected_by) {
        (void)snprintf(out, size, "chosen by the policy %.150s, without a certificate",
                       choice->selected_by);
        return;
    }
    if (2 * choice->chosen > choice->count) { // Above half of the cases there is little to choose.
        (void)snprintf(out, size, "more than half of them, of which no bound says anything");
        return;
    }
    (void)snprintf(out, size, "worth at least %.2f of the best choice, by %s", certificate->share,
                   certificate->bound == OBJECTIVE_BY_GAINS ? "what is left to gain"
                                                            : "the largest utilities");
}

static void print_order(const struct case_choice *choice, char *out, size_t size)
{
    if (choice->sorted_by) {
        (void)snprintf(out, size, "in the order of the policy %.150s", choice->sorted_by);
    } else {
        (void)snprintf(out, size, "in the order '%s'", choice_order_name(choice->policy));
    }
}

void choice_print(const struct case_choice *choice, char out_text[CHOICE_TEXT])
{
    char certificate[CHOICE_TEXT / 3] = "", order[CHOICE_TEXT / 3] = "", left[CHOICE_TEXT / 6] = "";
    print_order(choice, order, sizeof(order));
    if (!choice->has_selected) {
        (void)snprintf(out_text, CHOICE_TEXT, "all %zu cases, %s", choice->count, order);
        return;
    }
    print_certificate(choice, certificate, sizeof(certificate));
    if (choice->selected.groups_left > 0) {
        (void)snprintf(left, sizeof(left),
                       "; the budget leaves %zu of %zu signatures without a case",
                       choice->selected.groups_left, choice->group_count);
    }
    (void)snprintf(out_text, CHOICE_TEXT, "%zu of %zu cases, %s, %s%s; the other %zu are not run",
                   choice->chosen, choice->count, order, certificate, left,
                   choice->count - choice->chosen);
}
