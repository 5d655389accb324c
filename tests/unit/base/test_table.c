// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/table.h"

#include <criterion/criterion.h>
#include <stdio.h>

static tapml_status fill(struct table *table, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        char key[32];
        snprintf(key, sizeof(key), "key %zu", i);
        TAPML_TRY(table_set(table, key, i * 3));
    }
    return TAPML_OK;
}

Test(table, what_is_set_is_found)
{
    struct table table;
    table_init(&table);
    size_t value = 5;
    cr_assert_not(table_find(&table, "key 1", &value));
    cr_assert_eq(fill(&table, 10000), TAPML_OK);
    cr_assert_eq(table.count, 10000);
    for (size_t i = 0; i < 10000; ++i) {
        char key[32];
        snprintf(key, sizeof(key), "key %zu", i);
        cr_assert(table_find(&table, key, &value));
        cr_assert_eq(value, i * 3);
    }
    value = 5;
    cr_assert_not(table_find(&table, "key 10000", &value));
    cr_assert_not(table_find(&table, "", &value));
    cr_assert_eq(value, 5);
    table_release(&table);
    table_release(NULL);
    cr_assert_eq(table.count, 0);
}

Test(table, setting_again_replaces)
{
    struct table table;
    table_init(&table);
    char key[] = "a";
    cr_assert_eq(table_set(&table, key, 1), TAPML_OK);
    cr_assert_eq(table_set(&table, key, 2), TAPML_OK);
    cr_assert_eq(table_set(&table, "", 9), TAPML_OK);
    key[0] = 'b'; // The table has its own copy.
    size_t value = 0;
    cr_assert(table_find(&table, "a", &value));
    cr_assert_eq(value, 2);
    cr_assert(table_find(&table, "", &value));
    cr_assert_eq(value, 9);
    cr_assert_eq(table.count, 2);
    table_release(&table);
}

static tapml_status build(void)
{
    struct table table;
    table_init(&table);
    const tapml_status status = fill(&table, 40);
    table_release(&table);
    return status;
}

Test(table, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
