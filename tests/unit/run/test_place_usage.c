// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/place_usage.h"
#include "verify/verdict.h"

#include <math.h>
#include <time.h>

static struct short_setup run;
static struct arena *arena;
static const struct verdict_list verdicts; // Of nothing.

static void begin(void)
{
    short_setup_open(&run);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
    short_setup_close(&run);
}

TestSuite(place_usage, .init = begin, .fini = end);

static struct usage_row only_row(void)
{
    struct usage_row *rows = NULL;
    size_t count = 0;

    SHORT_MUST(usage_list(run.store, NULL, arena, &rows, &count));
    cr_assert_eq(count, 1);
    return rows[0];
}

Test(place_usage, a_place_is_held_from_its_opening)
{
    struct place_usage usage;

    place_usage_begin(&usage, run.store, run.setup.places[1], &run.config, 0);
    SHORT_MUST(place_usage_note(&usage));
    const struct usage_row first = only_row();

    cr_expect_str_eq(first.place, "other");
    cr_expect_str_eq(first.device, "reference:f64");
    cr_expect_eq(first.start_ns, -1, "nothing was asked of it");
    cr_expect_gt(first.held_ns, 0);
    cr_expect_gt(first.began_s, 0);
    cr_expect_eq(first.cases.count, 0);
    cr_expect_not(rate_is_known(&first.rate));
    SHORT_MUST(place_usage_note(&usage));
    cr_expect_gt(only_row().held_ns, first.held_ns);
}

// An earlier start had all results, or a case is on its way only.
Test(place_usage, replays_without_results_are_none)
{
    struct place_usage usage;

    place_usage_begin(&usage, run.store, run.setup.places[1], &run.config, 0);
    SHORT_MUST(place_usage_end_cases(&usage)); // Of a look ahead.
    SHORT_MUST(place_usage_note(&usage));
    cr_expect_eq(only_row().cases.whole_ns, 0);
    SHORT_MUST(place_usage_begin_cases(&usage, &verdicts));
    SHORT_MUST(place_usage_end_cases(&usage));
    SHORT_MUST(place_usage_note(&usage));
    cr_expect_eq(only_row().cases.count, 0);
    cr_expect_eq(only_row().cases.whole_ns, 0);
    cr_expect_gt(only_row().start_ns, 0, "it was about to replay");
}

// It waits for nothing else, whatever comes between its opening and its jobs.
Test(place_usage, a_member_starts_until_its_first_case)
{
    enum { PAUSE_NS = 20000000 };
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct place_usage usage;
    int64_t starts_ns[2];

    for (int is_member = 0; is_member < 2; is_member++) {
        (void)nanosleep(&pause, NULL);
        place_usage_begin(&usage, run.store, run.setup.places[1], &run.config, is_member);
        SHORT_MUST(place_usage_begin_cases(&usage, &verdicts));
        SHORT_MUST(place_usage_note(&usage));
        starts_ns[is_member] = only_row().start_ns;
    }
    cr_expect_geq(starts_ns[1] - starts_ns[0], 2 * PAUSE_NS);
}

Test(place_usage, a_place_without_an_account_has_no_row)
{
    const struct place_settings settings = {.name = "other"};
    struct place_usage usage;
    struct place *place = NULL;
    struct usage_row *rows = NULL;
    size_t count = 7;

    SHORT_MUST(place_create(&settings, &place));
    place_usage_begin(&usage, run.store, place, &run.config, 0);
    SHORT_MUST(place_usage_note(&usage));
    SHORT_MUST(usage_list(run.store, NULL, arena, &rows, &count));
    cr_expect_eq(count, 0);
    place_destroy(place);
}
