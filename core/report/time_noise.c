// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/time_noise.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

static const double DEVIATION = 1.4826, MEDIAN_ERROR = 1.2533, SIGMAS = 3, LEAST = 1.1;

enum { GROUPS_MIN = 4, RUNS_MIN = 3 }; // For a median of groups, and a spread over runs.

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return a < b ? -1 : a > b;
}

double time_noise_median(double *values, size_t count)
{
    if (count == 0) {
        return (double)NAN;
    }
    qsort(values, count, sizeof(*values), compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

// The standard deviation that the median absolute deviation from `middle` estimates. The values
// become their deviations.
static double spread(double *values, size_t count, double middle)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = fabs(values[i] - middle);
    }
    return DEVIATION * time_noise_median(values, count);
}

void time_noise_shift(double *logs, size_t count, double *out_shift, double *out_error)
{
    *out_shift = time_noise_median(logs, count);
    *out_error = count > 0 ? MEDIAN_ERROR * spread(logs, count, *out_shift) / sqrt((double)count)
                           : (double)NAN;
}

struct time_judging {
    const struct time_noise_group *groups;
    size_t group_count, run_count;
    const double *controls;
    double *whole;   // One for each run: the median of the groups; 0 where they are few.
    double *scratch; // As many as there are groups or runs.
    double between;  // Of groups in the last run; 0 where they are few.
    int has_whole;
};

static size_t gather_groups(const struct time_judging *judging, size_t run, double middle)
{
    size_t count = 0;

    for (size_t i = 0; i < judging->group_count; i++) {
        const struct time_noise_group *group = &judging->groups[i];

        if (!isnan(group->shifts[run]) && group->cases >= TIME_NOISE_CASES) {
            judging->scratch[count++] = group->shifts[run] - middle;
        }
    }
    return count;
}

static void find_whole(struct time_judging *judging)
{
    for (size_t run = 0; run < judging->run_count; run++) {
        const size_t count = gather_groups(judging, run, 0);
        const double median = time_noise_median(judging->scratch, count);

        judging->has_whole = count >= GROUPS_MIN;
        judging->whole[run] = count >= GROUPS_MIN ? median : 0;
    }
    if (judging->has_whole) {
        const size_t last = judging->run_count - 1;
        const size_t count = gather_groups(judging, last, judging->whole[last]);

        judging->between = spread(judging->scratch, count, 0);
    }
}

// What runs before the last say: their median, and how far one run is from another if there are
// enough, else `fallback`.
struct earlier {
    double middle, spread;
    int is_known;
};

static struct earlier look_at_earlier(const struct time_judging *judging,
                                      const double *shifts,
                                      const double *base,
                                      double fallback)
{
    struct earlier earlier = {.spread = fallback};
    size_t count = 0;

    for (size_t run = 0; run + 1 < judging->run_count; run++) {
        if (!isnan(shifts[run])) {
            judging->scratch[count++] = shifts[run] - (base != NULL ? base[run] : 0);
        }
    }
    earlier.is_known = count > 0;
    earlier.middle = time_noise_median(judging->scratch, count);
    if (count >= RUNS_MIN) {
        earlier.spread = fmax(fallback, spread(judging->scratch, count, earlier.middle));
    }
    return earlier;
}

static struct time_noise_change conclude(double shift, double noise)
{
    const double least = fmax(noise, log(LEAST));

    return (struct time_noise_change){
        .ratio = exp(shift),
        .noise = exp(least),
        .move = shift > least    ? TIME_NOISE_SLOWER
                : shift < -least ? TIME_NOISE_FASTER
                                 : TIME_NOISE_STILL,
    };
}

static struct time_noise_change judge_group(const struct time_judging *judging,
                                            const struct time_noise_group *group)
{
    const size_t last = judging->run_count - 1;
    const struct earlier earlier =
        look_at_earlier(judging, group->shifts, judging->whole, judging->between);
    const double control = judging->controls[last];
    // Where there is no median of groups, the machine itself may have become slower.
    const double drift = judging->has_whole || isnan(control) ? 0 : fabs(control);

    if (!earlier.is_known || isnan(group->shifts[last]) || group->cases < TIME_NOISE_CASES) {
        return (struct time_noise_change){.ratio = NAN, .noise = NAN};
    }
    return conclude(group->shifts[last] - judging->whole[last] - earlier.middle,
                    SIGMAS * hypot(group->errors[last], earlier.spread) + drift);
}

static struct time_noise_change judge_whole(const struct time_judging *judging)
{
    const size_t last = judging->run_count - 1;
    const double groups = (double)gather_groups(judging, last, 0);
    const double control = judging->controls[last];

    // What moves all groups may be the machine: only other runs say how far that goes.
    if (!judging->has_whole || last < RUNS_MIN) {
        return (struct time_noise_change){.ratio = NAN, .noise = NAN};
    }
    const struct earlier earlier = look_at_earlier(judging, judging->whole, NULL,
                                                   MEDIAN_ERROR * judging->between / sqrt(groups));

    return conclude(judging->whole[last] - earlier.middle,
                    SIGMAS * earlier.spread + (isnan(control) ? 0 : fabs(control)));
}

tapml_status time_noise_judge(const struct time_noise_group *groups,
                              size_t group_count,
                              const double *controls,
                              size_t run_count,
                              struct time_noise_change *out_changes,
                              struct time_noise_change *out_whole)
{
    struct time_judging judging = {
        .groups = groups,
        .group_count = group_count,
        .run_count = run_count,
        .controls = controls,
        .whole = alloc_array(run_count + 1, sizeof(*judging.whole)),
        .scratch = alloc_array(group_count + run_count + 1, sizeof(*judging.scratch)),
    };
    const int has_memory = judging.whole != NULL && judging.scratch != NULL;

    if (has_memory) {
        find_whole(&judging);
        for (size_t i = 0; i < group_count; i++) {
            out_changes[i] = judge_group(&judging, &groups[i]);
        }
        *out_whole = judge_whole(&judging);
    }
    alloc_free(judging.whole);
    alloc_free(judging.scratch);
    return has_memory ? TAPML_OK : status_no_memory();
}

const char *time_noise_move_name(enum time_noise_move move)
{
    static const char *const names[] = {[TIME_NOISE_UNKNOWN] = "unknown",
                                        [TIME_NOISE_STILL] = "still",
                                        [TIME_NOISE_SLOWER] = "slower",
                                        [TIME_NOISE_FASTER] = "faster"};

    return names[move];
}
