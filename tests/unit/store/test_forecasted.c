// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/forecasted.h"
#include "store/forecasted_kind.h"
#include "store/forecasted_limit.h"
#include "store/forecasted_range.h"
#include "store/forecasted_time.h"

TestSuite(forecasted, .init = open_store_begin, .fini = open_store_end);

Test(forecasted, rows_are_replaced_in_their_order_with_their_parts)
{
    struct forecasted_range range = {.type = "f16", .instance = "i", .op = "o"};
    struct forecasted_limit limit = {"panels", "i", "o", 1, 2, "s"};
    struct forecasted_time time = {.phase = "decode"};
    struct forecasted_kind kinds[] = {{"decode", "a", 1, 2, 3, 4}, {"decode", "b", 1, 2, 3, 4}};
    const struct forecasted_row rows[] = {{.name = "z",
                                           .activations = "f16",
                                           .figures = "[device]",
                                           .tokens = 3,
                                           .weights_bytes = 4,
                                           .states_bytes = 5,
                                           .activations_bytes = 6,
                                           .ranges = &range,
                                           .range_count = 1,
                                           .limits = &limit,
                                           .limit_count = 1,
                                           .times = &time,
                                           .time_count = 1,
                                           .kinds = kinds,
                                           .kind_count = 2},
                                          {.name = "a", .activations = "f32", .figures = ""}};
    struct forecasted_row *found = NULL;
    size_t count = 0;
    MUST(forecasted_replace(store, rows, 2));
    MUST(forecasted_replace(store, rows, 2));
    MUST(forecasted_list(store, arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].name, "z");
    cr_assert_str_eq(found[0].figures, "[device]");
    cr_assert_str_eq(found[0].activations, "f16");
    cr_assert_eq(found[0].tokens, 3);
    cr_assert_eq(found[0].weights_bytes, 4);
    cr_assert_eq(found[0].states_bytes, 5);
    cr_assert_eq(found[0].activations_bytes, 6);
    cr_assert_eq(found[0].range_count, 1);
    cr_assert_eq(found[0].limit_count, 1);
    cr_assert_eq(found[0].time_count, 1);
    cr_assert_eq(found[0].kind_count, 2);
    cr_assert_str_eq(found[0].kinds[1].op, "b");
    cr_assert_eq(found[1].kind_count, 0);
    MUST(forecasted_replace(store, rows, 0));
    MUST(forecasted_list(store, arena, &found, &count));
    cr_assert_eq(count, 0);
}

Test(forecasted, another_type_of_activations_is_refused)
{
    static const struct forecasted_row row = {.name = "a", .activations = "f31", .figures = ""};
    cr_assert_neq(forecasted_replace(store, &row, 1), TAPML_OK);
}
