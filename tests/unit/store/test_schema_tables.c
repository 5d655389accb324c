// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "store/schema_tables.h"

#include <criterion/criterion.h>
#include <string.h>

// SQLite makes them in this order, and tables of a name are looked for.
Test(schema_tables, names_are_different_and_statements_make_them)
{
    const struct schema_table *table = NULL;
    size_t count = 0;

    for (; (table = schema_tables_at(count)) != NULL; count++) {
        cr_expect_eq(strncmp(table->table, "CREATE TABLE ", 13), 0, "%s", table->name);
        cr_expect_eq(strncmp(table->table + 13, table->name, strlen(table->name)), 0, "%s",
                     table->name);
        for (size_t i = 0; i < count; i++) {
            cr_expect_str_neq(schema_tables_at(i)->name, table->name);
        }
    }
    cr_assert_gt(count, 20u);
    cr_expect_str_eq(schema_tables_at(0)->name, "metadata");
    cr_expect_null(schema_tables_at(count + 1));
}
