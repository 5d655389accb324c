// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/offloaded.h"

#include <math.h>

TestSuite(offloaded, .init = open_store_begin, .fini = open_store_end);

static struct offloaded_row sample(void)
{
    return (struct offloaded_row){.target = "gpu",
                                  .agrees = 1,
                                  .margin = NAN,
                                  .sentence = "it agrees",
                                  .unexplained = "",
                                  .plan = "* -> gpu\n",
                                  .checks = 30,
                                  .proof_runs = 2,
                                  .proof_miss = 0.01,
                                  .cost = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
}

Test(offloaded, a_row_is_read_as_it_was_written)
{
    const struct offloaded_row row = sample();
    struct offloaded_row found;
    cr_assert_eq(offloaded_find(store, "gpu", arena, &found), TAPML_NOT_FOUND);
    MUST(offloaded_write(store, &row));
    MUST(offloaded_find(store, "gpu", arena, &found));
    cr_assert_eq(found.finished_s, 0);
    cr_assert(found.agrees && isnan(found.margin));
    cr_assert_str_eq(found.sentence, "it agrees");
    cr_assert_str_eq(found.plan, "* -> gpu\n");
    cr_assert_eq(found.checks, 30);
    cr_assert_eq(found.proof_miss, 0.01);
    cr_assert_eq(memcmp(&found.cost, &row.cost, sizeof(row.cost)), 0);
}

Test(offloaded, a_target_finishes_and_is_forgotten_by_itself)
{
    struct offloaded_row row = sample();
    struct offloaded_row found;
    MUST(offloaded_write(store, &row));
    row.target = "other";
    MUST(offloaded_write(store, &row));
    MUST(offloaded_finish(store, "gpu"));
    MUST(offloaded_find(store, "gpu", arena, &found));
    cr_assert_gt(found.finished_s, 0);
    MUST(offloaded_forget(store, "gpu"));
    cr_assert_eq(offloaded_find(store, "gpu", arena, &found), TAPML_NOT_FOUND);
    MUST(offloaded_find(store, "other", arena, &found));
    cr_assert_eq(found.finished_s, 0);
}
