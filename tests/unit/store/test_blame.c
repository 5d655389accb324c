// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/open_store.h"
#include "store/blame.h"
#include "store/instance.h"

#include <math.h>

TestSuite(blame, .init = open_store_begin, .fini = open_store_end);

static const struct blame_row alone = {.instance = "a",
                                       .kind = BLAME_ALONE,
                                       .margin = 1e5,
                                       .reason = "y[0] is 1",
                                       .evidence = BLAME_DERIVED,
                                       .case_id = 7,
                                       .source = "shape",
                                       .label = "out=33",
                                       .tried = 9,
                                       .failed = 4};
static const struct blame_row unsupported = {.instance = "z",
                                             .kind = BLAME_UNSUPPORTED,
                                             .margin = NAN,
                                             .reason = "no such op",
                                             .evidence = "",
                                             .source = "",
                                             .label = ""};

Test(blame, rows_stand_in_the_order_of_the_graph)
{
    static const struct instance_row graph[] = {{"z", "x.op", "exact"}, {"a", "x.op", "exact"}};
    struct blame_row *found = NULL;
    size_t count = 0;
    MUST(instance_replace(store, graph, 2));
    MUST(blame_write(store, "gpu", &alone));
    MUST(blame_write(store, "gpu", &unsupported));
    MUST(blame_write(store, "other", &alone));
    MUST(blame_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 2);
    cr_assert_str_eq(found[0].instance, "z");
    cr_assert(!blame_is_failure(&found[0]) && isnan(found[0].margin));
    cr_assert_eq(found[0].case_id, 0);
    cr_assert(blame_is_failure(&found[1]));
    cr_assert_str_eq(found[1].kind, BLAME_ALONE);
    cr_assert_str_eq(found[1].reason, "y[0] is 1");
    cr_assert_str_eq(found[1].evidence, BLAME_DERIVED);
    cr_assert_eq(found[1].case_id, 7);
    cr_assert_str_eq(found[1].source, "shape");
    cr_assert_str_eq(found[1].label, "out=33");
    cr_assert_eq(found[1].margin, 1e5);
    cr_assert_eq(found[1].tried, 9);
    cr_assert_eq(found[1].failed, 4);
    MUST(blame_forget(store, "gpu"));
    MUST(blame_list(store, "gpu", arena, &found, &count));
    cr_assert_eq(count, 0);
    MUST(blame_list(store, "other", arena, &found, &count));
    cr_assert_eq(count, 1);
}

Test(blame, another_word_is_no_kind)
{
    struct blame_row wrong = alone;
    wrong.kind = "nonsense";
    cr_assert_neq(blame_write(store, "gpu", &wrong), TAPML_OK);
    wrong = alone;
    wrong.evidence = "nonsense";
    cr_assert_neq(blame_write(store, "gpu", &wrong), TAPML_OK);
}
