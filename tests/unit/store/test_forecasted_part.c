// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/forecasted.h"
#include "store/forecasted_limit.h"

TestSuite(forecasted_part, .init = open_store_begin, .fini = open_store_end);

Test(forecasted_part, each_forecast_has_rows_of_its_own)
{
    static const struct forecasted_row forecasts[] = {
        {.name = "a", .activations = "f32", .figures = ""},
        {.name = "b", .activations = "f32", .figures = ""}};
    static const struct forecasted_limit rows[] = {{"panels", "x", "o", 1, 2, "first"},
                                                   {"panels", "y", "o", 3, 4, "second"}};
    const struct forecasted_part *part = &forecasted_limit_part;
    const struct forecasted_limit *found = NULL;
    void *items = NULL;
    size_t count = 0;
    MUST(forecasted_replace(store, forecasts, 2));
    MUST(forecasted_part_write(store, part, "b", &rows[1], 1));
    MUST(forecasted_part_write(store, part, "a", rows, 2));
    MUST(forecasted_part_list(store, part, "b", arena, &items, &count));
    found = items;
    cr_assert_eq(count, 1);
    cr_assert_str_eq(found[0].sentence, "second");
    MUST(forecasted_part_list(store, part, "a", arena, &items, &count));
    found = items;
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].sentence, "first");
    cr_assert_neq(forecasted_part_write(store, part, "a", rows, 1), TAPML_OK,
                  "the first row is there");
}
