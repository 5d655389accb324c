// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/loss.h"

TestSuite(loss, .init = open_store_begin, .fini = open_store_end);

Test(loss, rows_are_replaced_in_their_order)
{
    static const struct loss_row rows[] = {{"w", 0.25, 2}, {"a", 0.5, 1}};
    struct loss_row *found = NULL;
    size_t count = 0;
    MUST(loss_replace(store, rows, 2));
    MUST(loss_list(store, arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].weight, "w");
    cr_assert_eq(found[0].relative, 0.25);
    cr_assert_eq(found[1].largest, 1);
    MUST(loss_replace(store, rows, 0));
    MUST(loss_list(store, arena, &found, &count));
    cr_assert_eq(count, 0);
}
