// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/limit.h"

#include "base/assert.h"
#include "store/row.h"

static void put_output(struct row *row, const struct limit_row *limit)
{
    ASSERT(limit->op && limit->shape_class && limit->param && limit->oracle);
    row_put_text(row, limit->op);
    row_put_i64(row, limit->version);
    row_put_text(row, limit->shape_class);
    row_put_text(row, limit->param);
}

tapml_status limit_find(struct store *store, struct limit_row *io_row, int *out_has)
{
    struct row row;
    TAPML_TRY(
        row_begin(store,
                  "SELECT ulp, nmse, row_error FROM \"limit\""
                  " WHERE op = ? AND version = ? AND shape_class = ? AND param = ? AND oracle = ?",
                  "reading limits", &row));
    put_output(&row, io_row);
    row_put_text(&row, io_row->oracle);
    TAPML_TRY(row_next(&row, out_has));
    if (*out_has) {
        io_row->ulp = row_f64(&row, 0);
        io_row->nmse = row_f64(&row, 1);
        io_row->row_error = row_f64(&row, 2);
        row_end(&row);
    }
    return TAPML_OK;
}

tapml_status limit_write(struct store *store, const struct limit_row *limit)
{
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT OR REPLACE INTO \"limit\" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing limits", &row));
    put_output(&row, limit);
    row_put_text(&row, limit->calibration);
    row_put_f64(&row, limit->ulp);
    row_put_f64(&row, limit->nmse);
    row_put_f64(&row, limit->row_error);
    row_put_text(&row, limit->oracle);
    return row_run(&row);
}
