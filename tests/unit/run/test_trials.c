// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// On the embedded model: its encodings, and another model beside it.
#include "config/device_file.h"
#include "contenders.h"
#include "run/trials.h"
#include "store/store.h"
#include "store/store_open.h"

#include <math.h>

static struct scratch scratch;
static struct store *store;
static struct arena *arena;

static const struct contender encodings[] = {{.name = "q4_0", .weights = "q4_0"},
                                             {.name = "q8_0", .weights = "q8_0"},
                                             {.name = "q5_1", .weights = "q5_1"}};

static void begin(void)
{
    scratch_make(&scratch);
    MUST(store_open(scratch_path(&scratch, "a.tapmlrun"), 1, &store));
    arena = arena_create();
    cr_assert_not_null(arena);
    CONTENDER_OPTIONS(NULL);
}

static void end(void)
{
    arena_destroy(arena);
    store_close(store);
    scratch_remove(&scratch);
}

TestSuite(trials, .init = begin, .fini = end, .timeout = 110);

static struct trials_options options_of(enum contender_measure measure)
{
    return (struct trials_options){
        .contender = contender_options_of(measure), .items = encodings, .count = 3, .store = store};
}

static struct trials_result make(const struct trials_options *options)
{
    struct trials_result made;

    MUST(trials_make(options, arena, &made));
    return made;
}

static const char *first_of(const struct trials_result *trials)
{
    return trials->arms[trials->contest.order[0]].contender->name;
}

Test(trials, the_best_encoding_is_found_and_costs_nothing_again)
{
    const struct trials_options options = options_of(CONTENDER_KL);
    const struct trials_result first = make(&options), again = make(&options);

    cr_expect_str_eq(first_of(&first), "q8_0");
    cr_expect_eq(first.contest.spent.runs, 12);
    cr_expect_eq(first.contest.predicted.runs, 12);
    cr_expect_gt(first.contest.predicted.seconds, 0);
    cr_expect_leq(first.openings, 5); // There and back.
    cr_expect_eq(first.context, 32);
    cr_expect_eq(trials_is_behind(&first.arms[1]), 0); // The first itself.
    cr_expect_eq(first.arms[1].behind.mean, 0);
    cr_expect_eq(first.arms[0].behind.count, 4);
    cr_expect_float_eq(first.arms[0].behind.mean,
                       first.arms[0].value.mean - first.arms[1].value.mean, 1e-12);
    cr_expect_str_eq(first_of(&again), "q8_0");
    cr_expect_eq(again.contest.spent.runs, 0);
    cr_expect_eq(again.contest.predicted.runs, 0);
    cr_expect_eq(again.openings, 0);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(trials_value(&first.arms[i]), trials_value(&again.arms[i]));
        cr_expect_float_eq(trials_value(&first.arms[i]), first.arms[i].value.mean, 1e-12);
        // All chunks are known, and the text stands for others.
        cr_expect_float_eq(trials_spread(&first, &first.arms[i]),
                           2 * running_mean_error(&first.arms[i].value), 1e-9);
    }
}

Test(trials, more_contenders_and_a_larger_budget_run_what_is_new)
{
    struct trials_options options = options_of(CONTENDER_PERPLEXITY);

    options.count = 2;
    options.budget = (struct case_budget){BUDGET_CASES, 4};
    const struct trials_result two = make(&options);

    cr_expect_eq(two.contest.spent.runs, 4);
    cr_expect_eq(two.arms[0].race->taken, 2);
    options.budget = (struct case_budget){.kind = BUDGET_ALL};
    cr_expect_eq(make(&options).contest.spent.runs, 4);
    options.count = 3;
    cr_expect_eq(make(&options).contest.spent.runs, 4);
    options.method = RACE_HALVING;
    const struct trials_result halved = make(&options);

    cr_expect_eq(halved.contest.spent.runs, 0);
    cr_expect_eq(halved.contest.race.method, RACE_HALVING);
}

