// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/instance.h"

TestSuite(instance, .init = open_store_begin, .fini = open_store_end);

Test(instance, rows_are_replaced_in_the_order_of_the_graph)
{
    static const struct instance_row first[] = {{"z", "x.op", "exact"}, {"a", "x.op", "exact"}};
    static const struct instance_row second[] = {{"b", "y.op", "reduction"}};
    struct instance_row *found = NULL;
    size_t count = 0;
    MUST(instance_replace(store, first, 2));
    MUST(instance_list(store, arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].instance, "z");
    MUST(instance_replace(store, second, 1));
    MUST(instance_list(store, arena, &found, &count));
    cr_assert_eq(count, 1);
    cr_assert_str_eq(found[0].op, "y.op");
    cr_assert_str_eq(found[0].class_, "reduction");
}
