// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/feature.h"
#include "store/result.h"
#include "three_cases.h"

#include <math.h>

TestSuite(feature, .init = begin, .fini = end);

static void write_row(int64_t case_id, double first)
{
    struct feature_row row = {.signature = "x.op/1 decode f32"};
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        row.values[i] = first + (double)i;
    }
    row.values[FEATURE_kurtosis] = NAN;
    MUST(feature_write(store, case_id, &row));
}

Test(feature, rows_are_read_as_they_were_written_beside_their_case)
{
    const struct result_maker maker = {"plugin 1f", "cl:0", "card, 1.0", "", "0a"};
    const struct result_row result = {
        .case_id = 8, .outcome = RESULT_RAN, .reason = "", .time_ns = 77};
    struct feature_case *cases = NULL;
    size_t count = 0;
    write_row(8, 100);
    write_row(8, 200); // In the place of the first.
    MUST(result_write(store, "gpu", &result, &maker));
    execute("INSERT INTO call VALUES (1, 'b', '00000000000000010000000000000002', 3, 0, 'decode',"
            " 'x=[1]', 40, 1)");
    MUST(feature_list(store, "gpu", arena, &cases, &count));
    cr_assert_eq(count, 3);
    cr_expect_eq(cases[0].id, 7);
    cr_expect_null(cases[0].row.signature);
    cr_expect_not(cases[0].has_result);
    cr_expect_str_eq(cases[1].row.signature, "x.op/1 decode f32");
    cr_expect_eq(cases[1].row.values[FEATURE_layer], 200);
    cr_expect_eq(cases[1].row.values[FEATURE_bytes], 200 + FEATURE_bytes);
    cr_expect(isnan(cases[1].row.values[FEATURE_kurtosis]));
    cr_expect_str_eq(cases[1].op, "x.op");
    cr_expect_eq(cases[1].source_ns, 40);
    cr_expect(cases[1].has_result && cases[1].target_ns == 77);
    cr_expect_str_eq(cases[2].phase, "prefill");
    MUST(feature_list(store, "", arena, &cases, &count));
    cr_expect_not(cases[1].has_result);
}

// The table, the names and the enumeration are one list.
Test(feature, columns_have_the_names_of_the_table)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        sqlite3_stmt *statement = NULL;
        char sql[128];
        (void)snprintf(sql, sizeof(sql),
                       "SELECT cid FROM pragma_table_info('feature')"
                       " WHERE name = '%s'",
                       feature_name(i));
        cr_assert_eq(sqlite3_prepare_v2(store_connection(store), sql, -1, &statement, NULL),
                     SQLITE_OK);
        cr_assert_eq(sqlite3_step(statement), SQLITE_ROW, "%s", feature_name(i));
        cr_expect_eq(sqlite3_column_int64(statement, 0), (int64_t)i + 2, "%s", feature_name(i));
        (void)sqlite3_finalize(statement);
    }
    cr_expect_eq(number_of("SELECT count(*) FROM pragma_table_info('feature')"), FEATURE_COUNT + 2);
}