Test(trials, what_does_not_fit_is_left_out_with_its_bytes)
{
    char figures[256];
    struct device_file device;
    struct trials_options options = options_of(CONTENDER_PERPLEXITY);
    struct contender_look look;
    struct contender_session *session = NULL;

    // As much memory as the second one takes.
    MUST(device_file_parse("a.ini", "[device]\nname = d\nsource = a test\n", 34, &device));
    options.contender.fits = &device;
    MUST(contender_look(&options.contender, &encodings[1], &session, arena, &look));
    contender_close(session);
    device_file_release(&device);
    (void)snprintf(figures, sizeof(figures),
                   "[device]\nname = d\nsource = a test\n[memory]\nbytes = %llu\n",
                   (unsigned long long)look.bytes - 1);
    MUST(device_file_parse("a.ini", figures, strlen(figures), &device));
    const struct trials_result made = make(&options);

    cr_assert_eq(made.left_out_count, 1);
    cr_expect_str_eq(made.left_out[0].contender->name, "q8_0");
    cr_expect_eq(made.left_out[0].bytes, look.bytes);
    cr_expect_not_null(strstr(made.left_out[0].why, "bytes, 'd' has "), "%s", made.left_out[0].why);
    cr_expect_eq(made.contest.race.arm_count, 2);
    cr_expect_eq(made.contest.spent.runs, 8);
    device_file_release(&device);
}

Test(trials, what_cannot_be_opened_is_left_out_and_with_nothing_left_it_fails)
{
    const struct contender some[] = {{.name = "a", .model = "/absent"},
                                     {.name = "b", .weights = "stored"}};
    struct trials_options options = options_of(CONTENDER_PERPLEXITY);
    struct trials_result made;

    options.items = some;
    options.count = 2;
    made = make(&options);
    cr_assert_eq(made.left_out_count, 1);
    cr_expect_not_null(strstr(made.left_out[0].why, "/absent"), "%s", made.left_out[0].why);
    cr_expect_eq(made.left_out[0].bytes, 0);
    options.count = 1;
    cr_expect_eq(trials_make(&options, arena, &made), TAPML_UNAVAILABLE);
    cr_expect_not_null(strstr(status_message(), "nothing can be tried: 'a': "));
}

// By the byte a value is that by the token over the bytes of a token.
Test(trials, perplexities_are_compared_by_the_byte)
{
    struct trials_options options = options_of(CONTENDER_PERPLEXITY);

    options.count = 1;
    options.is_per_byte = 1;
    const struct trials_result made = make(&options);
    const struct trials_arm *arm = &made.arms[0];

    cr_expect_float_eq(trials_value(arm), arm->value.mean / arm->look.bytes_of_token, 1e-12);
    cr_expect_gt(arm->look.bytes_of_token, 1);
    cr_expect_eq(arm->behind.count, 0);
}

Test(trials, arms_are_told_apart_by_two_standard_errors)
{
    struct trials_arm arm = {.behind = {.count = 1, .mean = 5}};

    cr_expect_eq(trials_is_behind(&arm), 0);
    arm.behind = (struct running_mean){.count = 5, .mean = 1.1, .squares = 5}; // An error of 0.5.
    cr_expect_eq(trials_is_behind(&arm), 1);
    arm.behind.mean = 0.9;
    cr_expect_eq(trials_is_behind(&arm), 0);
}

static tapml_status refuse(void *user, size_t done, size_t all)
{
    (void)user;
    return done == 3 && all > 0 ? status_fail(TAPML_CANCELLED, "enough") : TAPML_OK;
}

Test(trials, what_was_tried_before_an_interruption_stays)
{
    struct trials_options options = options_of(CONTENDER_PERPLEXITY);
    struct trials_result made;

    options.progress = refuse;
    cr_assert_eq(trials_make(&options, arena, &made), TAPML_CANCELLED);
    options.progress = NULL;
    cr_expect_eq(make(&options).contest.spent.runs, 12 - 3);
}

Test(trials, a_device_without_memory_bounds_nothing)
{
    struct device_file device;
    struct trials_options options = options_of(CONTENDER_SPEED);
    struct trials_result made;

    MUST(device_file_parse("a.ini", "[device]\nname = d\nsource = a test\n", 34, &device));
    options.contender.fits = &device;
    cr_expect_eq(trials_make(&options, arena, &made), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "has no 'bytes' in [memory]"));
    device_file_release(&device);
}
