// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How often does a race (choose/race.h) find the worst of several arms, and with how many of their
// cases? Arms have failures by chance: the worst one 30 % of its cases, the others up to 25 %.
// Exit status 1 if halving finds it less often than uniform does, of more arms than `auto` gives to
// uniform, at 16 % of the cases.
#include "choose/race.h"

#include "base/random.h"
#include "config/options.h"
#include "run/outcome.h"

#include <stdio.h>
#include <string.h>

enum {
    ARMS_MAX = 96,
    CASES = 200,
    WORST_PERMILLE = 300,
    OTHERS_PERMILLE = 250,
    PROVED_PERCENT = 16
};

static const struct options_spec specs[] = {
    {"--draws", "N", "of arms, for each line; 2000 if absent"},
    {"--short", NULL, "200 draws"},
    {NULL, NULL, NULL},
};

static const size_t arm_counts[] = {4, 8, 12, 32, 96};
static const size_t percents[] = {4, 8, PROVED_PERCENT, 32};
enum {
    COUNTS = (int)(sizeof(arm_counts) / sizeof(*arm_counts)),
    PERCENTS = (int)(sizeof(percents) / sizeof(*percents))
};

// Cases of all arms, and which one is the worst of them: the one with most failures, the first of
// equals.
struct drawn {
    uint8_t fails[ARMS_MAX][CASES];
    size_t worst;
};

static void draw(uint64_t seed, size_t arms, struct drawn *out)
{
    struct random random;
    size_t most = 0;

    random_init(&random, seed);
    const size_t chosen = (size_t)random_below(&random, arms);
    out->worst = 0;
    for (size_t i = 0; i < arms; i++) {
        const uint64_t rate = i == chosen ? WORST_PERMILLE : random_below(&random, OTHERS_PERMILLE);
        size_t failures = 0;

        for (size_t n = 0; n < CASES; n++) {
            out->fails[i][n] = random_below(&random, 1000) < rate;
            failures += out->fails[i][n];
        }
        if (failures > most) {
            most = failures;
            out->worst = i;
        }
    }
}

// Whether a race over what was drawn names the worst arm; adds the cases that it took.
static int find_worst(const struct drawn *drawn,
                      enum race_method method,
                      size_t arms,
                      size_t percent,
                      size_t *io_spent)
{
    struct race_arm items[ARMS_MAX];
    size_t order[ARMS_MAX];
    struct race race = {.method = method,
                        .arms = items,
                        .arm_count = arms,
                        .budget = method == RACE_EXHAUSTIVE ? 0 : arms * CASES * percent / 100,
                        .most = 1,
                        .is_of_failures = 1};

    for (size_t i = 0; i < arms; i++) {
        items[i] = (struct race_arm){.count = CASES};
    }
    race_begin(&race);
    while (race_next(&race)) {
        for (size_t i = 0; i < arms; i++) {
            while (items[i].taken < items[i].goal) {
                race_take(&race, i, drawn->fails[i][items[i].taken]);
            }
        }
    }
    race_sort(&race, order);
    *io_spent += race.spent;
    return order[0] == drawn->worst;
}

// The share of draws in which the worst arm is named; prints it.
static double
measure(enum race_method method, size_t arms, size_t percent, int64_t draws, struct drawn *drawn)
{
    size_t found = 0, spent = 0;

    for (int64_t i = 0; i < draws; i++) {
        draw((uint64_t)i + 1, arms, drawn);
        found += (size_t)find_worst(drawn, method, arms, percent, &spent);
    }
    const double share = (double)found / (double)draws;
    printf("  %-10s  worst named %5.1f %%, of the cases taken %5.1f %%\n", race_method_name(method),
           100 * share, 100 * (double)spent / (double)(draws * (int64_t)(arms * CASES)));
    return share;
}

static int measure_arms(size_t arms, int64_t draws)
{
    static struct drawn drawn;
    int is_untrue = 0;

    printf("%zu arms of %d cases\n", arms, (int)CASES);
    measure(RACE_EXHAUSTIVE, arms, 100, draws, &drawn);
    for (size_t i = 0; i < PERCENTS; i++) {
        printf(" budget of %zu %%\n", percents[i]);
        const double uniform = measure(RACE_UNIFORM, arms, percents[i], draws, &drawn);
        const double halving = measure(RACE_HALVING, arms, percents[i], draws, &drawn);
        const int is_proved = percents[i] == PROVED_PERCENT && arms > RACE_UNIFORM_MOST;

        is_untrue |= is_proved && halving < uniform;
    }
    return is_untrue;
}

int main(int argc, char **argv)
{
    struct options options;
    int64_t draws = 0;
    int is_untrue = 0;
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &options);

    if (status == TAPML_OK) {
        const int is_short = options_get(&options, "--short") != NULL;
        status = options_i64(&options, "--draws", is_short ? 200 : 2000, 1, 1000000, &draws);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    for (size_t i = 0; i < COUNTS; i++) {
        is_untrue |= measure_arms(arm_counts[i], draws);
    }
    if (is_untrue) {
        printf("NOT TRUE: of many arms halving finds the worst one as often as uniform does\n");
    }
    return is_untrue;
}
