// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/case_rounds.h"
#include "run/run_metadata.h"
#include "run/target_jobs.h"
#include "store/result.h"
#include "store/store.h"
#include "store/stored_case.h"
#include "store/target.h"

#include <sys/wait.h>

enum { TARGETS = 3, IDS_MAX = 4096 };

static const char *const names[TARGETS] = {"gpu", "npu", "dsp"};
static struct short_setup run;
static struct case_rounds *rounds;
static struct case_seat *seats[TARGETS];
static uint8_t handed_out[TARGETS][IDS_MAX]; // How often, by id.
static int64_t *all;
static size_t all_count;

static void declare_targets(void)
{
    struct target_row rows[TARGETS];

    for (size_t i = 0; i < TARGETS; i++) {
        rows[i] = (struct target_row){
            .name = names[i], .backend = "b", .activations = "f32", .faults = "", .goal = ""};
    }
    SHORT_MUST(store_begin(run.store));
    SHORT_MUST(target_declare(run.store, rows, TARGETS));
    SHORT_MUST(store_commit(run.store));
}

static void begin(void)
{
    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(stored_case_ids(run.store, &all, &all_count));
    declare_targets();
    SHORT_MUST(case_rounds_create(names, TARGETS, &rounds));
    cr_assert_gt(all_count, 20u);
    cr_assert_lt(all[all_count - 1], IDS_MAX);
}

static void end(void)
{
    for (size_t i = 0; i < TARGETS; i++) {
        case_rounds_leave(seats[i]);
    }
    case_rounds_destroy(rounds);
    alloc_free(all);
    short_setup_close(&run);
}

TestSuite(case_rounds, .init = begin, .fini = end);

static void join(size_t target)
{
    SHORT_MUST(case_rounds_join(rounds, target, run.store, &seats[target]));
}

static void leave(size_t target)
{
    case_rounds_leave(seats[target]);
    seats[target] = NULL;
}

static size_t next(size_t target, int *out_waits)
{
    const struct handed_cases cases = case_rounds_cases(seats[target]);
    const int64_t *ids = NULL;
    size_t count = 0;

    SHORT_MUST(cases.next(cases.user, &ids, &count, out_waits));
    for (size_t i = 0; i < count; i++) {
        cr_assert(ids[i] >= 0 && ids[i] < IDS_MAX);
        handed_out[target][ids[i]]++;
    }
    return count;
}

static int is_handed_out(size_t target, int64_t id)
{
    return handed_out[target][id] > 0;
}

// How many cases a target has had; none twice.
static size_t count_of(size_t target)
{
    size_t count = 0;

    for (size_t i = 0; i < all_count; i++) {
        cr_expect_leq(handed_out[target][all[i]], 1);
        count += handed_out[target][all[i]];
    }
    return count;
}

// Each of the first `count` targets asks in turn until none is handed anything, nor waits.
static void go_on(size_t count)
{
    size_t left = 1;

    while (left > 0) {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            int waits = 0;

            left += next(i, &waits) + (waits != 0);
        }
    }
}

static void write_result(const char *target, int64_t id, uint64_t time_ns)
{
    const struct result_maker maker = {
        .implementation = "i", .device = "d", .driver = "r", .options = "", .oracle = ""};

    SHORT_MUST(result_write(run.store, target,
                            &(struct result_row){.case_id = id,
                                                 .outcome = "unsupported",
                                                 .reason = "it lacks this op",
                                                 .time_ns = time_ns},
                            &maker));
}

Test(case_rounds, all_have_the_same_cases_in_the_same_round)
{
    size_t had = 0;
    int waits = 0;

    join(0);
    cr_expect_eq(next(0, &waits), 0u, "others are expected");
    cr_expect(waits);
    join(1);
    join(2);
    cr_expect_eq(next(1, &waits), 0u);
    for (size_t count = next(2, &waits); count > 0; count = next(2, &waits)) {
        cr_expect_eq(next(0, &waits), count);
        cr_expect_eq(next(0, &waits), 0u, "a round ahead of the others");
        cr_expect(waits);
        cr_expect_eq(next(1, &waits), count);
        cr_expect_eq(next(1, &waits), 0u);
        had += count;
        for (size_t i = 0; i < all_count; i++) {
            cr_expect_eq(is_handed_out(0, all[i]), i < had);
            cr_expect_eq(is_handed_out(1, all[i]), i < had);
        }
    }
    cr_expect_eq(had, all_count);
    go_on(TARGETS);
    cr_expect_eq(count_of(0), all_count);
}

Test(case_rounds, who_has_results_is_handed_what_it_lacks)
{
    for (size_t i = 0; i < all_count; i++) {
        write_result("gpu", all[i], 0);
        if (i % 3 == 0) {
            write_result("npu", all[i], 0);
        }
    }
    for (size_t i = 0; i < TARGETS; i++) {
        join(i);
    }
    go_on(TARGETS);
    cr_expect_eq(count_of(0), 0u);
    cr_expect_eq(count_of(1), all_count - (all_count + 2) / 3);
    cr_expect_eq(count_of(2), all_count);
}

Test(case_rounds, nobody_waits_for_a_process_that_has_ended)
{
    const pid_t process = fork();
    int state = 0, waits = 0;

    if (process == 0) {
        _exit(0); // It never joins.
    }
    case_rounds_expect(rounds, 2, process);
    join(0);
    join(1);
    cr_expect_eq(next(0, &waits), 0u);
    cr_assert_eq(waitpid(process, &state, 0), process);
    cr_expect_gt(next(1, &waits), 0u);
    cr_expect_gt(next(0, &waits), 0u);
    leave(0); // In the middle of a round.
    while (next(1, &waits) > 0) {
    }
    cr_expect_not(waits);
    cr_expect_eq(count_of(1), all_count);
}

// Cases of the first half have taken so long on the first target. How many the next round has.
static size_t round_after(uint64_t time_ns)
{
    int waits = 0;

    for (size_t i = 0; i < all_count / 2; i++) {
        write_result(names[0], all[i], time_ns);
    }
    for (size_t i = 0; i < TARGETS; i++) {
        join(i);
    }
    leave(1);
    leave(2);
    return next(0, &waits);
}

Test(case_rounds, slow_cases_make_short_rounds)
{
    cr_expect_eq(round_after(4000000000), 1u);
    go_on(1);
    cr_expect_eq(count_of(0), all_count - all_count / 2);
}

Test(case_rounds, fast_cases_make_long_rounds)
{
    const size_t left = all_count - all_count / 2;

    cr_expect_eq(round_after(1000), left < 256 ? left : 256);
}
