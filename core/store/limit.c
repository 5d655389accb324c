// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/limit.h"

#include "base/arena.h"
#include "base/assert.h"
#include "store/row.h"
#include "store/row_list.h"

#include <string.h>

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

static int take_limit(struct arena *arena, struct row *row, void *out_item)
{
    struct limit_row *item = out_item;
    *item = (struct limit_row){.op = arena_text(arena, row_text(row, 0)),
                               .version = (uint32_t)row_i64(row, 1),
                               .shape_class = arena_text(arena, row_text(row, 2)),
                               .param = arena_text(arena, row_text(row, 3)),
                               .oracle = arena_text(arena, row_text(row, 4)),
                               .calibration = arena_text(arena, row_text(row, 5)),
                               .ulp = row_f64(row, 6),
                               .nmse = row_f64(row, 7),
                               .row_error = row_f64(row, 8)};
    return item->op && item->shape_class && item->param && item->oracle && item->calibration;
}

tapml_status limit_list(struct store *store,
                        struct arena *arena,
                        struct limit_row **out_items,
                        size_t *out_count)
{
    void *items = NULL;
    TAPML_TRY(row_list_read(
        store,
        &(struct row_list){.sql =
                               "SELECT op, version, shape_class, param, oracle, calibration, ulp,"
                               " nmse, row_error FROM \"limit\""
                               " ORDER BY op, version, shape_class, param, oracle, calibration",
                           .item_bytes = sizeof(struct limit_row),
                           .take = take_limit},
        arena, &items, out_count));
    *out_items = items;
    return TAPML_OK;
}

// By all that a limit is looked up by, in the order of SQLite, which is that of the bytes.
static int compare_limits(const struct limit_row *a, const struct limit_row *b)
{
    int order = strcmp(a->op, b->op);
    order = order != 0 ? order : (a->version > b->version) - (a->version < b->version);
    order = order != 0 ? order : strcmp(a->shape_class, b->shape_class);
    order = order != 0 ? order : strcmp(a->param, b->param);
    return order != 0 ? order : strcmp(a->oracle, b->oracle);
}

int limit_search(const struct limit_row *items, size_t count, struct limit_row *io_row)
{
    size_t low = 0, high = count; // The first one that is not below lies in low .. high.
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_limits(&items[middle], io_row) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == count || compare_limits(&items[low], io_row) != 0) {
        return 0;
    }
    io_row->ulp = items[low].ulp;
    io_row->nmse = items[low].nmse;
    io_row->row_error = items[low].row_error;
    return 1;
}

// Limits of one oracle only grow: a host that works beside this one may have widened them.
#define WIDER(column_)                                                                             \
    column_ " = CASE WHEN \"limit\".oracle = excluded.oracle THEN max(" column_                    \
            ", excluded." column_ ") ELSE excluded." column_ " END"

static const char WRITE[] =
    "INSERT INTO \"limit\" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (op, version, shape_class, param, calibration) DO UPDATE SET " WIDER(
        "ulp") ", " WIDER("nmse") ", " WIDER("row_error") ", oracle = excluded.oracle";

tapml_status limit_write(struct store *store, const struct limit_row *limit)
{
    struct row row;
    TAPML_TRY(row_begin(store, WRITE, "writing limits", &row));
    put_output(&row, limit);
    row_put_text(&row, limit->calibration);
    row_put_f64(&row, limit->ulp);
    row_put_f64(&row, limit->nmse);
    row_put_f64(&row, limit->row_error);
    row_put_text(&row, limit->oracle);
    return row_run(&row);
}
