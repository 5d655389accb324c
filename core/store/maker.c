// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/maker.h"

#include "base/assert.h"
#include "store/result.h"
#include "store/row.h"

tapml_status maker_write(struct store *store,
                         const char *target,
                         const char *op,
                         uint32_t version,
                         const struct result_maker *maker)
{
    ASSERT(target && op);
    ASSERT(maker->implementation && maker->device && maker->driver && maker->options &&
           maker->oracle);
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO maker VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing makers", &row));
    row_put_text(&row, target);
    row_put_text(&row, op);
    row_put_i64(&row, version);
    row_put_text(&row, maker->implementation);
    row_put_text(&row, maker->device);
    row_put_text(&row, maker->driver);
    row_put_text(&row, maker->options);
    row_put_text(&row, maker->oracle);
    return row_run(&row);
}

#define COUNT_RESULTS                                                                              \
    "SELECT count(*) FROM result AS r JOIN \"case\" AS c ON c.id = r.case_id"                      \
    " LEFT JOIN maker AS m ON m.target = r.target AND m.op = c.op AND m.version = c.version"       \
    " WHERE r.target = ?"
#define IS_OTHER                                                                                   \
    "(m.implementation, m.device, m.driver, m.options)"                                            \
    " <> (r.implementation, r.device, r.driver, r.options)"
#define LACKS_ERRORS                                                                               \
    "(r.outcome = 'ran' AND NOT EXISTS (SELECT 1 FROM output_error AS e"                           \
    "  WHERE e.target = r.target AND e.case_id = r.case_id AND e.class <> ''))"

tapml_status
maker_count_stale(struct store *store, const char *target, struct maker_stale *out_stale)
{
    ASSERT(target);
    struct maker_stale stale;
    TAPML_TRY(row_count(
        store, COUNT_RESULTS " AND (" LACKS_ERRORS " OR (m.op IS NOT NULL AND " IS_OTHER "))",
        target, &stale.results));
    TAPML_TRY(row_count(store,
                        COUNT_RESULTS " AND m.op IS NOT NULL AND r.oracle <> m.oracle"
                                      " AND r.outcome = 'ran' AND NOT " LACKS_ERRORS
                                      " AND NOT (" IS_OTHER ")",
                        target, &stale.limits));
    *out_stale = stale;
    return TAPML_OK;
}
