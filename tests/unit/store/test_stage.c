// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/stage.h"

TestSuite(stage, .init = open_store_begin, .fini = open_store_end);

static const struct stage_row rows[] = {{"replay", "read", 3, 4096, 1500, 900},
                                        {"replay", "device", 5, 0, 7000, 7000}};

Test(stage, rows_come_back_in_their_order)
{
    struct stage_row *found = NULL;
    size_t count = 0;
    MUST(stage_write(store, "gpu", rows, 2));
    MUST(stage_write(store, STAGE_RUN, rows, 1));
    MUST(stage_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2u);
    cr_expect_str_eq(found[0].phase, "replay");
    cr_expect_str_eq(found[0].stage, "read");
    cr_expect_eq(found[0].visits, 3u);
    cr_expect_eq(found[0].bytes, 4096u);
    cr_expect_eq(found[0].wall_ns, 1500u);
    cr_expect_eq(found[0].waiting_ns, 900u);
    cr_expect_str_eq(found[1].stage, "device");
}

Test(stage, rows_take_the_place_of_all_earlier_ones)
{
    struct stage_row *found = NULL;
    size_t count = 0;
    MUST(stage_write(store, "gpu", rows, 2));
    MUST(stage_write(store, "gpu", &rows[1], 1));
    MUST(stage_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 1u);
    cr_expect_str_eq(found[0].stage, "device");
    MUST(stage_forget(store, "gpu"));
    MUST(stage_list(store, "gpu", arena, &found, &count));
    cr_expect_eq(count, 0u);
}
