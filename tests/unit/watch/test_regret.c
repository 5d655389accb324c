// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/budget.h"
#include "watch/regret.h"
#include "watched_run.h"

TestSuite(regret, .init = watched_run_begin, .fini = watched_run_end, .timeout = 110);

static const struct case_budget all = {.kind = BUDGET_ALL};

Test(regret, it_grows_with_the_time_and_with_turns)
{
    struct regret none = {0, 0}, some = {0, 0}, more = {0, 0};

    MUST(regret_add(store, "gpu", &all, 1000, &none));
    cr_expect_eq(none.regret_s, 0);
    cr_expect_eq(none.cost_s, 0, "all has a result");
    execute("UPDATE watched SET judged = 2, turns = 0, stale_s = 900 WHERE op = 'tapml.silu'");
    execute(
        "DELETE FROM result WHERE case_id IN (SELECT id FROM \"case\" WHERE op = 'tapml.silu')");
    const double rows = (double)number_of("SELECT count(*) FROM watched WHERE op = 'tapml.silu'");

    MUST(regret_add(store, "gpu", &all, 1000, &some));
    cr_expect_float_eq(some.regret_s, 100 / (2 * rows + 2), 1e-9);
    cr_expect_gt(some.cost_s, 0);
    execute("UPDATE watched SET turns = 1 WHERE op = 'tapml.silu'");
    MUST(regret_add(store, "gpu", &all, 1000, &more));
    cr_expect_float_eq(more.regret_s, 100 * (rows + 1) / (2 * rows + 2), 1e-9);
    MUST(regret_add(store, "gpu", &all, 1000, &more));
    cr_expect_float_eq(more.regret_s, 200 * (rows + 1) / (2 * rows + 2), 1e-9, "targets are added");
}

Test(regret, a_clock_that_was_set_back_is_no_regret)
{
    struct regret regret = {0, 0};

    execute("UPDATE watched SET stale_s = 900");
    MUST(regret_add(store, "gpu", &all, 800, &regret));
    cr_expect_eq(regret.regret_s, 0);
}

Test(regret, what_nobody_has_watched_does_not_wait)
{
    const struct case_budget one = {BUDGET_CASES, 1};
    struct regret regret = {0, 0}, of_one = {0, 0};

    execute("DELETE FROM watched");
    execute("DELETE FROM result");
    MUST(regret_add(store, "gpu", &all, 1000, &regret));
    cr_expect(isinf(regret.regret_s) && isfinite(regret.cost_s));
    MUST(regret_add(store, "gpu", &one, 1000, &of_one));
    cr_expect_lt(of_one.cost_s, regret.cost_s, "what is not chosen costs nothing");
}
