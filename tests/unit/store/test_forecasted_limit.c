// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/forecasted.h"
#include "store/forecasted_limit.h"

TestSuite(forecasted_limit, .init = open_store_begin, .fini = open_store_end);

Test(forecasted_limit, rows_are_read_in_their_order)
{
    static const struct forecasted_row forecast = {
        .name = "a", .activations = "f32", .figures = ""};
    static const struct forecasted_limit rows[] = {
        {"refused", "z", "tapml.mul", 9, 8, "too large"},
        {"panels", "a", "tapml.add", 0, 0, ""},
    };
    const struct forecasted_part *part = &forecasted_limit_part;
    void *items = NULL;
    size_t count = 0;
    MUST(forecasted_replace(store, &forecast, 1));
    MUST(forecasted_part_write(store, part, "a", rows, 2));
    MUST(forecasted_part_list(store, part, "a", arena, &items, &count));
    const struct forecasted_limit *found = items;
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].kind, "refused");
    cr_assert_str_eq(found[0].instance, "z");
    cr_assert_str_eq(found[0].op, "tapml.mul");
    cr_assert_eq(found[0].needed, 9);
    cr_assert_eq(found[0].allowed, 8);
    cr_assert_str_eq(found[0].sentence, "too large");
    cr_assert_str_eq(found[1].kind, "panels");
    MUST(forecasted_part_list(store, part, "b", arena, &items, &count));
    cr_assert_eq(count, 0);
    cr_assert_neq(forecasted_part_write(store, part, "b", rows, 1), TAPML_OK,
                  "there is no such forecast");
}
