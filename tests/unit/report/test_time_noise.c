// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/time_noise.h"

#include <criterion/criterion.h>
#include <math.h>

enum { GROUPS = 6, RUNS = 5 };

static struct time_noise_group groups[GROUPS];
static double shifts[GROUPS][RUNS], errors[GROUPS][RUNS], controls[RUNS];
static struct time_noise_change changes[GROUPS], whole;

// Groups that scatter by a tenth at most.
static void setup(void)
{
    static const double scatter[GROUPS] = {0.01, -0.02, 0, 0.03, -0.01, 0.02};

    for (size_t i = 0; i < GROUPS; i++) {
        for (size_t run = 0; run < RUNS; run++) {
            shifts[i][run] = run > 0 ? scatter[(i + run) % GROUPS] : 0;
            errors[i][run] = 0.01;
        }
        groups[i] = (struct time_noise_group){shifts[i], errors[i], 20};
    }
    for (size_t run = 0; run < RUNS; run++) {
        controls[run] = 0;
    }
}

TestSuite(time_noise, .init = setup);

static void judge(size_t runs)
{
    cr_assert_eq(time_noise_judge(groups, GROUPS, controls, runs, changes, &whole), TAPML_OK);
}

Test(time_noise, the_median_of_values)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};

    cr_assert_eq(time_noise_median(odd, 3), 3);
    cr_assert_eq(time_noise_median(even, 4), 2.5);
    cr_assert(isnan(time_noise_median(even, 0)));
}

// The median is 1, deviations are 0, 1, 1, 1, 99: 1.2533 * 1.4826 * 1 / sqrt(5).
Test(time_noise, a_shift_is_a_median_that_no_outlier_moves)
{
    double logs[] = {1, 0, 2, 0, 100}, shift = 0, error = 0;

    time_noise_shift(logs, 5, &shift, &error);
    cr_assert_eq(shift, 1);
    cr_assert_float_eq(error, 0.83098, 1e-4);
    time_noise_shift(logs, 0, &shift, &error);
    cr_assert(isnan(shift) && isnan(error));
}

Test(time_noise, what_scatters_is_still)
{
    for (size_t runs = 2; runs <= RUNS; runs++) {
        judge(runs);
        for (size_t i = 0; i < GROUPS; i++) {
            cr_assert_eq(changes[i].move, TIME_NOISE_STILL, "group %zu of %zu runs", i, runs);
        }
        cr_assert_eq(whole.move, runs > 3 ? TIME_NOISE_STILL : TIME_NOISE_UNKNOWN);
    }
}

Test(time_noise, one_group_moves_alone)
{
    shifts[2][1] = log(2);
    judge(2);
    cr_assert_eq(changes[2].move, TIME_NOISE_SLOWER);
    cr_assert_float_eq(changes[2].ratio, 2, 0.1);
    cr_assert_lt(changes[2].noise, 1.5);
    cr_assert_eq(changes[3].move, TIME_NOISE_STILL);
    cr_assert_eq(whole.move, TIME_NOISE_UNKNOWN, "the machine may be slower");
    shifts[2][1] = -log(2);
    judge(2);
    cr_assert_eq(changes[2].move, TIME_NOISE_FASTER);
    cr_assert_float_eq(changes[2].ratio, 0.5, 0.05);
}

Test(time_noise, all_groups_together_are_the_whole_and_the_source_is_noise_of_it)
{
    for (size_t i = 0; i < GROUPS; i++) {
        shifts[i][3] += log(1.5);
    }
    judge(4);
    cr_assert_eq(whole.move, TIME_NOISE_SLOWER);
    cr_assert_float_eq(whole.ratio, 1.5, 0.1);
    cr_assert_eq(changes[0].move, TIME_NOISE_STILL, "no group is slower than the others");
    controls[3] = log(1.6);
    judge(4);
    cr_assert_eq(whole.move, TIME_NOISE_STILL);
}

// A group that differs from run to run by a factor of 2 does so in the last one, too.
Test(time_noise, earlier_runs_say_how_far_a_group_scatters)
{
    for (size_t run = 0; run < RUNS; run++) {
        shifts[4][run] = run % 2 == 0 ? 0 : log(2);
    }
    shifts[4][RUNS - 1] = log(2);
    judge(RUNS);
    cr_assert_eq(changes[4].move, TIME_NOISE_STILL);
    shifts[4][RUNS - 1] = log(100);
    judge(RUNS);
    cr_assert_eq(changes[4].move, TIME_NOISE_SLOWER);
}

Test(time_noise, little_is_unknown)
{
    groups[1].cases = TIME_NOISE_CASES - 1;
    shifts[2][1] = NAN;
    judge(2);
    cr_assert_eq(changes[1].move, TIME_NOISE_UNKNOWN);
    cr_assert_eq(changes[2].move, TIME_NOISE_UNKNOWN);
    judge(1);
    cr_assert_eq(changes[0].move, TIME_NOISE_UNKNOWN, "there is no run before");
    cr_assert_eq(whole.move, TIME_NOISE_UNKNOWN);
    cr_assert_str_eq(time_noise_move_name(TIME_NOISE_UNKNOWN), "unknown");
    cr_assert_str_eq(time_noise_move_name(TIME_NOISE_SLOWER), "slower");
}

// Of three groups there is no median to count beside: the source's shift is noise of each.
Test(time_noise, few_groups_are_judged_by_themselves)
{
    shifts[0][1] = log(2);
    cr_assert_eq(time_noise_judge(groups, 3, controls, 2, changes, &whole), TAPML_OK);
    cr_assert_eq(changes[0].move, TIME_NOISE_SLOWER);
    cr_assert_eq(whole.move, TIME_NOISE_UNKNOWN);
    controls[1] = log(3);
    cr_assert_eq(time_noise_judge(groups, 3, controls, 2, changes, &whole), TAPML_OK);
    cr_assert_eq(changes[0].move, TIME_NOISE_STILL);
}
