// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/trial.h"

#include "base/assert.h"
#include "store/row.h"
#include "store/run_id.h"

#include <math.h>
#include <stdio.h>

tapml_status
trial_find(struct store *store, const char *key, struct trial_row *out_row, int *out_has)
{
    struct row row;
    int has = 0;
    ASSERT(key);
    TAPML_TRY(row_begin(store, "SELECT value, beside, time_ns FROM trial WHERE key = ?",
                        "reading a trial", &row));
    row_put_text(&row, key);
    TAPML_TRY(row_next(&row, &has));
    if (has) {
        *out_row = (struct trial_row){
            .value = row_f64(&row, 0), .beside = row_f64(&row, 1), .time_ns = row_i64(&row, 2)};
        (void)snprintf(out_row->key, sizeof(out_row->key), "%s", key);
        row_end(&row);
    }
    *out_has = has;
    return TAPML_OK;
}

tapml_status trial_write(struct store *store, const struct trial_row *row)
{
    struct row out;
    const char *run = NULL;
    ASSERT(row->key[0] != '\0' && row->name && row->measure && !isnan(row->value));
    TAPML_TRY(run_id(store, &run));
    TAPML_TRY(row_begin(store, "INSERT OR REPLACE INTO trial VALUES (?, ?, ?, ?, ?, ?, ?)",
                        "noting a trial", &out));
    row_put_text(&out, row->key);
    row_put_text(&out, row->name);
    row_put_text(&out, row->measure);
    row_put_f64(&out, row->value);
    row_put_f64(&out, row->beside);
    row_put_i64(&out, row->time_ns);
    row_put_text(&out, run);
    return row_run(&out);
}
