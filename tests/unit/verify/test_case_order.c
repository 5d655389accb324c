// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/case_order.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { MOST = 64 };

static void expect_order(const struct case_label *labels, size_t count, const size_t *expected)
{
    size_t order[MOST];
    cr_assert_leq(count, MOST);
    cr_assert_eq(case_order_make(labels, count, order), TAPML_OK, "%s", status_message());
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(order[i], expected[i], "at %zu: %zu, expected %zu", i, order[i], expected[i]);
    }
}

static struct case_label label(const char *instance, const char *shape_class)
{
    return (struct case_label){
        .instance = instance, .op = "tapml.linear", .shape_class = shape_class, .version = 1};
}

Test(case_order, cases_of_an_instance_are_together_in_the_order_of_the_store)
{
    const struct case_label labels[] = {label("a", "1"), label("b", "1"), label("c", "1"),
                                        label("a", "2"), label("b", "2"), label("c", "2"),
                                        label("a", "1"), label("b", "3")};
    const size_t expected[] = {0, 3, 6, 1, 4, 7, 2, 5};
    expect_order(labels, 8, expected);
}

Test(case_order, the_first_of_a_class_stays_the_first)
{
    // Alone by instance, case 2 of "a" would give the limits of class "2", which case 1 gives.
    const struct case_label labels[] = {label("a", "1"), label("b", "2"), label("a", "2"),
                                        label("a", "1")};
    const size_t expected[] = {0, 3, 1, 2};
    expect_order(labels, 4, expected);
}

Test(case_order, another_version_or_op_is_another_class)
{
    struct case_label labels[] = {label("a", "1"), label("b", "2"), label("a", "2"),
                                  label("a", "1")};
    const size_t expected[] = {0, 2, 3, 1};
    labels[2].version = 2;
    expect_order(labels, 4, expected);
    labels[2].version = 1;
    labels[2].op = "tapml.add";
    expect_order(labels, 4, expected);
}

Test(case_order, what_is_known_is_the_first_of_nothing)
{
    struct case_label labels[] = {label("a", "1"), label("b", "2"), label("a", "2"),
                                  label("c", "2")};
    const size_t expected[] = {0, 2, 1, 3};
    labels[1].is_known = 1;
    expect_order(labels, 4, expected);
}

Test(case_order, no_cases_have_an_order)
{
    expect_order(NULL, 0, NULL);
}
