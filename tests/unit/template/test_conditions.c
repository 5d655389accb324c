// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/conditions.h"

static int holds(const char *name, struct datum value, struct datum other, size_t count)
{
    struct workspace workspace;
    struct datum items[] = {value, other};
    const struct arguments arguments = {.items = items, .count = count};
    int truth = -1;
    workspace_open(&workspace);
    cr_assert_eq(conditions_apply(&workspace.budget, name, &arguments, &truth), TAPML_OK, "%s",
                 status_message());
    workspace_close(&workspace);
    return truth;
}

Test(conditions, test_one_value)
{
    cr_assert(holds("undefined", datum_undefined("x"), datum_none(), 1));
    cr_assert(holds("none", datum_none(), datum_none(), 1));
    cr_assert(holds("number", datum_bool(1), datum_none(), 1));
    cr_assert_not(holds("integer", datum_bool(1), datum_none(), 1));
    cr_assert(holds("odd", datum_integer(-3), datum_none(), 1));
    cr_assert(holds("iterable", datum_word(""), datum_none(), 1));
}

Test(conditions, test_two_values)
{
    cr_assert(holds("divisibleby", datum_integer(9), datum_integer(3), 2));
    cr_assert(holds("in", datum_word("a"), datum_word("cab"), 2));
    cr_assert(holds("ge", datum_integer(2), datum_integer(2), 2));
    cr_assert_not(holds("ne", datum_word("a"), datum_word("a"), 2));
    cr_assert_not(holds("sameas", datum_integer(1), datum_bool(1), 2));
}

Test(conditions, refuse_by_name)
{
    struct workspace workspace;
    struct datum items[] = {datum_integer(1), datum_integer(0), datum_integer(0)};
    int truth = 0;
    workspace_open(&workspace);
    cr_assert(conditions_know("defined") && conditions_know("eq"));
    cr_assert_not(conditions_know("nothing"));
    workspace_refused(conditions_apply(&workspace.budget, "nothing",
                                       &(struct arguments){.items = items, .count = 1}, &truth),
                      "'nothing'");
    workspace_refused(conditions_apply(&workspace.budget, "divisibleby",
                                       &(struct arguments){.items = items, .count = 2}, &truth),
                      "division by 0");
    workspace_refused(conditions_apply(&workspace.budget, "eq",
                                       &(struct arguments){.items = items, .count = 3}, &truth),
                      "at most 2");
    workspace_close(&workspace);
}
