// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/case.h"
#include "store/label.h"
#include "three_cases.h"

TestSuite(label, .init = begin, .fini = end);

Test(label, a_case_is_named_and_found)
{
    struct carved_case item;
    int64_t id = 0;
    int has = 0;
    MUST(label_read(store, 9, arena, &item));
    cr_expect_str_eq(item.instance, "c");
    cr_expect_str_eq(item.op_name, "x.more");
    cr_expect_eq(item.op_version, 1);
    cr_expect_str_eq(item.phase, "prefill");
    cr_expect_eq(label_read(store, 10, arena, &item), TAPML_NOT_FOUND);
    item = (struct carved_case){.instance = "b", .prompt = {1, 2}, .step = 3};
    MUST(label_find(store, &item, &id, &has));
    cr_assert(has);
    cr_expect_eq(id, 8);
    item.part = 1;
    MUST(label_find(store, &item, &id, &has));
    cr_expect_not(has);
}
