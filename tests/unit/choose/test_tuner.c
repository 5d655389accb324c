// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/tuner.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { FORMS = 2, SIZES = 6, ALL = FORMS * SIZES * SIZES, BUDGET = 24, REPETITIONS = 20 };

static const int64_t forms[] = {1, 2}, sizes[] = {1, 2, 4, 8, 16, 32};
static struct knob knobs[3];
static unsigned char legal[ALL / 8 + 1];
static struct knob_space space;

static void begin(void)
{
    knobs[0] = (struct knob){.name = "form", .about = "", .values = forms, .count = FORMS};
    knobs[1] = (struct knob){.name = "a", .about = "", .values = sizes, .count = SIZES};
    knobs[2] = (struct knob){.name = "b", .about = "", .values = sizes, .count = SIZES};
    space = (struct knob_space){.shape_class = "n=1", .knobs = knobs, .count = 3, .legal = legal};
    memset(legal, 0xff, sizeof(legal));
    legal[1] = 0; // A few are not.
    MUST(knobs_check(&space));
    MUST(knobs_check_legal(&space));
}

TestSuite(tuner, .init = begin);

// A bowl in each form, another one for another class; one value of a knob is wrong.
static double time_of(uint32_t number, double centre)
{
    uint32_t places[3];
    knobs_places(&space, number, places);
    const double a = (double)places[1] - centre, b = (double)places[2] - 2;
    return places[1] == 5 ? NAN : exp(0.3 * a * a + 0.2 * b * b + (places[0] == 0 ? 0.7 : 0));
}

static size_t tune(enum tuner_chooser chooser,
                   double centre,
                   uint64_t seed,
                   const struct tuner_trial *others,
                   size_t other_count,
                   struct tuner_trial out[BUDGET])
{
    size_t count = 0;
    while (1) {
        uint32_t number = 0;
        int has = 0;
        MUST(tuner_next(&(struct tuner_input){.space = &space,
                                              .chooser = chooser,
                                              .trials = out,
                                              .count = count,
                                              .others = others,
                                              .other_count = other_count,
                                              .budget = BUDGET,
                                              .seed = seed},
                        &number, &has));
        if (!has) {
            return count;
        }
        cr_assert(knobs_is_legal(&space, number));
        for (size_t i = 0; i < count; i++) {
            cr_assert_neq(out[i].number, number);
        }
        out[count++] = (struct tuner_trial){number, time_of(number, centre) /
                                                        time_of(knobs_chosen(&space), centre)};
    }
}

static double mean_after(enum tuner_chooser chooser, size_t budget)
{
    double sum = 0;
    for (uint64_t seed = 1; seed <= REPETITIONS; seed++) {
        struct tuner_trial others[BUDGET], trials[BUDGET];
        const size_t known = tune(TUNER_PREDICTOR, 2.5, seed, NULL, 0, others);
        (void)tune(chooser, 3, seed, others, known, trials);
        sum += tuner_best(trials, budget)->ratio;
    }
    return sum / REPETITIONS;
}

Test(tuner, the_first_is_what_the_device_chooses)
{
    struct tuner_trial trials[BUDGET];
    cr_assert_eq(tune(TUNER_PREDICTOR, 3, 1, NULL, 0, trials), BUDGET);
    cr_expect_eq(trials[0].number, knobs_chosen(&space));
}

Test(tuner, who_knows_more_is_sooner_there)
{
    const double random = mean_after(TUNER_RANDOM, 20), predicted = mean_after(TUNER_PREDICTOR, 20),
                 transferred = mean_after(TUNER_TRANSFERRED, 6);
    cr_expect_lt(predicted, random, "%f %f", predicted, random);
    cr_expect_leq(transferred, random, "%f %f", transferred, random);
}

Test(tuner, the_same_is_chosen_again)
{
    struct tuner_trial one[BUDGET], other[BUDGET];
    (void)tune(TUNER_PREDICTOR, 3, 7, NULL, 0, one);
    (void)tune(TUNER_PREDICTOR, 3, 7, NULL, 0, other);
    for (int i = 0; i < BUDGET; i++) {
        cr_expect_eq(one[i].number, other[i].number);
    }
}

Test(tuner, it_ends_when_all_are_tried)
{
    struct tuner_trial trials[BUDGET];
    memset(legal, 0, sizeof(legal));
    legal[0] = 7;
    MUST(knobs_check_legal(&space));
    cr_expect_eq(tune(TUNER_RANDOM, 3, 1, NULL, 0, trials), 3u);
    cr_expect_null(tuner_best(trials, 0));
}
