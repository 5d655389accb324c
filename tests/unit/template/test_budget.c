// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "template/budget.h"

#include <criterion/criterion.h>
#include <string.h>

static struct budget open_budget(void)
{
    struct budget budget;
    budget_init(&budget, arena_create());
    cr_assert_not_null(budget.arena);
    return budget;
}

Test(budget, ends_after_its_steps)
{
    struct budget budget = open_budget();
    cr_assert_eq(budget_spend(&budget, BUDGET_STEPS - 1), TAPML_OK);
    cr_assert_eq(budget_spend(&budget, 2), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "steps"));
    cr_assert_eq(budget_spend(&budget, 1), TAPML_INVALID, "what is used up stays so");
    arena_destroy(budget.arena);
}

Test(budget, ends_after_its_memory)
{
    struct budget budget = open_budget();
    void *items = NULL;
    cr_assert_eq(budget_array(&budget, 0, 8, &items), TAPML_OK, "nothing is something");
    cr_assert_not_null(items);
    cr_assert_eq(budget_array(&budget, (size_t)1 << 62, 16, &items), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "memory"));
    arena_destroy(budget.arena);
}

Test(budget, grows_an_array)
{
    struct budget budget = open_budget();
    void *items = NULL;
    for (size_t i = 0; i < 100; ++i) {
        cr_assert_eq(budget_grow(&budget, &items, i, sizeof(size_t)), TAPML_OK);
        ((size_t *)items)[i] = i;
    }
    for (size_t i = 0; i < 100; ++i) {
        cr_assert_eq(((size_t *)items)[i], i);
    }
    arena_destroy(budget.arena);
}

Test(budget, ends_at_its_depth)
{
    struct budget budget = open_budget();
    for (int i = 0; i < BUDGET_DEPTH; ++i) {
        cr_assert_eq(budget_enter(&budget), TAPML_OK);
    }
    cr_assert_eq(budget_enter(&budget), TAPML_INVALID);
    budget_leave(&budget);
    cr_assert_eq(budget_enter(&budget), TAPML_OK);
    arena_destroy(budget.arena);
}
