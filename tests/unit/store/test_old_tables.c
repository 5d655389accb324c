// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/migrate.h"
#include "store/old_tables.h"

#include <criterion/criterion.h>
#include <sqlite3.h>

Test(old_tables, every_version_whose_tables_are_not_in_the_schema_has_some)
{
    for (int64_t version = MIGRATE_VERSION_MIN; version <= OLD_TABLES_LAST; version++) {
        sqlite3 *connection = NULL;
        cr_assert_not_null(old_tables_find(version));
        cr_assert_eq(sqlite3_open(":memory:", &connection), SQLITE_OK);
        cr_expect_eq(sqlite3_exec(connection, old_tables_find(version), NULL, NULL, NULL),
                     SQLITE_OK, "%s", sqlite3_errmsg(connection));
        cr_assert_eq(sqlite3_close(connection), SQLITE_OK);
    }
    cr_expect_null(old_tables_find(MIGRATE_VERSION_MIN - 1));
    cr_expect_null(old_tables_find(OLD_TABLES_LAST + 1));
}
