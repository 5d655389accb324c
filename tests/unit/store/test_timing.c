// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/timing.h"

TestSuite(timing, .init = open_store_begin, .fini = open_store_end);

Test(timing, rows_are_of_a_target_and_by_op)
{
    struct timing_row *found = NULL;
    size_t count = 0;
    MUST(timing_write(store, "gpu", &(struct timing_row){"y.op", 1, 2, 3}));
    MUST(timing_write(store, "gpu", &(struct timing_row){"x.op", 3, 6, 700}));
    MUST(timing_write(store, "other", &(struct timing_row){"x.op", 1, 1, 1}));
    MUST(timing_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].op, "x.op");
    cr_assert_eq(found[0].calls, 3);
    cr_assert_eq(found[0].launches, 6);
    cr_assert_eq(found[0].time_ns, 700);
    MUST(timing_forget(store, "gpu"));
    MUST(timing_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 0);
}
