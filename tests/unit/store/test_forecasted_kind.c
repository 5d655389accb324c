// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/forecasted.h"
#include "store/forecasted_kind.h"

#include <math.h>

TestSuite(forecasted_kind, .init = open_store_begin, .fini = open_store_end);

Test(forecasted_kind, rows_are_read_in_their_order)
{
    static const struct forecasted_row forecast = {
        .name = "a", .activations = "f32", .figures = ""};
    static const struct forecasted_kind rows[] = {
        {"prefill", "tapml.mul", 3, 1e9, 2e9, 0.5},
        {"decode", "tapml.add", 1, 2, 3, NAN},
    };
    const struct forecasted_part *part = &forecasted_kind_part;
    void *items = NULL;
    size_t count = 0;
    MUST(forecasted_replace(store, &forecast, 1));
    MUST(forecasted_part_write(store, part, "a", rows, 2));
    MUST(forecasted_part_list(store, part, "a", arena, &items, &count));
    const struct forecasted_kind *found = items;
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].phase, "prefill");
    cr_assert_str_eq(found[0].op, "tapml.mul");
    cr_assert_eq(found[0].calls, 3);
    cr_assert_eq(found[0].bytes, 1e9);
    cr_assert_eq(found[0].operations, 2e9);
    cr_assert_eq(found[0].seconds, 0.5);
    cr_assert(isnan(found[1].seconds));
    MUST(forecasted_part_list(store, part, "b", arena, &items, &count));
    cr_assert_eq(count, 0);
    cr_assert_neq(forecasted_part_write(store, part, "b", rows, 1), TAPML_OK,
                  "there is no such forecast");
}
