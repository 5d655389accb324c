// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/forecasted.h"
#include "store/forecasted_range.h"

TestSuite(forecasted_range, .init = open_store_begin, .fini = open_store_end);

Test(forecasted_range, rows_are_read_in_their_order)
{
    static const struct forecasted_row forecast = {
        .name = "a", .activations = "f32", .figures = ""};
    static const struct forecasted_range rows[] = {
        {.type = "f16",
         .instance = "z",
         .op = "tapml.mul",
         .elements = 9,
         .beyond = 3,
         .below = 2,
         .zeroed = 1,
         .largest = 7e4,
         .relative = 0.5,
         .worst = 0.75},
        {.type = "bf16", .instance = "a", .op = "tapml.add"},
    };
    const struct forecasted_part *part = &forecasted_range_part;
    void *items = NULL;
    size_t count = 0;
    MUST(forecasted_replace(store, &forecast, 1));
    MUST(forecasted_part_write(store, part, "a", rows, 2));
    MUST(forecasted_part_list(store, part, "a", arena, &items, &count));
    const struct forecasted_range *found = items;
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].instance, "z");
    cr_assert_eq(found[0].elements, 9);
    cr_assert_eq(found[0].beyond, 3);
    cr_assert_eq(found[0].below, 2);
    cr_assert_eq(found[0].zeroed, 1);
    cr_assert_eq(found[0].largest, 7e4);
    cr_assert_eq(found[0].relative, 0.5);
    cr_assert_eq(found[0].worst, 0.75);
    cr_assert_str_eq(found[1].type, "bf16");
    cr_assert_str_eq(found[1].op, "tapml.add");
    MUST(forecasted_part_list(store, part, "b", arena, &items, &count));
    cr_assert_eq(count, 0);
    cr_assert_neq(forecasted_part_write(store, part, "b", rows, 1), TAPML_OK,
                  "there is no such forecast");
}
