// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/bundled.h"

TestSuite(bundled, .init = open_store_begin, .fini = open_store_end);

Test(bundled, rows_are_of_a_target_and_by_file)
{
    struct bundled_row *found = NULL;
    size_t count = 0;
    MUST(bundled_write(store, "gpu", &(struct bundled_row){"b", "FAULT-2", "x=[1]", "replay 2"}));
    MUST(bundled_write(store, "gpu", &(struct bundled_row){"c", "FAULT-1", "x=[2]", "replay 1"}));
    MUST(bundled_write(store, "gpu", &(struct bundled_row){"b", "FAULT-0", "x=[3]", "replay 0"}));
    MUST(bundled_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].instance, "b");
    cr_assert_str_eq(found[0].shape_class, "x=[3]");
    cr_assert_str_eq(found[0].command, "replay 0");
    MUST(bundled_forget(store, "gpu"));
    MUST(bundled_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 0);
}
