// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../store/new_store.h"
#include "choose/feature_set.h"
#include "harness/cases.h"

TestSuite(feature_set, .init = make_store, .fini = remove_store);

static void add_case(const char *instance, int is_measured)
{
    struct cases_silu made;
    cases_make_silu(&made, instance, 0);
    (void)add(&made.item);
    if (is_measured) {
        MUST(feature_set_add(store, &made.item, arena));
    }
}

Test(feature_set, what_is_missing_is_measured_and_kept_if_wanted)
{
    struct feature_case *cases = NULL;
    size_t count = 0;
    add_case("layers.0/a", 1);
    add_case("layers.1/a", 0);
    cr_expect_eq(number_of("SELECT count(*) FROM feature"), 1);
    MUST(feature_set_load(store, "", 0, arena, &cases, &count));
    cr_assert_eq(count, 2);
    cr_expect_str_eq(cases[1].row.signature, cases[0].row.signature);
    cr_expect_eq(cases[1].row.values[FEATURE_layer], 1);
    cr_expect_eq(cases[1].row.values[FEATURE_rms], cases[0].row.values[FEATURE_rms]);
    cr_expect_eq(number_of("SELECT count(*) FROM feature"), 1);
    MUST(feature_set_load(store, "", 1, arena, &cases, &count));
    cr_expect_eq(number_of("SELECT count(*) FROM feature"), 2);
}

Test(feature_set, features_go_with_their_case)
{
    add_case("layers.0/a", 1);
    add_case("layers.0/a", 1); // In the place of the first.
    cr_expect_eq(number_of("SELECT count(*) FROM feature JOIN \"case\" ON id = case_id"), 1);
    execute("DELETE FROM \"case\"");
    cr_expect_eq(number_of("SELECT count(*) FROM feature"), 0);
}
