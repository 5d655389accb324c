// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "harness/short_setup.h"
#include "run/carving.h"
#include "run/case_share.h"
#include "run/run_metadata.h"
#include "run/target_jobs.h"
#include "store/first_case.h"
#include "store/result.h"
#include "store/stored_case.h"

#include <sys/wait.h>

enum { IDS_MAX = 4096 };

static struct short_setup run;
static struct case_claims *claims;
static uint8_t handed_out[IDS_MAX]; // How often, by id.
static size_t all;

static void begin(void)
{
    int64_t *ids = NULL;

    short_setup_open(&run);
    SHORT_MUST(run_metadata_settle(run.store, &run.config, &run.setup, &run.prompts));
    SHORT_MUST(carving_run(&run.config, &run.setup, run.store, &run.prompts, NULL));
    SHORT_MUST(stored_case_ids(run.store, &ids, &all));
    SHORT_MUST(case_share_claims_create(2, &claims));
    alloc_free(ids);
    cr_assert_gt(all, 20u);
}

static void end(void)
{
    case_share_claims_destroy(claims);
    short_setup_close(&run);
}

TestSuite(case_share, .init = begin, .fini = end);

static struct case_share *share_of(size_t member)
{
    struct case_share *share = NULL;

    SHORT_MUST(case_share_create(claims, member, run.store, "gpu", &share));
    return share;
}

static size_t next(struct case_share *share, int *out_waits)
{
    const struct handed_cases cases = case_share_cases(share);
    const int64_t *ids = NULL;
    size_t count = 0;

    SHORT_MUST(cases.next(cases.user, &ids, &count, out_waits));
    for (size_t i = 0; i < count; i++) {
        cr_assert(ids[i] >= 0 && ids[i] < IDS_MAX);
        handed_out[ids[i]]++;
    }
    return count;
}

static void expect_each_once(void)
{
    size_t count = 0;

    for (size_t i = 0; i < IDS_MAX; i++) {
        cr_expect_leq(handed_out[i], 1, "case %zu comes %d times", i, (int)handed_out[i]);
        count += handed_out[i];
    }
    cr_expect_eq(count, all);
}

static int is_first(int64_t id, const struct first_case *firsts, size_t count)
{
    size_t at = 0;

    while (at < count && firsts[at].id != id) {
        at++;
    }
    return at < count;
}

Test(case_share, one_member_has_all_cases_the_first_of_each_class_first)
{
    struct arena *arena = arena_create();
    struct case_share *share = share_of(0);
    const struct handed_cases cases = case_share_cases(share);
    struct first_case *firsts = NULL;
    size_t first_count = 0, seen = 0, count = 0;
    const int64_t *ids = NULL;
    int waits = 0;

    SHORT_MUST(first_case_list(run.store, arena, &firsts, &first_count));
    do {
        SHORT_MUST(cases.next(cases.user, &ids, &count, &waits));
        for (size_t i = 0; i < count; i++, seen++) {
            cr_expect_eq(is_first(ids[i], firsts, first_count), seen < first_count);
            handed_out[ids[i]]++;
        }
    } while (count > 0);
    cr_expect_not(waits);
    expect_each_once();
    case_share_destroy(share);
    arena_destroy(arena);
}

Test(case_share, two_members_have_each_case_once_and_wait_for_first_ones)
{
    struct case_share *one = share_of(0), *other = share_of(1);
    int waits = 0, has_waited = 0;
    size_t counts[2] = {next(one, &waits), 0}, taken = 0;

    // The other one goes on until it lacks what the first one has.
    while ((taken = next(other, &waits)) > 0) {
        counts[1] += taken;
    }
    has_waited = waits;
    cr_expect(has_waited, "limits of others are not there");
    do {
        taken = next(one, &waits);
        counts[0] += taken;
        const size_t more = next(other, &waits);
        counts[1] += more;
        taken += more;
    } while (taken > 0 || waits);
    cr_expect_gt(counts[0], 1u);
    cr_expect_gt(counts[1], counts[0] / 4);
    expect_each_once();
    case_share_destroy(one);
    case_share_destroy(other);
}

Test(case_share, what_a_member_had_that_has_ended_is_free)
{
    const pid_t process = fork();
    int waits = 0, state = 0;

    if (process == 0) {
        struct case_share *share = share_of(1);

        _exit(next(share, &waits) > 0 ? 0 : 1); // With claims that nobody settles.
    }
    cr_assert_eq(waitpid(process, &state, 0), process);
    cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    struct case_share *share = share_of(0);

    while (next(share, &waits) > 0) {
    }
    cr_expect_not(waits);
    expect_each_once();
    case_share_destroy(share);
}

Test(case_share, what_is_derived_for_an_op_is_one_members)
{
    enum { OPS = 40 };
    struct case_share *shares[] = {share_of(0), share_of(1)};
    int taken[2] = {0};

    for (size_t op = 0; op < OPS; op++) {
        for (size_t i = 0; i < 2; i++) {
            const size_t member = (op + i) % 2;
            const struct handed_cases cases = case_share_cases(shares[member]);

            taken[member] += cases.takes_op(cases.user, op);
            cr_expect_not(cases.takes_op(cases.user, op));
        }
    }
    cr_expect_eq(taken[0], OPS / 2);
    cr_expect_eq(taken[1], OPS / 2);

    const struct handed_cases cases = case_share_cases(shares[0]);

    cr_expect_not(cases.takes_op(cases.user, SIZE_MAX), "more ops than are counted");
    case_share_destroy(shares[0]);
    case_share_destroy(shares[1]);
}

Test(case_share, what_has_a_result_is_left_out)
{
    const struct result_maker maker = {
        .implementation = "i", .device = "d", .driver = "r", .options = "", .oracle = ""};
    struct case_share *share = share_of(0);
    int64_t *ids = NULL;
    size_t count = 0;
    int waits = 0;

    SHORT_MUST(stored_case_ids(run.store, &ids, &count));
    SHORT_MUST(result_write(run.store, "gpu",
                            &(struct result_row){.case_id = ids[count - 1],
                                                 .outcome = "unsupported",
                                                 .reason = "it lacks this op"},
                            &maker));
    while (next(share, &waits) > 0) {
    }
    cr_expect_eq(handed_out[ids[count - 1]], 0);
    handed_out[ids[count - 1]] = 1;
    expect_each_once();
    alloc_free(ids);
    case_share_destroy(share);
}
